"""The operators of a device that could start a tuple, in a binary heap.

The operator whose first waiting tuple entered its queue earliest comes first.
"""

from sim.jit import bare, part
from sim.tuples.state import State


@part
def push(state: State, d: int, v: int) -> None:
    """Add operator v, which has a waiting tuple and an idle thread, to the heap of device d."""
    first, i = state.first_on[d], state.ready_count[d]
    state.ready_count[d] += 1
    entered = state.since[state.head[v]]
    while i > 0:
        above = (i - 1) >> 1
        other = state.ready[first + above]
        if state.since[state.head[other]] < entered:
            break
        state.ready[first + i] = other
        i = above
    state.ready[first + i] = v


@part
def pop(state: State, d: int) -> int:
    """Remove the first operator of the heap of device d, which is not empty, and return it."""
    first = state.first_on[d]
    found: int = state.ready[first]
    state.ready_count[d] -= 1
    count = state.ready_count[d]
    moved = state.ready[first + count]
    entered = state.since[state.head[moved]]
    i = 0
    while True:
        below = 2 * i + 1
        if below >= count:
            break
        if below + 1 < count and _entered(state, first + below + 1) < _entered(
            state, first + below
        ):
            below += 1
        if entered < _entered(state, first + below):
            break
        state.ready[first + i] = state.ready[first + below]
        i = below
    state.ready[first + i] = moved
    return found


@bare
def _entered(state: State, i: int) -> int:
    entered: int = state.since[state.head[state.ready[i]]]
    return entered
