"""The tuples that wait in a run and between its devices, read off its state and put into it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.engine import records
from streamplace.sim.engine.event_sets import NOTHING, make_sets
from streamplace.sim.engine.links import STAGES
from streamplace.sim.engine.records import EngineState, blank
from streamplace.sim.flow import Floats

QUEUE, WIRE, LINKS = 0, 1, 2  # places of a stream's tuples; its links follow, stage by stage
PLACES = LINKS + STAGES
# Sets into which the tuples of a stream in one place are put, first to last; a guess, not tuned.
LAYERS = 32
NEGLIGIBLE = 1e-9  # tuples: rounding


class Contents(NamedTuple):
    """The tuples of E streams in each place, and S source tuples per path that they stand for."""

    tuples: Floats  # (PLACES, E)
    births: Floats  # (PLACES, E, LAYERS) mean time at which they entered their sources
    totals: Floats  # (PLACES, E, S)


def contents_of(state: EngineState) -> Contents:
    """Return the tuples of a state; all layers of a place have the same births."""
    streams = len(state.streams)
    which = _lists_of_sets(state)
    at = np.flatnonzero((which >= 0) & (which < state.first_backlog))
    which, sets = which[at], state.sets[at]
    stage = state.links["stage"][np.maximum(which - 2 * streams, 0)]
    place = np.where(which < 2 * streams, which // max(1, streams), LINKS + stage.astype(np.int64))
    key = place * streams + sets["stream"]

    def summed(column: Floats) -> Floats:
        sums = np.bincount(key, column, PLACES * streams)
        return np.asarray(sums, np.float64).reshape(PLACES, streams)

    tuples = summed(sets["size"])
    births = summed(sets["births"]) / np.maximum(tuples, NEGLIGIBLE)
    totals = [summed(column) for column in state.totals[at].T]
    return Contents(
        tuples,
        np.repeat(births[:, :, None], LAYERS, axis=2),
        np.stack(totals, axis=2) if totals else np.zeros((PLACES, streams, 0)),
    )


def with_contents(state: EngineState, contents: Contents, tick: int) -> EngineState:
    """Return a state before a tick with other tuples on its streams.

    The streams that share a link are mixed evenly in its queue. Streams count the additional tuples
    as sent. The tuples that wait at a source become one set.
    """
    streams = len(state.streams)
    place, stream = np.nonzero(contents.tuples > NEGLIGIBLE)
    tuples = contents.tuples[place, stream]
    at_link = np.zeros((PLACES, streams), np.int64)
    for stage, name in enumerate(("sends", "ups", "downs", "receives")):
        at_link[LINKS + stage] = 2 * streams + state.streams[name]
    at_link[QUEUE], at_link[WIRE] = np.arange(streams), streams + np.arange(streams)
    lists = np.repeat(at_link[place, stream], LAYERS)
    layer = np.tile(np.arange(LAYERS), len(place))
    order = np.lexsort((layer, lists))
    made = blank(records.SET, len(order))
    made["size"] = np.repeat(tuples / LAYERS, LAYERS)
    made["births"] = made["size"] * contents.births[place, stream].ravel()
    made["stream"] = np.repeat(stream, LAYERS)
    made["since"] = tick - LAYERS + layer  # links serve layer after layer
    on_wire = np.repeat(place == WIRE, LAYERS)
    delay = state.streams["delay"][made["stream"][on_wire]].astype(np.int64)
    made["since"][on_wire] = tick - 1 + delay * (layer[on_wire] + 1) // LAYERS
    totals = np.repeat(contents.totals[place, stream] / LAYERS, LAYERS, axis=0)
    state = _with_sets(state, made[order], totals[order], lists[order])
    _count(state, contents)
    return state


def _count(state: EngineState, contents: Contents) -> None:
    """Set the numbers of waiting tuples, and count the additional ones as sent."""
    before = state.streams["waiting"] + state.streams["in_flight"]
    kept = np.where(contents.tuples > NEGLIGIBLE, contents.tuples, 0.0)
    state.streams["waiting"] = state.streams["left"] = kept[QUEUE]
    state.streams["in_flight"] = kept[WIRE:].sum(axis=0)
    state.streams["sent"] += kept.sum(axis=0) - before


def _with_sets(
    state: EngineState, made: records.Records, totals: Floats, lists: NDArray[np.int64]
) -> EngineState:
    """Return a state whose lists, except for those of sources, hold new sets in their order."""
    waiting = _waiting_at_sources(state)
    made = np.concatenate([made, waiting])
    totals = np.concatenate([totals, np.zeros((len(waiting), totals.shape[1]))])
    lists = np.concatenate([lists, state.first_backlog + np.arange(len(waiting))])
    some = made["size"] > 0.0
    made, totals, lists = made[some], totals[some], lists[some]
    used, room = len(made), max(len(state.sets), 2 * len(made))
    sets, all_totals, heads = make_sets(room, len(state.lists) - 1, totals.shape[1])
    sets[:used], all_totals[:used] = made, totals
    is_last = np.append(lists[1:] != lists[:-1], True)[:used]
    sets["after"][:used] = np.where(is_last, NOTHING, np.arange(1, used + 1))
    is_first = np.roll(is_last, 1)
    heads["head"][lists[is_first]] = np.flatnonzero(is_first)
    heads["tail"][lists[is_last]] = np.flatnonzero(is_last)
    heads[-1] = (used, room - used)
    return state._replace(sets=sets, totals=all_totals, lists=heads)


def _waiting_at_sources(state: EngineState) -> records.Records:
    """Return one set for the tuples that wait at each source."""
    sources = len(state.sources)
    which = _lists_of_sets(state) - state.first_backlog
    at = np.flatnonzero((which >= 0) & (which < sources))
    made = blank(records.SET, sources)
    for name in ("size", "births"):
        made[name] = np.bincount(which[at], state.sets[name][at], sources)
    return made


def _lists_of_sets(state: EngineState) -> NDArray[np.int64]:
    """Return the list of each set, by pointer jumping (Hillis and Steele 1986).

    After step s, the first 2^s sets of every list are known, and `ahead` is 2^s sets further.
    """
    count = len(state.sets)
    ahead = np.append(np.minimum(state.sets["after"], count), count).astype(np.int64)
    which = np.full(count + 1, -1)
    heads = state.lists["head"]
    begun = np.flatnonzero(heads != NOTHING)
    which[heads[begun]] = begun
    known, reached = -1, len(begun)
    while reached > known:
        at = np.flatnonzero(which[:count] >= 0)
        known = len(at)
        which[ahead[at]] = which[at]
        which[count] = -1
        ahead = ahead[ahead]
        reached = int(np.count_nonzero(which[:count] >= 0))
    return which[:count]
