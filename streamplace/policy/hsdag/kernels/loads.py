"""Placing of groups one by one, with the loads of devices so far."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.flow import Floats, Ints
from sim.jit import inner, kernel

Bools = NDArray[np.bool_]
Single = NDArray[np.float32]
LOADS = 7
"""Numbers that the policy reads of a group on a device."""


class Groups(NamedTuple):
    """G groups and what they cost on D devices."""

    order: Ints  # (G,) the groups in the order in which they are placed
    cost: Floats  # (G, D)
    allowed: Bools  # (G, D) the devices that are offered
    first: Ints  # (G + 1,) index of each group's first neighbour
    other: Ints  # (2Q,) neighbours
    message: Floats  # (2Q,) cost of what passes between the two if their devices differ


class Layers(NamedTuple):
    """The parameters of the head, with H hidden values."""

    of_group: Single  # (G, H) what the hidden layer has of each group
    of_loads: Single  # (LOADS, H)
    outward: Single  # (H,)


class Draws(NamedTuple):
    """The random numbers of a step, see `Sampler.ahead`."""

    noise: Single  # (G, D)
    explores: Bools  # (G,)
    temperature: float
    greedy: bool


@kernel
def place_groups(groups: Groups, layers: Layers, draws: Draws, chosen: Ints, read: Single) -> None:
    """Choose a device for each group, one after the other.

    Parameters
    ----------
    chosen
        (G,) devices; those that are at least 0 on entry are taken as they are.
    read
        (G, D, LOADS) set to what the policy reads of each device when it places the group, all as
        log(1 + x): the load so far, the cost of the group there, their sum, the largest load of any
        device then, the messages of the group that stay on the device, those that leave it, and
        all messages of the device then.
    """
    count, devices = groups.cost.shape
    load, sent = np.zeros(devices), np.zeros(devices)
    near = np.zeros((count, devices))  # messages of each group with groups on each device
    placed = np.full(count, -1)
    for i in range(count):
        g = groups.order[i]
        of_placed, highest = near[g].sum(), load.max()
        best, best_value = -1, -np.inf
        for d in range(devices):
            with_group, leaving = load[d] + groups.cost[g, d], of_placed - near[g, d]
            read[g, d, 0] = np.log1p(load[d])
            read[g, d, 1] = np.log1p(groups.cost[g, d])
            read[g, d, 2] = np.log1p(with_group)
            read[g, d, 3] = np.log1p(max(highest, with_group))
            read[g, d, 4] = np.log1p(near[g, d])
            read[g, d, 5] = np.log1p(max(0.0, leaving))
            read[g, d, 6] = np.log1p(max(0.0, sent[d] + leaving))
            if not groups.allowed[g, d]:
                continue
            value = draws.noise[g, d]
            if not draws.explores[g]:
                logit = _logit(layers, g, read[g, d])
                value = logit if draws.greedy else logit / draws.temperature + value
            if best < 0 or value > best_value:
                best, best_value = d, value
        if chosen[g] < 0:
            chosen[g] = best
        here = chosen[g]
        placed[g] = here
        load[here] += groups.cost[g, here]
        for j in range(groups.first[g], groups.first[g + 1]):
            other, message = groups.other[j], groups.message[j]
            near[other, here] += message
            if placed[other] >= 0 and placed[other] != here:
                sent[here] += message
                sent[placed[other]] += message


@inner
def _logit(layers: Layers, g: int, loads: Single) -> float:
    total = 0.0
    for h in range(layers.outward.shape[0]):
        value = layers.of_group[g, h]
        for k in range(LOADS):
            value += loads[k] * layers.of_loads[k, h]
        if value > 0.0:
            total += value * layers.outward[h]
    return total
