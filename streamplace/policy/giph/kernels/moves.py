"""The moves that a placement allows."""

import numpy as np
from numpy.typing import NDArray

from sim.flow import Ints
from sim.jit import kernel
from sim.schedule.rules import NOWHERE, Placed, Rules, may_run, put, take_off
from streamplace.policy.giph.kernels.gp_net import Pairs

Bools = NDArray[np.bool_]


@kernel
def move_unit(rules: Rules, placed: Placed, unit: int, device: int) -> None:
    """Move a unit to a device in the state of the constraints."""
    take_off(rules, placed, unit)
    put(rules, placed, unit, device)


@kernel
def movable(pairs: Pairs, rules: Rules, placed: Placed, pivot: Ints, last: int) -> Bools:
    """Return the pairs to which a unit may move, (N,); none of the unit that moved last."""
    may = np.zeros(pairs.operator.shape[0], np.bool_)
    for v in range(pivot.shape[0]):
        unit = rules.unit_of[v]
        if unit == last:
            continue
        home = take_off(rules, placed, unit)
        for pair in range(pairs.first[v], pairs.first[v + 1]):
            may[pair] = pair != pivot[v] and may_run(rules, placed, unit, pairs.device[pair])
        put(rules, placed, unit, home)
    return may


@kernel
def offered(pairs: Pairs, kind: Ints, devices: Ints) -> Bools:
    """Return the pairs (N,) whose device runs something, or is the first of its kind that is idle.

    Parameters
    ----------
    kind
        (D,) devices of one kind are interchangeable.
    """
    is_used = np.zeros(kind.shape[0], np.bool_)
    for v in range(devices.shape[0]):
        is_used[devices[v]] = True
    first_idle = np.full(kind.shape[0], NOWHERE, np.int32)
    for d in range(kind.shape[0] - 1, -1, -1):
        if not is_used[d]:
            first_idle[kind[d]] = d
    is_offered = np.zeros(pairs.device.shape[0], np.bool_)
    for pair in range(pairs.device.shape[0]):
        d = pairs.device[pair]
        is_offered[pair] = is_used[d] or first_idle[kind[d]] == d
    return is_offered
