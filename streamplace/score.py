"""Score: what a placement of a problem achieves. The bridge to `sim`."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from math import inf
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sim import bottleneck, path_average
from sim.bounds import least_utilisation
from sim.crossings import links_crossed
from sim.engine import Measures
from sim.flow import Flow
from streamplace import runs
from streamplace.arrays import Floats
from streamplace.errors import SimulationError
from streamplace.flows import flow
from streamplace.models import Model
from streamplace.placement import Placement
from streamplace.problem import Problem
from streamplace.shown import Rounded, Shown, number, quoted


@dataclass(frozen=True, repr=False)
class Bottleneck(Rounded):
    """The device or link of the largest utilisation, even below 1."""

    kind: str
    name: str
    utilisation: float


@dataclass(frozen=True, repr=False)
class DeviceLoad(Rounded):
    """Utilisation of a device at the offered rate, and how many operators it runs."""

    name: str
    utilisation: float
    operators: int


@dataclass(frozen=True, repr=False)
class LinkLoad(Rounded):
    """Utilisation of a link at the offered rate. Under ``nic`` one end is None."""

    source: str | None
    target: str | None
    utilisation: float

    @property
    def name(self) -> str:
        """``a->b``; under ``nic`` ``a->`` for what a sends, ``->b`` for what b receives."""
        return f"{self.source or ''}->{self.target or ''}"


@dataclass(frozen=True, repr=False)
class Score(Shown):
    """What a placement achieves.

    Parameters
    ----------
    source_rate
        Offered tuples/s; where a problem has several, those at which relative throughput is lowest.
    throughput
        Tuples/s at the sources that the placement keeps up with.
    relative_throughput
        The same as a share of the source rate.
    devices
        All of them.
    links
        Those that carry traffic.
    """

    source_rate: float
    throughput: float
    relative_throughput: float
    bottleneck: Bottleneck
    devices: tuple[DeviceLoad, ...]
    links: tuple[LinkLoad, ...]
    devices_used: int
    model: str

    def to_dict(self) -> dict[str, Any]:
        """Return what `simulate --json` prints."""
        told = asdict(self)
        del told["source_rate"]
        told["devices"] = list(told["devices"])
        told["links"] = [
            {"from": link.source, "to": link.target, "utilisation": link.utilisation}
            for link in self.links
        ]
        return told

    def __repr__(self) -> str:
        top, used = self.bottleneck, self.devices_used
        limit = f"bottleneck {top.kind} {quoted(top.name)} at {top.utilisation:.1%}"
        where = f"{used} of {len(self.devices)} devices used"
        return f"<{type(self).__name__}: {self.reached}, {limit}, {where} ({self.model} model)>"

    @property
    def reached(self) -> str:
        """Throughput in words."""
        rates = f"{number(self.throughput)} of {number(self.source_rate)} tuples/s"
        return f"{rates} ({self.relative_throughput:.1%})"


@dataclass(frozen=True, repr=False)
class EngineScore(Score):
    """What a placement achieved in a run of the engine; utilisations are shares of the time.

    Relative throughput is of what was offered while measured.

    Parameters
    ----------
    latency_s
        Mean, p50 and p99 of the seconds from a source to a sink; None where nothing arrived. They
        count from when a source takes a tuple, as in CEPSim: how long it waited before, because
        its device or backpressure held the source up, is not in them.
    path_mean_throughput
        Source tuples/s at the sinks, a mean over the paths to them, as CEPSim has it; None where
        there are more than 16 sources.
    queued, in_flight, dropped
        Tuples that wait at the end, are between devices then, and that sources have dropped.
    queue_growth
        Tuples/s by which what waits between operators grew while measured.
    settled
        Whether throughput and queues, and so latency, had stopped changing; see `Measures`.
    tick_s
        Seconds a tick: as told, or less.
    """

    latency_s: dict[str, float] | None
    path_mean_throughput: float | None
    queued: float
    in_flight: float
    dropped: float
    queue_growth: float
    settled: bool
    tick_s: float


_LEAST: WeakKeyDictionary[Problem, float] = WeakKeyDictionary()
THROUGHPUT: dict[Model, Callable[[Flow, NDArray[np.integer]], Floats]] = {
    "bottleneck": bottleneck.throughput,
    "path-average": path_average.throughput,
}


def throughput(problem: Problem, placements: NDArray[np.integer]) -> Floats:
    """Return the throughput of K placements, (K,) tuples/s, under the problem's model.

    Where the problem has several source rates: the lowest relative throughput that a placement has
    at any of them, times the highest.

    Parameters
    ----------
    placements
        (K, V) device indices; (V,) counts as K = 1.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    SimulationError
        If the equations of the model could not be solved, or the engine did not finish.
    """
    cases = problem.worst_cases
    if len(cases) == 1:
        return _throughput(problem, placements)
    relative = np.array([_throughput(one, placements) / one.source_rate for one in cases])
    worst: Floats = relative.min(axis=0)
    return problem.source_rate * worst


def _throughput(problem: Problem, placements: NDArray[np.integer]) -> Floats:
    """Return the throughput of K placements, (K,), at the source rate alone."""
    if problem.model == "engine":
        return runs.throughput(problem, placements)
    arrays = flow(problem)
    try:
        reached = THROUGHPUT[problem.model](arrays, placements)
    except path_average.ConvergenceError as error:
        raise SimulationError(f"{problem.model}: {error}") from None
    return problem.source_rate * (reached / arrays.source_rate)  # the rates may differ by rounding


def simulate(placement: Placement) -> Score:
    """Return what a placement achieves under its problem's model, the engine as it is by default.

    Where the problem has several source rates: what it achieves at the worst, of equally bad ones
    the highest.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    SimulationError
        If the equations of the model could not be solved, or the engine did not finish.
    """
    if placement.problem.model == "engine":
        return measured(*runs.worst_run(placement))
    placed = at_worst_rate(placement)
    achieved = float(_throughput(placed.problem, placed.devices)[0])
    return _score(placed, achieved, *_utilisations(placed))


def at_worst_rate(placement: Placement) -> Placement:
    """Return a placement with its problem at the source rate where it does worst, alone.

    Of equally bad ones that is the highest. Errors are those of `throughput`.
    """
    cases = placement.problem.worst_cases
    if len(cases) == 1:
        return placement
    relative = [_throughput(one, placement.devices)[0] / one.source_rate for one in cases]
    return Placement(cases[runs.worst_of(relative)], placement.devices)


def busiest(placement: Placement) -> Bottleneck:
    """Return the bottleneck of a placement by a closed form; errors are those of `throughput`."""
    placed = at_worst_rate(placement)
    return _busiest(placed.problem, *_utilisations(placed))


def _utilisations(placement: Placement) -> tuple[Floats, Floats]:
    """Return utilisations at the source rate, (D,) and (L,), of the problem's flow."""
    return bottleneck.utilisations(flow(placement.problem), placement.devices)


