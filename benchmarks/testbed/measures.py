"""What a run on the testbed tells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.testbed.scaling import Scaled
from streamplace.arrays import Floats, Ints
from streamplace.flows import flow


@dataclass(frozen=True)
class Moment:
    """Counters of the machine: CPU seconds of each device, bytes of each link."""

    at_s: float
    used_s: list[float]
    carried: list[int]


@dataclass(frozen=True)
class Measured:
    """Means over the time measured.

    Parameters
    ----------
    relative_throughput
        Tuples that arrived at the sinks, of what would if nothing were held back.
    halves
        The same of either half: how steady it was.
    device_utilisation
        (D,) CPU seconds used over those there are.
    link_utilisation
        (L,) bits over those a link could carry, 0 where it has no limit.
    work_s, network_s
        (D,) CPU seconds a second that are operators' work, and others: sending, receiving, waiting.
    crossing_s
        Tuples/s that each device sends to others, and receives, (2, D).
    round_ns
        CPU nanoseconds of a round of the hash, by device; 0 where none was done.
    overdrawn
        The largest share by which an operator used more than its work: too small a work for what
        an operator costs in itself.
    """

    relative_throughput: float
    halves: tuple[float, float]
    device_utilisation: Floats
    link_utilisation: Floats
    work_s: Floats
    network_s: Floats
    crossing_s: Floats
    round_ns: Floats
    overdrawn: float


def measured(
    scaled: Scaled,
    devices: Ints,
    placed: Sequence[Sequence[int]],
    answers: Sequence[Any],
    span_s: tuple[float, float],
    moments: Sequence[Moment],
) -> Measured:
    """Return what a run tells, from the devices' answers and the machine's counters.

    Parameters
    ----------
    placed
        The operators of each device, in the order of its answer.
    span_s
        When measuring begins and ends, in seconds from the start.
    """
    graph = scaled.problem.graph
    middle = sum(span_s) / 2
    edges = np.array([span_s[0], middle, span_s[1]])
    processed = np.zeros((3, len(graph.names)))
    work, network, rounds = np.zeros((3, len(placed)))
    overdrawn = 0.0
    length = span_s[1] - span_s[0]
    for d, (here, answer) in enumerate(zip(placed, answers, strict=True)):
        at = np.array([sample[0] for sample in answer["samples"]])
        counts = np.array([sample[1] for sample in answer["samples"]], dtype=np.float64)
        for i, v in enumerate(here):
            processed[:, v] = np.interp(edges, at, counts[:, i])
            spent = graph.instructions[v] * counts[-1, i]
            if spent:
                overdrawn = max(overdrawn, answer["operators"][i][1] / spent)
        clocks = np.array([sample[2:] for sample in answer["samples"]], dtype=np.float64)
        used, worked, done, burnt = (
            np.diff(np.interp(edges[[0, 2]], at, column))[0] for column in clocks.T
        )
        work[d] = worked / 1e9 / length
        network[d] = (used - worked) / 1e9 / length
        rounds[d] = burnt / max(done, 1.0)
    rates = np.diff(processed[[0, 2]], axis=0)[0] / length
    sent = rates[graph.stream_source] * graph.selectivity
    a, b = devices[graph.stream_source], devices[graph.stream_target]
    crossing = np.zeros((2, len(placed)))
    np.add.at(crossing[0], a[a != b], sent[a != b])
    np.add.at(crossing[1], b[a != b], sent[a != b])
    nominal = arriving(scaled)
    relative = [
        float((processed[j] - processed[i])[graph.sinks].sum() / nominal / (edges[j] - edges[i]))
        for i, j in ((0, 2), (0, 1), (1, 2))
    ]
    took = moments[1].at_s - moments[0].at_s
    used_s = np.array(moments[1].used_s) - moments[0].used_s
    bits = 8.0 * (np.array(moments[1].carried) - moments[0].carried)
    return Measured(
        relative[0],
        (relative[1], relative[2]),
        used_s / took / np.array(scaled.shares),
        bits / took / (1e6 * np.array(scaled.mbps)),
        work,
        network,
        crossing,
        rounds,
        overdrawn,
    )


def arriving(scaled: Scaled) -> float:
    """Return the tuples/s that arrive at the sinks if nothing is held back."""
    graph, arrays = scaled.problem.graph, flow(scaled.problem)
    tuples = graph.source_share * scaled.problem.source_rate
    np.add.at(tuples, graph.stream_target, arrays.stream_tuples)
    return float(tuples[graph.sinks].sum())
