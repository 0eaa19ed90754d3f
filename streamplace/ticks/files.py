"""Files of the engine: scenes, which a run follows, and traces, what happened in it."""

from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from streamplace.errors import FormatError, ProblemError, located, within
from streamplace.files.reading import check
from streamplace.files.schema import VERSION, Form, Name, Number, Positive, Version
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.sim.engine import Profile, RunMetrics, Scene, Speed, Window
from streamplace.util.suggest import candidates, did_you_mean

Kind = TypeVar("Kind", Profile, Window, Speed)


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


def trace_to(placement: Placement, found: RunMetrics) -> dict[str, Any]:
    """Return the time series of a run, and each sink's results, as a JSON value.

    Rates are means since the previous sample, in tuples/s; queues are in tuples at each sample. A
    utilisation of 1 is a whole device or link, whatever the target utilisation. sim/README.md has
    a table of the fields.
    """
    graph, cluster = placement.problem.graph, placement.problem.cluster
    most = placement.problem.target_utilisation
    sources, sinks = graph.sources, graph.sinks
    series, path_means = found.series, found.sink_path_mean_throughputs
    links = [int(i) for i in found.trace.link[1:]]
    uplinks = [i for i, link in enumerate(links) if link >= cluster.own_links]
    return {
        "format": "streamplace-trace",
        "version": 1,
        "tick_s": found.trace.tick_s,
        "measured_from_s": found.trace.begin.tick * found.trace.tick_s,
        "settled": found.settled,
        "steady": None if found.settled else _steady(found),
        "queued": found.queued,
        "in_flight": found.in_flight,
        "dropped": found.dropped,
        "at_s": _round(series.at_s),
        "sources": [
            {
                "operator": graph.names[v],
                "offered_rate": _round(series.offered[:, s]),
                "rate": _round(series.processed[:, v]),
                "dropped_rate": _round(series.dropped[:, s]),
                "waiting": _round(series.backlog[:, s]),
            }
            for s, v in enumerate(sources)
        ],
        "operators": [
            {
                "name": name,
                "device": placement.assignment[name],
                "rate": _round(series.processed[:, v]),
                "utilisation": _round(series.busy[:, v] * most),
                "blocked": _round(series.blocked[:, v]),
                "gathered": _round(series.gathered[:, v]),
            }
            for v, name in enumerate(graph.names)
        ],
        "streams": [
            {
                "source": stream.source,
                "target": stream.target,
                "rate": _round(series.sent[:, e]),
                "waiting": _round(series.waiting[:, e]),
                "in_flight": _round(series.in_flight[:, e]),
            }
            for e, stream in enumerate(graph.streams)
        ],
        "devices": [
            {
                "name": name,
                "utilisation": _round(series.device_utilisation[:, d] * most),
                "stalled": _round(series.device_stalled[:, d]),
            }
            for d, name in enumerate(cluster.names)
        ],
        "links": [
            dict(zip(("from", "to"), cluster.resource_ends(link), strict=True))
            | _of_link(found, i, most)
            for i, link in enumerate(links)
            if link < cluster.own_links
        ],
        **({"uplinks": [_of_uplink(placement, found, i) for i in uplinks]} if uplinks else {}),
        "sinks": [
            {
                "operator": graph.names[v],
                "rate": _round(series.processed[:, v]),
                "mean_latency_s": _round(series.mean_latency_s[:, s]),
                "path_mean_throughput": (
                    None if path_means is None else _round(series.path_mean_throughput[:, s])
                ),
                "measured": {
                    "rate": float(found.sink_rates[s]),
                    "latency_s": found.latency_s(s),
                    "path_mean_throughput": None if path_means is None else float(path_means[s]),
                },
            }
            for s, v in enumerate(sinks)
        ],
    }


def _steady(found: RunMetrics) -> dict[str, float] | None:
    steady = found.steady_run
    if steady is None:
        return None
    names = ("throughput", "relative_throughput")
    return {name: getattr(steady, name) for name in names}


def _of_uplink(placement: Placement, found: RunMetrics, i: int) -> dict[str, Any]:
    problem = placement.problem
    number = int(found.trace.link[i + 1]) - problem.cluster.own_links
    group, direction, _ = problem.cluster.limited_uplinks[number]
    return {"group": group, "direction": direction} | _of_link(found, i, problem.target_utilisation)


def _of_link(found: RunMetrics, i: int, most: float) -> dict[str, list[float | None]]:
    series = found.series
    return {
        "utilisation": _round(series.link_utilisation[:, i + 1] * most),
        "full": _round(series.link_full[:, i + 1]),
        "stalled": _round(series.link_stalled[:, i + 1]),
    }


def _round(column: NDArray[np.float64]) -> list[float | None]:
    """Return numbers rounded to nine significant digits, and None for NaN."""
    return [None if np.isnan(x) else float(f"{x:.9g}") for x in column]
