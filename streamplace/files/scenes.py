"""Flow scenes: their format and their reader."""

from typing import Any, Literal, TypeVar

from pydantic import Field

from sim.engine import Profile, Scene, Speed, Window
from streamplace.errors import FormatError, ProblemError, located, within
from streamplace.files.reading import check
from streamplace.files.schema import VERSION, Form, Name, Number, Positive, Version
from streamplace.problem.problem import Problem
from streamplace.util.suggest import candidates, did_you_mean


class ProfileForm(Form):
    """A source's offered rate over time."""

    at_s: list[Number] = Field(min_length=1, description="increasing times, in seconds")
    factor: list[Number] = Field(
        description="a multiple of the source's rate for each time, from that time on"
    )
    linear: bool = Field(False, description="interpolate linearly between the times")
    every_s: Positive | None = Field(
        None, description="period after which it repeats, in seconds; null: never"
    )


class WindowForm(Form):
    """An operator with a window: every `advance_s` it emits tuples for the last `size_s`."""

    size_s: Positive = Field(description="length in seconds, a whole multiple of advance_s")
    advance_s: Positive
    ratio: Number = Field(
        1.0,
        description="tuples emitted per tuple in the window; each stream carries this times its "
        "selectivity in the graph",
    )
    count: Number | None = Field(
        None,
        description="tuples emitted per non-empty window, instead of ratio; also times the "
        "selectivity",
    )


class SpeedForm(Form):
    """A device whose speed changes during the run."""

    device: Name
    from_s: Number
    factor: Number = Field(description="multiple of its capacity from then on; 0 stops it")


class SceneForm(Form):
    """Source rates over time, windows of operators, and slow devices in a run of the engine."""

    format: Literal["streamplace-scene"] = "streamplace-scene"
    version: Version = VERSION
    sources: dict[Name, ProfileForm] = Field({}, description="by operator")
    windows: dict[Name, WindowForm] = Field({}, description="by operator")
    speeds: list[SpeedForm] = Field([])


Kind = TypeVar("Kind", Profile, Window, Speed)


def scene_from(value: Any, problem: Problem, where: str) -> Scene:
    """Read a scene of a problem from a JSON value.

    Raises
    ------
    FormatError
        If the value is not a scene of the problem; the message names `where`, the place in it and
        the fault.
    """
    with located(where, FormatError):
        form = check(SceneForm, value, where)
        profiles, windows = {}, {}
        for name, profile in form.sources.items():
            v = _operator(problem, name, f"sources.{name}", source=True)
            profiles[v] = _made(Profile, profile, f"sources.{name}")
        for name, window in form.windows.items():
            v = _operator(problem, name, f"windows.{name}", source=False)
            if v in problem.graph.sinks:
                raise ProblemError(f"windows.{name}: {name!r} is a sink, which emits nothing")
            if problem.graph.firing == "all":
                raise ProblemError(f"windows.{name}: windows need a graph with firing 'each'")
            windows[v] = _made(Window, window, f"windows.{name}")
        speeds = []
        for i, speed in enumerate(form.speeds):
            if speed.device not in problem.cluster.index:
                message = f"speeds[{i}].device: unknown device {speed.device!r}"
                raise ProblemError(message + candidates(speed.device, problem.cluster.names))
            d = problem.cluster.index[speed.device]
            speeds.append(_made(Speed, speed, f"speeds[{i}]", device=d))
    return Scene(profiles, windows, tuple(speeds))


def _operator(problem: Problem, name: str, where: str, source: bool) -> int:
    """Return the index of an operator that must, or must not, be a source."""
    if name not in problem.graph.index:
        message = f"{where}: unknown operator {name!r}"
        raise ProblemError(message + did_you_mean(name, problem.graph.index))
    v = problem.graph.index[name]
    if (v in problem.graph.sources) != source:
        no_window = "is a source, which cannot have a window"
        reason = "has inputs, so it is not a source" if source else no_window
        raise ProblemError(f"{where}: {name!r} {reason}")
    return v


def _made(kind: type[Kind], form: Form, where: str, **known: int) -> Kind:
    values: dict[str, Any] = form.model_dump(exclude={"comment", *known})
    columns: dict[str, Any] = dict(known)
    columns |= {name: tuple(x) if isinstance(x, list) else x for name, x in values.items()}
    with within(where):
        try:
            return kind(**columns)
        except ValueError as error:
            raise ProblemError(str(error)) from None
