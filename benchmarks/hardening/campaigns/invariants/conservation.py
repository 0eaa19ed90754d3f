"""Conservation of tuples in the engine: every tuple is processed, waiting, in flight or dropped."""

from collections.abc import Iterator

import numpy as np

from benchmarks.hardening.campaigns.invariants.deviations import largest_difference
from streamplace.sim.engine import RunMetrics, Scene
from streamplace.util.arrays import Floats


def balances(metrics: RunMetrics, scene: Scene) -> Iterator[float]:
    """Yield the differences of input and output at the end of a run, as fractions of the input.

    They are, in this order (the largest difference, if there are several):

    - per stream: tuples sent, against tuples taken, waiting and in flight;
    - per operator: tuples taken, from each input if it joins them, against tuples processed;
    - per stream from an operator without a window: tuples processed times selectivity, against
      tuples sent;
    - per sink without a window: tuples processed, against tuples that arrived;
    - in total: tuples offered and sent, against tuples processed, waiting, in flight and dropped;
      a tuple processed by an operator that joins its inputs was one on each of them.
    """
    flow, end = metrics.simulation.flow, metrics.trace.end
    sent, held = end.streams["sent"], end.streams["waiting"] + end.streams["in_flight"]
    taken, processed = end.streams["taken"], end.operators["processed"]
    yield missing(sent, taken + held)
    offered, lost = end.sources["offered"], end.sources["dropped"] + end.sources["backlog"]
    entered = np.zeros(flow.operators)
    np.add.at(entered, flow.target, taken)
    entered[sources_of(metrics)] += offered - lost
    used = processed * tuples_at_once(metrics)
    yield missing(entered, used)
    if flow.joins:
        yield missing(taken, processed[flow.target])
    windows = scene.windows
    without_window = np.array([v not in windows for v in flow.source.tolist()], dtype=np.bool_)
    yield missing((processed[flow.source] * flow.selectivity)[without_window], sent[without_window])
    arrived = np.zeros(len(flow.sinks))
    np.add.at(arrived, metrics.trace.sink, metrics.trace.arrived.sum(axis=0))
    without_window = np.array([v not in windows for v in flow.sinks.tolist()], dtype=np.bool_)
    yield missing(processed[flow.sinks][without_window], arrived[without_window])
    total_in = offered.sum() + sent.sum()
    yield missing(total_in[None], (used.sum() + held.sum() + lost.sum())[None])


def tuples_at_once(metrics: RunMetrics) -> Floats:
    """Return how many input tuples each operator takes for one that it processes, (V,)."""
    flow = metrics.simulation.flow
    inputs = np.bincount(flow.target, minlength=flow.operators)
    return np.maximum(inputs, 1.0) if flow.joins else np.ones(flow.operators)


def missing(sent: Floats, received: Floats) -> float:
    """Return the largest difference between input and output, as a fraction of the input."""
    return largest_difference((np.abs(sent - received) / np.maximum(1.0, sent)).tolist())


def sources_of(metrics: RunMetrics) -> list[int]:
    """Return the operators without inputs, in the order of the sources."""
    fed = set(metrics.simulation.flow.target.tolist())
    return [v for v in range(metrics.simulation.flow.operators) if v not in fed]


def above_offered(metrics: RunMetrics) -> float:
    """Return the largest relative excess of arrivals at a sink over what the sources can cause.

    Arrivals are counted from the first tick.
    """
    flow, trace = metrics.simulation.flow, metrics.trace
    offered = np.zeros(flow.operators)
    offered[sources_of(metrics)] = trace.end.sources["offered"]
    offered[np.unique(flow.target)] = np.inf if flow.joins else 0.0
    for e in range(len(flow.source)):  # upstream first
        sent = offered[flow.source[e]] * flow.selectivity[e]
        before = offered[flow.target[e]]
        offered[flow.target[e]] = min(before, sent) if flow.joins else before + sent
    arrived = np.zeros(len(flow.sinks))
    np.add.at(arrived, trace.sink, trace.arrived.sum(axis=0))
    limit = offered[flow.sinks]
    return largest_difference((np.maximum(0.0, arrived - limit) / np.maximum(1.0, limit)).tolist())
