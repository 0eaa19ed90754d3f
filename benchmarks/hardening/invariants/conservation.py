"""The engine loses nothing: what went in has come out, waits, is on its way, or was dropped."""

from collections.abc import Iterator

import numpy as np

from benchmarks.hardening.invariants.tallies import furthest
from sim.engine import RunMetrics, Scene
from streamplace.util.arrays import Floats


def balances(found: RunMetrics, scene: Scene) -> Iterator[float]:
    """Yield what is missing at the end of a run, as shares of what went in.

    By stream: what was sent was taken, waits or is on its way. By operator: what was taken of
    streams, or of what a source was offered, has been processed. Behind an operator without a
    window: what is sent is what was processed, by selectivity. At sinks: what was processed has
    arrived. And all streams and sources together.
    """
    flow, end = found.simulation.flow, found.raw.end
    sent, waits = end.streams["sent"], end.streams["waiting"] + end.streams["in_flight"]
    taken, processed = end.streams["taken"], end.operators["processed"]
    yield missing(sent, taken + waits)
    offered, lost = end.sources["offered"], end.sources["dropped"] + end.sources["backlog"]
    came = np.zeros(flow.operators)
    np.add.at(came, flow.target, taken)
    came[sources_of(found)] += offered - lost
    yield missing(came, processed)
    plain = np.array([v not in scene.windows for v in flow.source.tolist()], dtype=np.bool_)
    yield missing((processed[flow.source] * flow.selectivity)[plain], sent[plain])
    arrived = np.zeros(len(flow.sinks))
    np.add.at(arrived, found.raw.sink, found.raw.arrived.sum(axis=0))
    unwindowed = np.array([v not in scene.windows for v in flow.sinks.tolist()], dtype=np.bool_)
    yield missing(processed[flow.sinks][unwindowed], arrived[unwindowed])
    into = offered.sum() + sent.sum()
    yield missing(into[None], (processed.sum() + waits.sum() + lost.sum())[None])


def missing(put: Floats, found: Floats) -> float:
    """Return the largest share of what was put in that is not found, or found and not put in."""
    return furthest((np.abs(put - found) / np.maximum(1.0, put)).tolist())


def sources_of(found: RunMetrics) -> list[int]:
    """Return the operators without inputs, as sources are listed."""
    fed = set(found.simulation.flow.target.tolist())
    return [v for v in range(found.simulation.flow.operators) if v not in fed]


def above_offered(found: RunMetrics) -> float:
    """Return by how much more arrived, from the first tick on, than what was offered makes there.

    By sink: nothing comes that was not offered, however long it waited.
    """
    flow, raw = found.simulation.flow, found.raw
    offered = np.zeros(flow.operators)
    offered[sources_of(found)] = raw.end.sources["offered"]
    for e in range(len(flow.source)):  # upstream first
        offered[flow.target[e]] += offered[flow.source[e]] * flow.selectivity[e]
    arrived = np.zeros(len(flow.sinks))
    np.add.at(arrived, raw.sink, raw.arrived.sum(axis=0))
    most = offered[flow.sinks]
    return furthest((np.maximum(0.0, arrived - most) / np.maximum(1.0, most)).tolist())
