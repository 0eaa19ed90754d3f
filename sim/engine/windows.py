"""Windowed operators, which gather tuples and emit when a window closes."""

from sim.engine.state import EngineState
from sim.flow import Floats
from sim.jit import bare


@bare
def gather(state: EngineState, w: int, tuples: float, births: float, total: Floats) -> None:
    """Add tuples to the current slot."""
    slot = state.windows[w].slot
    state.slots[slot].tuples += tuples
    state.slots[slot].births += births
    for s in range(total.shape[0]):
        state.slot_totals[slot, s] += total[s]


@bare
def close_window(state: EngineState, w: int) -> None:
    """Turn the window's slots into tuples to send, and begin a new slot.

    Windows overlap, but source tuples count only once, with the slot in which they arrived.
    """
    first, slots = state.windows[w].first_slot, state.windows[w].slots
    tuples, births, newest = 0.0, 0.0, state.windows[w].slot
    for slot in range(first, first + slots):
        tuples += state.slots[slot].tuples
        births += state.slots[slot].births
    if tuples > 0.0:
        out = state.windows[w].count
        if out < 0.0:
            out = state.windows[w].ratio * tuples
        state.windows[w].out = out
        state.windows[w].out_births = births * out / tuples
        for s in range(state.out_totals.shape[1]):
            state.out_totals[w, s] += state.slot_totals[newest, s]
    slot = first + (newest + 1 - first) % slots
    state.windows[w].slot = slot
    state.slots[slot].tuples = 0.0
    state.slots[slot].births = 0.0
    for s in range(state.out_totals.shape[1]):
        state.slot_totals[slot, s] = 0.0
    state.windows[w].closed += 1
    state.windows[w].due = round(state.windows[w].closed * state.windows[w].advance)
