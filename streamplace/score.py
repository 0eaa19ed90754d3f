"""Score: what a placement of a problem achieves. The bridge to `sim`."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sim import bottleneck, path_average
from sim.flow import Flow
from streamplace.arrays import Floats
from streamplace.errors import GraphError, SimulationError
from streamplace.graph import StreamGraph
from streamplace.models import Model
from streamplace.placement import Placement
from streamplace.problem import Problem


@dataclass(frozen=True)
class Bottleneck:
    """The device or link of the largest utilisation, even below 1."""

    kind: str
    name: str
    utilisation: float


@dataclass(frozen=True)
class DeviceLoad:
    """Utilisation of a device at the offered rate, and how many operators it runs."""

    name: str
    utilisation: float
    operators: int


@dataclass(frozen=True)
class LinkLoad:
    """Utilisation of a link at the offered rate. Under ``nic`` one end is None."""

    source: str | None
    target: str | None
    utilisation: float

    @property
    def name(self) -> str:
        """``a->b``; under ``nic`` ``a->`` for what a sends, ``->b`` for what b receives."""
        return f"{self.source or ''}->{self.target or ''}"


@dataclass(frozen=True)
class Score:
    """What a placement achieves.

    Parameters
    ----------
    throughput
        Tuples/s at the sources that the placement keeps up with.
    relative_throughput
        The same as a share of the source rate.
    devices
        All of them.
    links
        Those that carry traffic.
    """

    throughput: float
    relative_throughput: float
    bottleneck: Bottleneck
    devices: tuple[DeviceLoad, ...]
    links: tuple[LinkLoad, ...]
    devices_used: int
    model: str

    def to_dict(self) -> dict[str, Any]:
        """Return what `simulate --json` prints."""
        fields = asdict(self)
        fields["devices"] = list(fields["devices"])
        fields["links"] = [
            {"from": link.source, "to": link.target, "utilisation": link.utilisation}
            for link in self.links
        ]
        return fields


HEAVIEST = 1e100  # tuples/s, instructions/s, bit/s: far beyond any job, far below overflow

THROUGHPUT: dict[Model, Callable[[Flow, NDArray[np.integer]], Floats]] = {
    "bottleneck": bottleneck.throughput,
    "path-average": path_average.throughput,
}

_FLOWS: WeakKeyDictionary[Problem, Flow] = WeakKeyDictionary()


def flow(problem: Problem) -> Flow:
    """Return the problem as arrays, made once a problem.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    if problem not in _FLOWS:
        _FLOWS[problem] = _make_flow(problem)
    return _FLOWS[problem]


def _make_flow(problem: Problem) -> Flow:
    graph, cluster = problem.graph, problem.cluster
    _check_loads(graph, graph.instructions, graph.stream_payload_bytes)
    result = Flow(
        source_tuples=graph.source_share * problem.source_rate,
        instructions=graph.instructions,
        source=graph.stream_source,
        target=graph.stream_target,
        selectivity=graph.selectivity,
        bits=graph.stream_payload_bytes * 8.0,
        capacity=cluster.capacity,
        cores=np.array([float(device.cores) for device in cluster.devices]),
        nic=cluster.network.kind == "nic",
        gap_s=cluster.link_column("gap_s"),
        seconds_per_bit=1e-6 / cluster.link_column("bandwidth_mbps"),
        overhead_s=cluster.link_column("overhead_s"),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        _check_loads(graph, result.operator_tuples, result.stream_tuples)
        _check_loads(graph, result.work, result.stream_bits)
    if result.nominal_sink_tuples <= 0:
        raise GraphError("streams: no tuple ever reaches a sink")
    return result


def _check_loads(graph: StreamGraph, of_operators: Floats, of_streams: Floats) -> None:
    """Raise GraphError where a load, (V,) or (E,), is too large to compute with."""
    for v in np.flatnonzero(~(of_operators <= HEAVIEST)):
        raise GraphError(f"operators[{v}]: {graph.names[v]!r} has a load that overflows")
    for e in np.flatnonzero(~(of_streams <= HEAVIEST)):
        stream = graph.streams[int(e)]
        raise GraphError(
            f"streams: {stream.source!r} -> {stream.target!r} has a load that overflows"
        )


def throughput(problem: Problem, placements: NDArray[np.integer]) -> Floats:
    """Return the throughput of K placements, (K,) tuples/s, under the problem's model.

    Parameters
    ----------
    placements
        (K, V) device indices; (V,) counts as K = 1.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    SimulationError
        If the equations of the model could not be solved.
    """
    arrays = flow(problem)
    try:
        reached = THROUGHPUT[problem.model](arrays, placements)
    except path_average.ConvergenceError as error:
        raise SimulationError(f"{problem.model}: {error}") from None
    return problem.source_rate * (reached / arrays.source_rate)  # the rates may differ by rounding


def simulate(placement: Placement) -> Score:
    """Return what a placement achieves under its problem's model.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    SimulationError
        If the equations of the model could not be solved.
    """
    problem, arrays = placement.problem, flow(placement.problem)
    cluster = problem.cluster
    achieved = float(throughput(problem, placement.devices)[0])
    on_device, on_link = bottleneck.utilisations(arrays, placement.devices)
    operators = np.bincount(placement.devices, minlength=len(on_device))
    devices = tuple(
        DeviceLoad(name, float(u), int(n))
        for name, u, n in zip(cluster.names, on_device, operators, strict=True)
    )
    links = tuple(
        LinkLoad(*cluster.link_ends(int(i)), float(on_link[i]))
        for i in np.flatnonzero(_carries(arrays, placement.devices))
    )
    worst_device = max(devices, key=lambda load: load.utilisation)
    top = Bottleneck("device", worst_device.name, worst_device.utilisation)
    if links:
        worst_link = max(links, key=lambda load: load.utilisation)
        if worst_link.utilisation > top.utilisation:
            top = Bottleneck("link", worst_link.name, worst_link.utilisation)
    used = int(np.count_nonzero(operators))
    return Score(achieved, achieved / problem.source_rate, top, devices, links, used, problem.model)


def bound(problem: Problem) -> float:
    """Return tuples/s that no placement exceeds, under either model.

    source rate * min(1, total capacity / total CPU, fastest device / largest operator)
    """
    return problem.source_rate / max(1.0, bottleneck.lowest_utilisation(flow(problem)))


def _carries(arrays: Flow, devices: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return the links that a stream with tuples on it crosses, (L,)."""
    a, b = devices[arrays.source], devices[arrays.target]
    crossing = (a != b) & (arrays.stream_tuples > 0)
    carries = np.zeros(len(arrays.gap_s), dtype=np.bool_)
    if arrays.nic:
        carries[a[crossing]] = True
        carries[arrays.devices + b[crossing]] = True
    else:
        carries[a[crossing] * arrays.devices + b[crossing]] = True
    return carries
