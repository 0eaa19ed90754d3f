"""Flows: problems as the arrays that `sim` works on."""

from hashlib import blake2b
from weakref import WeakKeyDictionary

import numpy as np

from sim.flow import Flow
from streamplace.arrays import Floats
from streamplace.errors import GraphError
from streamplace.graph import StreamGraph
from streamplace.problem import Problem

HEAVIEST = 1e100  # tuples/s, instructions/s, bit/s: far beyond any job, far below overflow

_FLOWS: WeakKeyDictionary[Problem, Flow] = WeakKeyDictionary()


def flow(problem: Problem) -> Flow:
    """Return the problem as arrays at its source rate, made once a problem.

    Of every device and link there is as much as may be used: under a target utilisation U each
    takes 1/U as long for everything, so utilisations of the flow are those of the whole, over U.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    if problem not in _FLOWS:
        _FLOWS[problem] = _make_flow(problem)
    return _FLOWS[problem]


def flows(problem: Problem) -> tuple[Flow, ...]:
    """Return the problem as arrays at each source rate that can be the worst, the highest first.

    Throughput is that of the worst: see `Problem.worst_cases`.

    Raises
    ------
    GraphError
        As `flow` does.
    """
    return tuple(flow(one) for one in problem.worst_cases)


def digest(problem: Problem) -> bytes:
    """Return a hash of the problem's arrays at all its rates, to see whether they changed."""
    found = blake2b(digest_size=16)
    for one in flows(problem):
        for column in one.columns:
            found.update(np.ascontiguousarray(column).tobytes())
        found.update(one.operator_tuples.tobytes() + one.stream_bits.tobytes())
    return found.digest()


def forget(problem: Problem) -> None:
    """Make the problem's arrays anew when they are asked for next."""
    for one in problem.worst_cases:
        _FLOWS.pop(one, None)


def _make_flow(problem: Problem) -> Flow:
    graph, cluster, most = problem.graph, problem.cluster, problem.target_utilisation
    _check_loads(graph, graph.instructions, graph.stream_payload_bytes)
    result = Flow(
        source_tuples=graph.source_share * problem.source_rate,
        instructions=graph.instructions,
        source=graph.stream_source,
        target=graph.stream_target,
        selectivity=graph.selectivity,
        bits=graph.stream_payload_bytes * 8.0,
        capacity=cluster.capacity * most,
        cores=np.array([float(device.cores) for device in cluster.devices]),
        nic=cluster.network.kind == "nic",
        gap_s=cluster.link_column("gap_s") / most,
        seconds_per_bit=1e-6 / cluster.link_column("bandwidth_mbps") / most,
        overhead_s=cluster.link_column("overhead_s") / most,
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
