"""Depth-first search for a placement within a limit, or for a proof that none exists.

Units are placed one after the other. The next unit is chosen dynamically, so that units that are
hard to place come first: those with few possible devices left that often ran out of them before
(dom/wdeg, Boussemart et al. 2004). The caller restarts the search at times, with these weights.

A partial placement is cut off by a packing bound. Assign a value to every unit. If the largest
values that fit the remaining capacity of each device add up to less than the value of the remaining
units, the units do not fit. Work itself is a weak choice of value. Work rounded to whole steps of
1/k of a device shows, for example, that no device can take a third unit of 0.4. Such values are
dual feasible functions of bin packing (Lueker 1983).

Where devices have network interfaces, a second bound looks ahead. What a device exchanges with
units that are not placed yet crosses its interface, unless they join it. The most traffic that can
join is at most that of a fractional knapsack with the room that the device has left.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.exact.partial import (
    Partial,
    highest,
    is_spare,
    may_go,
    partial,
    put,
    take_back,
)
from streamplace.sim.flow import NONE, Floats, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.links import link_s
from streamplace.sim.search.instance import Bools, Instance, least_load, work_of_unit

# Finer steps come close to work itself, which shows nothing that total CPU does not.
COARSEST, FINEST = 2, 80  # steps per device
LIGHT = 1e-300  # work that counts as none, to divide by
CERTAIN = 1e-10  # of the limit by which traffic must exceed it, above all rounding
# Numbers of steps in use, the most effective ones at the root: each costs a knapsack per device.
USED = 8
OPEN, FOUND, REFUTED = 0, 1, 2


class Packing(NamedTuple):
    """Values of units, and scratch arrays."""

    value: NDArray[np.int64]  # (FINEST + 1, U) by the number of steps
    steps: Ints  # (USED,) numbers of steps in use
    tightness: Floats  # (USED,) required value over value that fits, with nothing placed
    least: Floats  # (2 * FINEST + 1,) smallest work that has each value
    worth: NDArray[np.int64]  # (D,) largest value that fits


def packing(instance: Instance, limit: float) -> Packing:
    """Return the values of an instance's units for loads / reference up to `limit`."""
    share = least_load(instance) / limit
    value = np.floor(np.arange(FINEST + 1)[:, None] * share + 0.5)
    return Packing(
        value=np.minimum(value, 2 * FINEST + 1).astype(np.int64),
        steps=np.arange(COARSEST, COARSEST + USED, dtype=np.int32),
        tightness=np.zeros(USED),
        least=np.zeros(2 * FINEST + 1),
        worth=np.zeros(len(instance.capacity), np.int64),
    )


@bare
def choose_steps(
    instance: Instance, now: Partial, fits: Bools, limit: float, weighed: Packing
) -> None:
    """Select the numbers of steps that come closest to a proof with nothing placed."""
    tightness = weighed.tightness
    for k in range(USED):
        tightness[k] = 0.0
    for steps in range(COARSEST, FINEST + 1):
        required, fitting = _values(instance, now, 0, fits, limit, weighed, steps)
        ratio = required / max(1.0, np.float64(fitting))
        loosest = 0
        for k in range(USED):
            if tightness[k] < tightness[loosest]:
                loosest = k
        if ratio > tightness[loosest]:
            tightness[loosest] = ratio
            weighed.steps[loosest] = steps


@bare
def can_pack(
    instance: Instance, now: Partial, depth: int, fits: Bools, limit: float, weighed: Packing
) -> bool:
    """Return False if the units not placed yet cannot all go to the devices in `fits`, (U, D)."""
    for k in range(USED):
        steps = weighed.steps[k]
        required, fitting = _values(instance, now, depth, fits, limit, weighed, steps)
        if fitting < required:
            return False
    return True


@bare
def _values(
    instance: Instance,
    now: Partial,
    depth: int,
    fits: Bools,
    limit: float,
    weighed: Packing,
    steps: int,
) -> tuple[int, int]:
    """Return the value of all units not placed, and the largest value that fits the devices."""
    required, fitting = 0, 0
    for u in range(now.on.shape[0]):
        if now.on[u] < 0:
            required += weighed.value[steps, u]
    for d in range(instance.capacity.shape[0]):
        if is_spare(now, d):
            weighed.worth[d] = weighed.worth[now.identical[d]]
        else:
            room = (limit - now.load[depth, d]) * instance.capacity[d]
            weighed.worth[d] = _most_value(instance, now, fits, weighed, steps, d, room)
        fitting += weighed.worth[d]
    return required, fitting


