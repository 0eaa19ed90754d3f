"""Windowed operators: they gather tuples, and emit for a whole window when it closes."""

from sim.engine.state import EngineState
from sim.flow import Floats
from sim.jit import bare


@bare
def gather(world: EngineState, w: int, tuples: float, births: float, total: Floats) -> None:
    """Add tuples to the slot that is being filled."""
    slot = world.windows[w].slot
    world.slots[slot].tuples += tuples
    world.slots[slot].births += births
    for s in range(total.shape[0]):
        world.slot_totals[slot, s] += total[s]


@bare
def close_window(world: EngineState, w: int) -> None:
    """Turn the last slots into tuples to send, and begin a new slot.

    Windows overlap, source tuples count once: with the slot in which they came.
    """
    first, slots = world.windows[w].first_slot, world.windows[w].slots
    tuples, births, newest = 0.0, 0.0, world.windows[w].slot
    for slot in range(first, first + slots):
        tuples += world.slots[slot].tuples
        births += world.slots[slot].births
    if tuples > 0.0:
        out = world.windows[w].count
        if out < 0.0:
            out = world.windows[w].ratio * tuples
        world.windows[w].out = out
        world.windows[w].out_births = births * out / tuples
        for s in range(world.out_totals.shape[1]):
            world.out_totals[w, s] += world.slot_totals[newest, s]
    slot = first + (newest + 1 - first) % slots
    world.windows[w].slot = slot
    world.slots[slot].tuples = 0.0
    world.slots[slot].births = 0.0
    for s in range(world.out_totals.shape[1]):
        world.slot_totals[slot, s] = 0.0
    world.windows[w].closed += 1
    world.windows[w].due = round(world.windows[w].closed * world.windows[w].advance)
