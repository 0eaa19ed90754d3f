"""Event sets: tuples that travel together, in first-in-first-out lists.

A set has a number of tuples, the sum of the times at which they entered their sources, `births`,
and the source tuples that they stand for, `totals`. CEPSim instead stores a timestamp and a
latency, and adds to the latency whenever the timestamp moves. In CEPSim, timestamp - latency
changes only when sets are merged, to their mean weighted by size; with sums, merging is plain
addition.

Lists: E queues, E wires (the tuples of a stream that links have sent and that have not arrived
yet), links, then sources. The last list contains the free sets, and its tail is their number.
"""

from functools import lru_cache

import numpy as np

from streamplace.sim.engine.records import LIST, SET, EngineState, Records, blank, copied
from streamplace.sim.flow import Floats
from streamplace.sim.jit import bare

NOTHING = np.uint32(0xFFFFFFFF)  # no set; unsigned as indices of sets, which take a sixth less time


def make_sets(room: int, lists: int, columns: int) -> tuple[Records, Floats, Records]:
    """Return sets, their totals (room, S), and lists, with all sets free."""
    heads = np.full(2 * lists + 2, NOTHING).view(LIST)
    heads[-1] = (0, room)
    return copied(_in_a_row(room)), np.zeros((room, columns)), heads


@lru_cache(maxsize=1)
def _in_a_row(room: int) -> Records:
    sets = blank(SET, room)
    sets["after"] = np.arange(1, room + 1)
    sets["after"][-1] = NOTHING
    return sets


def more_sets(sets: Records, totals: Floats, lists: Records) -> tuple[Records, Floats]:
    """Return the sets and totals with twice the room; the new sets are free."""
    room = len(sets)
    larger = np.concatenate([sets, blank(SET, room)])
    larger["after"][room:] = np.arange(room + 1, 2 * room + 1)
    larger["after"][-1] = lists[-1]["head"]
    lists[-1]["head"] = room
    lists[-1]["tail"] += room
    return larger, np.concatenate([totals, np.zeros_like(totals)])


@bare
def free_sets(state: EngineState) -> int:
    """Return the number of free sets."""
    count: int = state.lists[state.lists.shape[0] - 1].tail
    return count


@bare
def new_set(state: EngineState, stream: int, size: float, births: float) -> int:
    """Return a free set, whose totals the caller must fill in; one must be free."""
    free = state.lists.shape[0] - 1
    i: int = state.lists[free].head
    state.lists[free].head = state.sets[i].after
    state.lists[free].tail -= 1
    state.sets[i].stream = stream
    state.sets[i].size = size
    state.sets[i].births = births
    return i


@bare
def append(state: EngineState, to: int, i: int) -> None:
    """Append a set to a list."""
    state.sets[i].after = NOTHING
    last = state.lists[to].tail
    if last == NOTHING:
        state.lists[to].head = i
    else:
        state.sets[last].after = i
    state.lists[to].tail = i


@bare
def remove_first(state: EngineState, of: int) -> int:
    """Remove the first set of a list and return it."""
    i: int = state.lists[of].head
    state.lists[of].head = state.sets[i].after
    if state.lists[of].head == NOTHING:
        state.lists[of].tail = NOTHING
    return i


@bare
def set_free(state: EngineState, i: int) -> None:
    """Add a set that is in no list to the free sets."""
    free = state.lists.shape[0] - 1
    state.sets[i].after = state.lists[free].head
    state.lists[free].head = i
    state.lists[free].tail += 1


@bare
def pour(state: EngineState, i: int, into: int) -> None:
    """Merge a set that is in no list into another set."""
    state.sets[into].size += state.sets[i].size
    state.sets[into].births += state.sets[i].births
    for s in range(state.totals.shape[1]):
        state.totals[into, s] += state.totals[i, s]
    set_free(state, i)


@bare
def split(state: EngineState, i: int, share: float) -> int:
    """Return a new set with a share of another set, which keeps the rest."""
    size, births = state.sets[i].size, state.sets[i].births
    part = new_set(state, state.sets[i].stream, share * size, share * births)
    state.sets[i].size = size - share * size
    state.sets[i].births = births - share * births
    for s in range(state.totals.shape[1]):
        state.totals[part, s] = share * state.totals[i, s]
        state.totals[i, s] -= state.totals[part, s]
    return part


@bare
def take(state: EngineState, of: int, amount: float, total: Floats) -> float:
    """Take tuples from the front of a list and add their totals to `total` (S,).

    Returns the sum of their births. The last set is split in proportion. If the list has fewer
    tuples than `amount`, all are taken.
    """
    births = 0.0
    i = state.lists[of].head
    while i != NOTHING:
        size = state.sets[i].size
        if size > amount:
            share = amount / size
            part = share * state.sets[i].births
            births += part
            state.sets[i].births -= part
            for s in range(total.shape[0]):
                part = share * state.totals[i, s]
                total[s] += part
                state.totals[i, s] -= part
            state.sets[i].size = size - amount
            break
        births += state.sets[i].births
        for s in range(total.shape[0]):
            total[s] += state.totals[i, s]
        amount -= size
        following = state.sets[i].after
        set_free(state, i)
        i = following
    state.lists[of].head = i
    if i == NOTHING:
        state.lists[of].tail = NOTHING
    return births
