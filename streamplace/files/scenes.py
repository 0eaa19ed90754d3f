"""Scenes of the engine, read from JSON values."""

from typing import Any, TypeVar

from sim.engine import Profile, Scene, Speed, Window
from streamplace.errors import FormatError, ProblemError, located, within
from streamplace.files.reading import check
from streamplace.files.scene_schema import SceneForm
from streamplace.files.schema import Form
from streamplace.problem.problem import Problem
from streamplace.util.suggest import candidates, did_you_mean

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
