"""Connected parts of a graph that grow from one operator."""

from typing import NamedTuple

import numpy as np

from sim.flow import Floats, Ints
from sim.jit import bare, kernel
from sim.schedule.queues import Events, pop, push
from sim.schedule.rules import Bools


class Neighbours(NamedTuple):
    """The operators at the other ends of each operator's streams."""

    first: Ints  # (V + 1,) index of each operator's first entry
    operator: Ints  # (2 E,) the other operator
    seconds: Floats  # (2 E,) mean time of the message on the stream between them


def neighbours_of(operators: int, source: Ints, target: Ints, seconds: Floats) -> Neighbours:
    """Return the neighbours of V operators.

    Parameters
    ----------
    source, target, seconds
        (E,) ends of streams, and the time of the message on each.
    """
    one = np.concatenate([source, target])
    order = np.argsort(one, kind="stable")
    return Neighbours(
        np.searchsorted(one[order], np.arange(operators + 1)).astype(np.int32),
        np.concatenate([target, source])[order].astype(np.int32),
        np.concatenate([seconds, seconds])[order],
    )


@kernel
def grow(
    neighbours: Neighbours,
    start: int,
    size: int,
    keys: Floats,
    devices: Ints,
    queue: Events,
    taken: Bools,
) -> None:
    """Take operators until there are `size` of them, the one with the lowest key first.

    Parameters
    ----------
    keys
        (2 E,) key of each neighbour, when it is reached over this stream.
    devices
        (V,) devices; operators on another device than the first are left out. Empty: none are.
    queue
        A heap for at least 2 E + 1 events.
    taken
        (V,) receives the operators.
    """
    _clear(queue, taken)
    push(queue, -np.inf, start)
    count = 0
    while queue.size[0] > 0 and count < size:
        v = pop(queue)
        if taken[v]:
            continue
        taken[v] = True
        count += 1
        for i in range(neighbours.first[v], neighbours.first[v + 1]):
            other = neighbours.operator[i]
            elsewhere = devices.shape[0] > 0 and devices[other] != devices[start]
            if not taken[other] and not elsewhere:
                push(queue, keys[i], other)


@bare
def _clear(queue: Events, taken: Bools) -> None:
    queue.size[0] = 0
    for v in range(taken.shape[0]):
        taken[v] = False
