"""The devices that several partial placements of one problem offer to their next operator."""

import numpy as np

from sim.flow import Ints
from sim.jit import bare, kernel
from sim.schedule.rules import NOWHERE, Bools, Placed, Rules, may_run, put


def nothing_placed_in(rules: Rules, samples: int) -> Placed:
    """Return the state of S placements before the first unit; each array has a leading axis S."""
    units, (devices, resources) = len(rules.row_of), rules.room.shape
    left = np.broadcast_to(rules.room, (samples, devices, resources))
    return Placed(np.full((samples, units), NOWHERE, np.int32), left.copy())


@kernel
def offer(rules: Rules, placed: Placed, v: int, offered: Bools) -> None:
    """Fill in the devices, (S, D), that operator v may go to in each placement.

    Where constraints leave none because of the operators already placed, all devices of the
    operator's mask are offered.
    """
    for s in range(offered.shape[0]):
        _offer_in(rules, Placed(placed.device[s], placed.left[s]), v, offered[s])


@kernel
def offer_each(rules: Rules, placed: Placed, operators: Ints, offered: Bools) -> None:
    """Fill in the devices, (S, D), that another operator, (S,), may go to in each placement.

    See `offer`.
    """
    for s in range(offered.shape[0]):
        own = Placed(placed.device[s], placed.left[s])
        _offer_in(rules, own, operators[s], offered[s])


@bare
def _offer_in(rules: Rules, placed: Placed, v: int, offered: Bools) -> None:
    """Fill in the devices, (D,), that operator v may go to in one placement."""
    unit, found = rules.unit_of[v], False
    for d in range(offered.shape[0]):
        offered[d] = may_run(rules, placed, unit, d)
        found = found or offered[d]
    if not found:
        for d in range(offered.shape[0]):
            offered[d] = rules.allowed[rules.row_of[unit], d]


@kernel
def put_in(rules: Rules, placed: Placed, v: int, chosen: Ints) -> None:
    """Place operator v on a device, (S,), in each placement."""
    for s in range(chosen.shape[0]):
        put(rules, Placed(placed.device[s], placed.left[s]), rules.unit_of[v], chosen[s])


@kernel
def put_each(rules: Rules, placed: Placed, operators: Ints, chosen: Ints) -> None:
    """Place another operator, (S,), on a device, (S,), in each placement."""
    for s in range(chosen.shape[0]):
        own = Placed(placed.device[s], placed.left[s])
        put(rules, own, rules.unit_of[operators[s]], chosen[s])
