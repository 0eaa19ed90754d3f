"""Where units may be placed, for placers that place one unit after the other."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel

Bools = NDArray[np.bool_]
NOWHERE = -1  # no device


class Rules(NamedTuple):
    """The constraints of a problem: U units of operators that stay together, on D devices."""

    unit_of: Ints  # (V,) unit of each operator
    row_of: Ints  # (U,) index of each unit's mask
    allowed: Bools  # (M, D) masks of devices
    needs: Floats  # (U, R) amounts of R resources that each unit needs; the first is memory
    room: Floats  # (D, R) amounts that each device has
    first_rival: Ints  # (U + 1,) index of each unit's first rival
    rival: Ints  # units that must not share a device with the unit
    far: Bools  # whether that rival must not be on a device of the same group either
    group_of: Ints  # (D,) group of each device


class Placed(NamedTuple):
    """The units that have been placed."""

    device: Ints  # (U,) device of each unit, or -1
    left: Floats  # (D, R) amounts that are left on each device


def nothing_placed(rules: Rules) -> Placed:
    """Return the state before the first unit is placed."""
    return Placed(np.full(len(rules.row_of), NOWHERE, np.int32), rules.room.copy())


@bare
def forget_all(rules: Rules, placed: Placed) -> None:
    """Return to the state before the first unit is placed."""
    for u in range(placed.device.shape[0]):
        placed.device[u] = NOWHERE
    for d in range(rules.room.shape[0]):
        for r in range(rules.room.shape[1]):
            placed.left[d, r] = rules.room[d, r]


@bare
def may_run(rules: Rules, placed: Placed, unit: int, d: int) -> bool:
    """Return whether a unit may be placed on a device, next to the units that are placed."""
    if placed.device[unit] != NOWHERE:
        return bool(placed.device[unit] == d)
    if not rules.allowed[rules.row_of[unit], d]:
        return False
    for r in range(rules.needs.shape[1]):
        if rules.needs[unit, r] > placed.left[d, r]:
            return False
    for i in range(rules.first_rival[unit], rules.first_rival[unit + 1]):
        other = placed.device[rules.rival[i]]
        if other == d:
            return False
        if rules.far[i] and other != NOWHERE and rules.group_of[other] == rules.group_of[d]:
            return False
    return True


@bare
def next_device(
    rules: Rules, placed: Placed, alike: Ints, number: Ints, unit: int, first: int
) -> int:
    """Return the next device from `first` on that a unit may be placed on, or -1.

    Of unused devices that are alike, only the first may be used.

    Parameters
    ----------
    alike
        (D,) the device before each one that can be exchanged with it, or -1.
    number
        (D,) the number of operators or units on each device.
    """
    for d in range(first, alike.shape[0]):
        other = alike[d]
        is_spare = number[d] == 0 and other != NOWHERE and number[other] == 0
        if not is_spare and may_run(rules, placed, unit, d):
            return d
    return NOWHERE


@bare
def may_try(rules: Rules, placed: Placed, unit: int, d: int, strict: bool) -> bool:
    """Return whether a unit may be placed on a device; unless `strict`, its mask alone decides."""
    if strict:
        return may_run(rules, placed, unit, d)
    return bool(rules.allowed[rules.row_of[unit], d] and placed.device[unit] == NOWHERE)


@bare
def put(rules: Rules, placed: Placed, unit: int, d: int) -> None:
    """Place a unit on a device, unless it is placed already."""
    if placed.device[unit] == NOWHERE:
        placed.device[unit] = d
        for r in range(rules.needs.shape[1]):
            placed.left[d, r] -= rules.needs[unit, r]


@bare
def take_off(rules: Rules, placed: Placed, unit: int) -> int:
    """Take a unit off its device and return the device."""
    d = placed.device[unit]
    placed.device[unit] = NOWHERE
    for r in range(rules.needs.shape[1]):
        placed.left[d, r] += rules.needs[unit, r]
    return int(d)


@kernel
def put_all(rules: Rules, placed: Placed, devices: Ints) -> None:
    """Place all units as the operators of a placement, (V,), are."""
    for v in range(devices.shape[0]):
        put(rules, placed, rules.unit_of[v], devices[v])


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
