"""What a run on the testbed tells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.testbed.scaling import Scaled
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats


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
    work_s
        (D,) CPU seconds a second that are operators' work; the rest is sending and receiving.
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
    round_ns: Floats
    overdrawn: float


def measured(
    scaled: Scaled,
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
    length = span_s[1] - span_s[0]
    edges = np.array([span_s[0], sum(span_s) / 2, span_s[1]])
    processed = np.zeros((3, len(scaled.problem.graph.names)))
    work, rounds, overdrawn = np.zeros(len(placed)), np.zeros(len(placed)), 0.0
    for d, (here, answer) in enumerate(zip(placed, answers, strict=True)):
        at, counts, clocks = _columns(answer)
        processed[:, here] = _at(edges, at, counts)
        worked, done, burnt = np.diff(_at(edges[[0, 2]], at, clocks[:, 1:]), axis=0)[0]
        work[d] = worked / 1e9 / length
        rounds[d] = burnt / max(done, 1.0)
        spent = scaled.problem.graph.instructions[here] * counts[-1]
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
        rounds,
        float(overdrawn),
    )


def _columns(answer: Any) -> tuple[Floats, Floats, Floats]:
    """Return a device's samples: times (S,), tuples by operator (S, V), and its clocks (S, 4)."""
    samples = answer["samples"]
    at = np.array([sample[0] for sample in samples])
    counts = np.array([sample[1] for sample in samples], dtype=np.float64)
    return at, counts, np.array([sample[2:] for sample in samples], dtype=np.float64)


def _at(moments: Floats, at: Floats, columns: Floats) -> Floats:
    """Return what counters showed at moments, between samples by interpolation."""
    rows = [np.interp(moments, at, column) for column in columns.T]
    return np.array(rows).reshape(columns.shape[1], len(moments)).T


def arriving(scaled: Scaled) -> float:
    """Return the tuples/s that arrive at the sinks if nothing is held back."""
    graph, arrays = scaled.problem.graph, flow(scaled.problem)
    tuples = graph.source_share * scaled.problem.source_rate
    np.add.at(tuples, graph.stream_target, arrays.stream_tuples)
    return float(tuples[graph.sinks].sum())
