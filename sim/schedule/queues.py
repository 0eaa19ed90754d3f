"""What operators and messages wait for in a pass: events and queues.

Events by time are in a binary heap, and the items of each device in a pairing heap.

The pairing heaps (Fredman et al. 1986) link items to each other, so all queues together need memory
for every item once, however long one of them becomes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare

Numbers = Ints | NDArray[np.int64]
NOTHING = -1  # no operator


class Events(NamedTuple):
    """A binary heap of events, ordered by time and then by number."""

    when: Floats  # (N,) seconds
    what: NDArray[np.int64]  # (N,) the number of the event
    size: Ints  # (1,)


def no_events(capacity: int) -> Events:
    """Return an empty heap for at most `capacity` events."""
    return Events(np.empty(capacity), np.empty(capacity, np.int64), np.zeros(1, np.int32))


@bare
def insert(when: Floats, what: Numbers, head: int, tail: int, moment: float, number: int) -> None:
    """Insert an event into a list that is sorted between `head` and `tail`.

    In a short list, this is faster than a heap.
    """
    i = tail
    while i > head and (when[i - 1] > moment or (when[i - 1] == moment and what[i - 1] > number)):
        when[i], what[i] = when[i - 1], what[i - 1]
        i -= 1
    when[i], what[i] = moment, number


@bare
def push(events: Events, when: float, what: int) -> None:
    """Add an event."""
    i = events.size[0]
    events.size[0] = i + 1
    while i > 0:
        parent = (i - 1) >> 1
        above = events.when[parent]
        if above < when or (above == when and events.what[parent] < what):
            break
        events.when[i], events.what[i] = above, events.what[parent]
        i = parent
    events.when[i], events.what[i] = when, what


@bare
def pop(events: Events) -> int:
    """Remove the first event and return its number."""
    first = events.what[0]
    size = events.size[0] - 1
    events.size[0] = size
    when, what = events.when[size], events.what[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            events.when[right] < events.when[child]
            or (
                events.when[right] == events.when[child] and events.what[right] < events.what[child]
            )
        ):
            child = right
        if when < events.when[child] or (when == events.when[child] and what < events.what[child]):
            break
        events.when[i], events.what[i] = events.when[child], events.what[child]
        i = child
    events.when[i], events.what[i] = when, what
    return int(first)
