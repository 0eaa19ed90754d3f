"""Events in a binary heap, the earliest first; those of one moment in the order of scheduling."""

from sim.jit import bare, part
from sim.tuples.state import EVENTS, SERIAL, State


@part
def schedule(state: State, at_s: float, what: int) -> None:
    """Add an event."""
    i = state.counts[EVENTS]
    state.counts[EVENTS] += 1
    serial = state.counts[SERIAL]
    state.counts[SERIAL] += 1
    while i > 0:
        above = (i - 1) >> 1
        if state.at_s[above] <= at_s:
            break
        _copy(state, above, i)
        i = above
    state.at_s[i], state.order[i], state.what[i] = at_s, serial, what


@part
def remove_first(state: State) -> int:
    """Remove the earliest event, at index 0, and return it."""
    first: int = state.what[0]
    state.counts[EVENTS] -= 1
    last = state.counts[EVENTS]
    at_s, order, what = state.at_s[last], state.order[last], state.what[last]
    i = 0
    while True:
        below = 2 * i + 1
        if below >= last:
            break
        if below + 1 < last and _is_before(state, below + 1, state.at_s[below], state.order[below]):
            below += 1
        if not _is_before(state, below, at_s, order):
            break
        _copy(state, below, i)
        i = below
    state.at_s[i], state.order[i], state.what[i] = at_s, order, what
    return first


@bare
def _is_before(state: State, i: int, at_s: float, order: int) -> bool:
    earlier: bool = state.at_s[i] < at_s
    return earlier or (state.at_s[i] == at_s and state.order[i] < order)


@bare
def _copy(state: State, i: int, to: int) -> None:
    state.at_s[to], state.order[to], state.what[to] = state.at_s[i], state.order[i], state.what[i]
