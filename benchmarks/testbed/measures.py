"""Measurements of a run on the testbed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.testbed.scaling import Scaled
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats


@dataclass(frozen=True)
class Moment:
    """Counters of D devices and L links at one moment.

    Parameters
    ----------
    at_s
        Time of the monotonic clock.
    used_s
        (D,) CPU seconds used.
    carried
        (L,) bytes carried.
    """

    at_s: float
    used_s: list[float]
    carried: list[int]


@dataclass(frozen=True)
class Measured:
    """Means over the measured time.

    Parameters
    ----------
    relative_throughput
        Tuples that arrived at the sinks, relative to those that would without backpressure.
    halves
        The same for either half of the time, which shows how steady it was.
    device_utilisation
        (D,) CPU time used, relative to the share of a core.
    link_utilisation
        (L,) bits carried, relative to the bandwidth; 0 for a link without a limit.
    work_s
        (D,) CPU seconds per second of operators' work, without sending and receiving.
    network_s
        (D,) CPU seconds per second of everything else: sending, receiving, and waiting for both.
    processed_s
        (V,) tuples/s that each operator processed.
    round_ns
        (D,) CPU nanoseconds per round of the hash; 0 for a device that did none.
    overdrawn
        Largest share by which an operator used more CPU time than its work. It is large if the work
        is smaller than the overhead of an operator.
    """

    relative_throughput: float
    halves: tuple[float, float]
    device_utilisation: Floats
    link_utilisation: Floats
    work_s: Floats
    network_s: Floats
    processed_s: Floats
    round_ns: Floats
    overdrawn: float


def measured(
    scaled: Scaled,
    placed: Sequence[Sequence[int]],
    answers: Sequence[Any],
    span_s: tuple[float, float],
    moments: Sequence[Moment],
) -> Measured:
    """Return the measurements of a run, from the devices' answers and the machine's counters.

    Parameters
    ----------
    placed
        (D,) operators of each device, in the order of its answer.
    span_s
        Start and end of the measurement, in seconds from the start of the run.
    """
    length = span_s[1] - span_s[0]
    edges = np.array([span_s[0], sum(span_s) / 2, span_s[1]])
    processed = np.zeros((3, len(scaled.problem.graph.names)))
    work, network, rounds = np.zeros((3, len(placed)))
    overdrawn = 0.0
    for d, (own, answer) in enumerate(zip(placed, answers, strict=True)):
        at, counts, clocks = _columns(answer)
        processed[:, own] = _at(edges, at, counts)
        used, worked, done, burnt = np.diff(_at(edges[[0, 2]], at, clocks), axis=0)[0]
        work[d] = worked / 1e9 / length
        network[d] = (used - worked) / 1e9 / length
        rounds[d] = burnt / max(done, 1.0)
        spent = scaled.problem.graph.instructions[own] * counts[-1]
        debts = np.array([debt for _, debt in answer["operators"]])
        overdrawn = max(overdrawn, *(debts[spent > 0] / spent[spent > 0]), 0.0)
    took = moments[1].at_s - moments[0].at_s
    used_s = np.array(moments[1].used_s) - moments[0].used_s
    bits = 8.0 * (np.array(moments[1].carried) - moments[0].carried)
    arrived = processed[:, scaled.problem.graph.sinks].sum(axis=1)
    first, second = np.diff(arrived) / (length / 2) / arriving(scaled)
    return Measured(
        float(first + second) / 2,
        (float(first), float(second)),
        used_s / took / np.array(scaled.shares),
        bits / took / (1e6 * np.array(scaled.mbps)),
        work,
        network,
        (processed[2] - processed[0]) / length,
        rounds,
        float(overdrawn),
    )


def _columns(answer: Any) -> tuple[Floats, Floats, Floats]:
    """Return the S samples of a device: times, (S,), tuples by operator, (S, V), clocks, (S, 4)."""
    samples = answer["samples"]
    at = np.array([sample[0] for sample in samples])
    counts = np.array([sample[1] for sample in samples], dtype=np.float64)
    return at, counts, np.array([sample[2:] for sample in samples], dtype=np.float64)


def _at(moments: Floats, at: Floats, columns: Floats) -> Floats:
    """Return the counters at the moments, interpolated between samples."""
    rows = [np.interp(moments, at, column) for column in columns.T]
    return np.array(rows).reshape(columns.shape[1], len(moments)).T


def arriving(scaled: Scaled) -> float:
    """Return the tuples/s that arrive at the sinks without backpressure."""
    graph, arrays = scaled.problem.graph, flow(scaled.problem)
    tuples = graph.source_share * scaled.problem.source_rate
    np.add.at(tuples, graph.stream_target, arrays.stream_tuples)
    return float(tuples[graph.sinks].sum())
