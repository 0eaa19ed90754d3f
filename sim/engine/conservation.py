"""Counters of a run, and the check that no tuple is lost."""

import numpy as np

from sim.engine.event_sets import NOTHING
from sim.engine.state import EngineState
from sim.flow import Floats, Ints
from sim.jit import kernel


@kernel
def read_off(
    state: EngineState,
    operator: Ints,
    stream: Ints,
    source: Ints,
    operators: Floats,
    streams: Floats,
    sources: Floats,
) -> None:
    """Fill in one row per counter named in `sim.engine.snapshots`, in the flow's order.

    Parameters
    ----------
    operator, stream, source
        (V,), (E,) and (sources,) index of each in the state.
    operators, streams, sources
        (4, V), (4, E) and (3, sources).
    """
    for i in range(operator.shape[0]):
        at = state.operators[operator[i]]
        operators[0, i], operators[1, i], operators[2, i] = at.processed, at.busy_s, at.blocked_s
        operators[3, i] = 0.0
        if at.window >= 0:
            window = state.windows[at.window]
            operators[3, i] = window.out
            for slot in range(window.first_slot, window.first_slot + window.slots):
                operators[3, i] += state.slots[slot].tuples
    for i in range(stream.shape[0]):
        on = state.streams[stream[i]]
        streams[0, i], streams[1, i] = on.sent, on.taken
        streams[2, i], streams[3, i] = on.waiting, on.in_flight
    for i in range(source.shape[0]):
        of = state.sources[source[i]]
        sources[0, i], sources[1, i], sources[2, i] = of.offered, of.dropped, of.backlog


@kernel
def count_tuples(
    state: EngineState, target: Ints, queued: Floats, away: Floats, came: Floats
) -> None:
    """Count each stream's queued tuples and tuples in flight, and each operator's input tuples.

    Adds to `queued`, (E,), `away`, (E,), for wires and links, and `came`, (V,), for tuples from
    streams and sources.
    """
    count = state.streams.shape[0]
    for v in range(state.operators.shape[0]):
        s = state.operators[v].source
        if s >= 0:
            source = state.sources[s]
            came[v] = source.offered - source.dropped - source.backlog
    for e in range(count):
        came[target[e]] += state.streams[e].taken * state.operators[target[e]].part
    for which in range(state.first_backlog):
        i = state.lists[which].head
        while i != NOTHING:
            e = state.sets[i].stream
            if which < count:
                queued[e] += state.sets[i].size
            else:
                away[e] += state.sets[i].size
            i = state.sets[i].after


@kernel
def largest_loss(state: EngineState, queued: Floats, away: Floats, came: Floats) -> float:
    """Return the largest share of a stream's or operator's tuples that is unaccounted for.

    The result is NaN if any count is NaN.
    """
    worst = 0.0  # np.maximum propagates NaN
    for e in range(state.streams.shape[0]):
        sent, scale = state.streams[e].sent, max(1.0, state.streams[e].sent)
        found = state.streams[e].taken + queued[e] + away[e]
        worst = np.maximum(worst, abs(sent - found) / scale)
        worst = np.maximum(worst, abs(state.streams[e].waiting - queued[e]) / scale)
    for v in range(state.operators.shape[0]):
        lost = abs(came[v] - state.operators[v].processed) / max(1.0, came[v])
        worst = np.maximum(worst, lost)
    return worst