@bare
def _most_value(
    instance: Instance, now: Partial, fits: Bools, weighed: Packing, steps: int, d: int, room: float
) -> int:
    """Return the largest value of units in `fits` whose work is at most `room`, for device d.

    Value is at most twice the least work in steps, so it is less than 2 * steps.
    """
    work, value = 0.0, 0
    for u in range(now.on.shape[0]):
        if now.on[u] < 0 and fits[u, d]:
            work += work_of_unit(instance, u, d)
            value += weighed.value[steps, u]
    # All fit, and no knapsack is needed.
    if work <= room:
        return value
    reached, top = 0, 2 * steps
    weighed.least[0] = 0.0
    for u in range(now.on.shape[0]):
        own = weighed.value[steps, u]
        if now.on[u] >= 0 or not fits[u, d] or own == 0:
            continue
        for v in range(reached + 1, min(top, reached + own) + 1):
            weighed.least[v] = np.inf
        reached = min(top, reached + own)
        work = work_of_unit(instance, u, d)
        for v in range(reached, own - 1, -1):
            weighed.least[v] = min(weighed.least[v], weighed.least[v - own] + work)
    best = 0
    for v in range(reached + 1):
        if weighed.least[v] <= room:
            best = v
    return best


@bare
def can_carry(instance: Instance, now: Partial, depth: int, fits: Bools, limit: float) -> bool:
    """Return False if traffic that cannot stay within a device exceeds what its interface takes."""
    devices = instance.capacity.shape[0]
    for d in range(devices):
        if now.crowd[d] > 0:
            room = max(0.0, (limit - now.load[depth, d]) * instance.capacity[d])
            for way in range(2):  # sent, and received
                link = d + way * devices
                spare = limit * (1.0 + CERTAIN) - now.load[depth, devices + link]
                if _least_crossing(instance, now, depth, fits, d, way, room, spare) > spare:
                    return False
    return True


@bare
def _least_crossing(
    instance: Instance,
    now: Partial,
    depth: int,
    fits: Bools,
    d: int,
    way: int,
    room: float,
    spare: float,
) -> float:
    """Return the least traffic between device d and units not placed, if it is above `spare`.

    Units join the device in the order of traffic per work, the last of them in part.
    """
    crossing = 0.0
    for u in range(now.on.shape[0]):
        if now.on[u] < 0:
            crossing += _traffic(instance, now, depth, u, d, way)
    last = np.inf
    while crossing > spare and room > 0.0:
        most, work, joining = 0.0, 0.0, 0.0
        for u in range(now.on.shape[0]):
            if now.on[u] >= 0 or not fits[u, d]:
                continue
            traffic = _traffic(instance, now, depth, u, d, way)
            own = max(work_of_unit(instance, u, d), LIGHT)
            if traffic == 0.0 or traffic / own >= last or traffic / own < most:
                continue
            if traffic / own > most:
                most, work, joining = traffic / own, 0.0, 0.0
            work += own
            joining += traffic
        if most == 0.0:
            break
        crossing -= joining * min(1.0, room / work)
        room -= work
        last = most
    return crossing


@bare
def _traffic(instance: Instance, now: Partial, depth: int, u: int, d: int, way: int) -> float:
    """Return the load of the interface of device d by its streams to unit u, or from it."""
    k, link = 2 - 2 * way, d + way * instance.capacity.shape[0]
    load: float = link_s(instance, link, now.shared[depth, u, d, k], now.shared[depth, u, d, k + 1])
    return load


class Dive(NamedTuple):
    """The state of a search."""

    now: Partial
    weighed: Packing
    hardness: Floats  # (U,) how hard a unit has been to place
    fits: Bools  # (U, D) possible devices of units not placed yet
    chosen: Ints  # (U,) the unit placed at each depth
    choices: Ints  # (U, D) possible devices of the unit at each depth, most promising first
    choice_count: Ints  # (U,) number of possible devices at each depth
    tried: Ints  # (U,) number of devices tried at each depth
    liking: Floats  # (D,) rank of a device, larger first
    depth: Ints  # (1,) number of units placed


def dive(instance: Instance, identical: Ints, limit: float, hardness: Floats) -> Dive:
    """Return the initial state of a search.

    Parameters
    ----------
    identical
        (D,) the last identical device before each device, -1 if there is none.
    limit
        Largest load / reference allowed on any device or link.
    hardness
        (U,) how hard each unit is to place; the search increases it in place as it learns.
    """
    units, devices = len(instance.work), len(instance.capacity)
    return Dive(
        now=partial(instance, identical, units),
        weighed=packing(instance, limit),
        hardness=hardness,
        fits=np.zeros((units, devices), np.bool_),
        chosen=np.zeros(units, np.int32),
        choices=np.zeros((units, devices), np.int32),
        choice_count=np.zeros(units, np.int32),
        tried=np.zeros(units, np.int32),
        liking=np.zeros(devices),
        depth=np.zeros(1, np.int32),
    )