def measured(placement: Placement, found: Measures) -> EngineScore:
    """Return what a placement achieved in a run at its problem's source rate."""
    plain = _score(placement, found.throughput, found.device_utilisation, found.link_utilisation)
    told = {field.name: getattr(plain, field.name) for field in fields(plain)}
    return EngineScore(
        **told | {"relative_throughput": found.relative_throughput},
        latency_s=found.latency_s(),
        path_mean_throughput=found.path_mean_throughput,
        queued=found.queued,
        in_flight=found.in_flight,
        dropped=found.dropped,
        queue_growth=found.queue_growth,
        settled=found.settled,
        tick_s=found.raw.tick_s,
    )


def _score(placement: Placement, achieved: float, on_device: Floats, on_link: Floats) -> Score:
    """Return a score from a throughput and utilisations of the problem's flow, (D,) and (L,)."""
    problem = placement.problem
    cluster, most = problem.cluster, problem.target_utilisation
    operators = np.bincount(placement.devices, minlength=len(on_device))
    devices = tuple(
        DeviceLoad(name, float(u * most), int(n))
        for name, u, n in zip(cluster.names, on_device, operators, strict=True)
    )
    links = tuple(
        LinkLoad(*cluster.link_ends(int(i)), float(on_link[i] * most))
        for i in np.flatnonzero(_carries(flow(problem), placement.devices))
    )
    top = _busiest(problem, on_device, on_link)
    used = int(np.count_nonzero(operators))
    rate = problem.source_rate
    return Score(rate, achieved, achieved / rate, top, devices, links, used, problem.model)


def _busiest(problem: Problem, on_device: Floats, on_link: Floats) -> Bottleneck:
    """Return the bottleneck by utilisations of the problem's flow, (D,) and (L,)."""
    cluster, most = problem.cluster, problem.target_utilisation
    device, link = int(on_device.argmax()), int(on_link.argmax())
    if on_link[link] > on_device[device]:
        loaded = LinkLoad(*cluster.link_ends(link), float(on_link[link] * most))
        return Bottleneck("link", loaded.name, loaded.utilisation)
    return Bottleneck("device", cluster.names[device], float(on_device[device] * most))


def bound(problem: Problem) -> float:
    """Return tuples/s that no placement exceeds, under either closed form: of `throughput`.

    Total CPU, the largest units, crowds of them, and under ``bottleneck`` streams too heavy for any
    link; see `sim.bounds`. Of each device and link there is as much as may be used.
    """
    return problem.source_rate / max(1.0, _least(problem))


def ceiling(problem: Problem) -> float:
    """Return tuples/s that no placement exceeds however many are offered: `bound` without its rate.

    Infinite where nothing is ever used. At any source rate the bound is the lower of the two.
    """
    least = _least(problem)
    return problem.source_rate / least if least else inf


def _least(problem: Problem) -> float:
    """Return what utilisation no placement stays below, at the problem's source rate."""
    if problem not in _LEAST:
        _LEAST[problem] = least_utilisation(
            flow(problem), problem.feasibility.unit_of, links_count=problem.model == "bottleneck"
        )
    return _LEAST[problem]


def _carries(arrays: Flow, devices: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return the links that a stream with tuples on it crosses, (L,)."""
    carries = np.zeros(len(arrays.gap_s), dtype=np.bool_)
    for link in links_crossed(arrays, devices):
        carries[link[(link >= 0) & (arrays.stream_tuples > 0)]] = True
    return carries
