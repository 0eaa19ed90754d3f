"""Event sets: tuples that travel together, in first-in-first-out lists.

A set is a number of tuples, the sum of the times at which they entered their sources, `births`,
and the tuples that each source put in for them, `total`. CEPSim keeps a timestamp and a latency
and adds to the latency whenever the timestamp moves: timestamp - latency never changes but by
merging, which takes the mean weighted by size. Sums make that plain addition.

Lists: E queues, E wires, then links. The last list holds the sets that are free, and its tail is
their number.
"""

from functools import lru_cache

import numpy as np

from sim.engine.records import LIST, SET, Records, blank, copied
from sim.engine.state import EngineState
from sim.flow import Floats
from sim.jit import bare

NOTHING = np.uint32(0xFFFFFFFF)


def make_sets(room: int, lists: int, columns: int) -> tuple[Records, Floats, Records]:
    """Return sets, their totals (room, S), and lists; every set is free."""
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
    """Return them with as many free ones again."""
    room = len(sets)
    grown = np.concatenate([sets, blank(SET, room)])
    grown["after"][room:] = np.arange(room + 1, 2 * room + 1)
    grown["after"][-1] = lists[-1]["head"]
    lists[-1]["head"] = room
    lists[-1]["tail"] += room
    return grown, np.concatenate([totals, np.zeros_like(totals)])


@bare
def free_sets(world: EngineState) -> int:
    """Return how many sets are free."""
    count: int = world.lists[world.lists.shape[0] - 1].tail
    return count


@bare
def new_set(world: EngineState, stream: int, size: float, births: float) -> int:
    """Return a set that was free, for the caller to give totals; there must be one."""
    free = world.lists.shape[0] - 1
    i: int = world.lists[free].head
    world.lists[free].head = world.sets[i].after
    world.lists[free].tail -= 1
    world.sets[i].stream = stream
    world.sets[i].size = size
    world.sets[i].births = births
    return i


@bare
def append(world: EngineState, to: int, i: int) -> None:
    """Put a set at the end of a list."""
    world.sets[i].after = NOTHING
    last = world.lists[to].tail
    if last == NOTHING:
        world.lists[to].head = i
    else:
        world.sets[last].after = i
    world.lists[to].tail = i


@bare
def remove_first(world: EngineState, of: int) -> int:
    """Take the first set out of a list."""
    i: int = world.lists[of].head
    world.lists[of].head = world.sets[i].after
    if world.lists[of].head == NOTHING:
        world.lists[of].tail = NOTHING
    return i


@bare
def set_free(world: EngineState, i: int) -> None:
    """Put a set, in no list any more, among those that are free."""
    free = world.lists.shape[0] - 1
    world.sets[i].after = world.lists[free].head
    world.lists[free].head = i
    world.lists[free].tail += 1


@bare
def pour(world: EngineState, i: int, into: int) -> None:
    """Merge a set, in no list any more, into another."""
    world.sets[into].size += world.sets[i].size
    world.sets[into].births += world.sets[i].births
    for s in range(world.totals.shape[1]):
        world.totals[into, s] += world.totals[i, s]
    set_free(world, i)


@bare
def split(world: EngineState, i: int, share: float) -> int:
    """Return a new set with a share of another, which keeps the rest."""
    size, births = world.sets[i].size, world.sets[i].births
    part = new_set(world, world.sets[i].stream, share * size, share * births)
    world.sets[i].size = size - share * size
    world.sets[i].births = births - share * births
    for s in range(world.totals.shape[1]):
        world.totals[part, s] = share * world.totals[i, s]
        world.totals[i, s] -= world.totals[part, s]
    return part


@bare
def take(world: EngineState, of: int, amount: float, total: Floats) -> float:
    """Take tuples from the front of a list; add their totals to `total` (S,).

    Returns the sum of their births. The last set is split in proportion; asked for more than
    there is, all is taken.
    """
    births = 0.0
    i = world.lists[of].head
    while i != NOTHING:
        size = world.sets[i].size
        if size > amount:
            share = amount / size
            part = share * world.sets[i].births
            births += part
            world.sets[i].births -= part
            for s in range(total.shape[0]):
                part = share * world.totals[i, s]
                total[s] += part
                world.totals[i, s] -= part
            world.sets[i].size = size - amount
            break
        births += world.sets[i].births
        for s in range(total.shape[0]):
            total[s] += world.totals[i, s]
        amount -= size
        following = world.sets[i].after
        set_free(world, i)
        i = following
    world.lists[of].head = i
    if i == NOTHING:
        world.lists[of].tail = NOTHING
    return births