def hardness(instance: Instance) -> Floats:
    """Return estimates of how hard units are to place, (U,): work plus traffic, as utilisation."""
    devices, units = len(instance.capacity), len(instance.work)
    links = np.arange(2 * devices) if instance.nic else np.arange(devices * devices)
    if not instance.nic and devices > 1:
        links = links[~np.eye(devices, dtype=np.bool_).ravel()]
    gap_s, seconds_per_bit = instance.gap_s[links].mean(), instance.seconds_per_bit[links].mean()
    ends = np.repeat(np.arange(units), np.diff(instance.first_end))
    traffic = instance.tuples * gap_s + instance.bits * seconds_per_bit
    hard: Floats = instance.work / instance.capacity.mean() + np.bincount(ends, traffic, units)
    return hard


def start_again(search: Dive) -> None:
    """Remove all units from the placement; the learned hardness is kept."""
    search.now.on[:] = -1
    search.now.rivals[:] = 0
    search.now.crowd[:] = 0
    search.depth[0] = 0


@kernel
def refute(instance: Instance, search: Dive, limit: float, nodes: int) -> int:
    """Continue a search for a number of nodes.

    Returns
    -------
    int
        `FOUND`: `search.now.on` is a placement within the limit. `REFUTED`: no such placement
        exists, up to rounding. `OPEN`: more nodes are needed.
    """
    now, units = search.now, instance.work.shape[0]
    depth = search.depth[0]
    for _ in range(nodes):
        if depth == units:
            return FOUND
        if not _branches(instance, search, depth, limit):
            depth -= 1
            while depth >= 0:
                take_back(instance, now, search.chosen[depth])
                if search.tried[depth] < search.choice_count[depth]:
                    break
                depth -= 1
            if depth < 0:
                return REFUTED
        put(instance, now, depth, search.chosen[depth], search.choices[depth, search.tried[depth]])
        search.tried[depth] += 1
        depth += 1
    search.depth[0] = depth
    return OPEN


@bare
def _branches(instance: Instance, search: Dive, depth: int, limit: float) -> bool:
    """Choose the next unit and the order of its devices; return False at a dead end."""
    now, devices = search.now, instance.capacity.shape[0]
    chosen, most, fewest = -1, -1.0, 0
    for u in range(now.on.shape[0]):
        if now.on[u] >= 0:
            continue
        count = 0
        for d in range(devices):
            fits = (
                may_go(instance, now, depth, u, d) and highest(instance, now, depth, u, d) <= limit
            )
            search.fits[u, d] = fits
            if fits:
                count += 1
        if count == 0:
            # Failures are weights of dom/wdeg: units that often fit nowhere come earlier.
            search.hardness[u] += 1.0
            return False
        # With one device left there is no choice, so that placing it now costs no branch.
        urgency = np.inf if count == 1 else search.hardness[u] / count
        if urgency > most:
            chosen, most, fewest = u, urgency, count
    if depth == 0:
        choose_steps(instance, now, search.fits, limit, search.weighed)
    # With nothing placed, no device has traffic, and shared messages are no sums of streams.
    looks_ahead = depth > 0 and instance.nic and instance.multicast == NONE
    if looks_ahead and not can_carry(instance, now, depth, search.fits, limit):
        return False
    # Where a unit has one device left, it is placed first, and the bound follows with more known.
    if (depth == 0 or fewest > 1) and not can_pack(
        instance, now, depth, search.fits, limit, search.weighed
    ):
        return False
    search.chosen[depth], search.choice_count[depth], search.tried[depth] = chosen, fewest, 0
    _rank(instance, search, depth, chosen)
    return True


@bare
def _rank(instance: Instance, search: Dive, depth: int, u: int) -> None:
    """List the possible devices of unit u: most shared traffic first, then least loaded."""
    now, count = search.now, 0
    for d in range(instance.capacity.shape[0]):
        if not search.fits[u, d]:
            continue
        common = now.shared[depth, u, d, 1] + now.shared[depth, u, d, 3]
        search.liking[d] = common if common > 0.0 else -now.load[depth, d]
        at = count
        while at > 0 and search.liking[search.choices[depth, at - 1]] < search.liking[d]:
            search.choices[depth, at] = search.choices[depth, at - 1]
            at -= 1
        search.choices[depth, at] = d
        count += 1
