"""Depth-first search for a placement within a limit, or for the proof that there is none.

Units are placed one after the other. Which one is next is chosen anew every time: one with few
devices left that has often had none (dom/wdeg, Boussemart et al. 2004), so that what is hard to
place is placed first. Whoever calls starts again now and then, with what was learned.
"""

from typing import NamedTuple

import numpy as np

from sim.exact.packing import Packing, can_pack, choose_steps, packing
from sim.exact.partial import Partial, highest, may_go, partial, put, take_back
from sim.flow import Floats, Ints
from sim.jit import bare, kernel
from sim.search.instance import Bools, Instance

OPEN, FOUND, REFUTED = 0, 1, 2


class Dive(NamedTuple):
    """Where a search is."""

    now: Partial
    weighed: Packing
    hardness: Floats  # (U,) how hard a unit has been to place
    fits: Bools  # (U, D) where units not placed yet can go
    chosen: Ints  # (U,) the unit placed at each depth
    choices: Ints  # (U, D) devices that it may go to, by depth, the likeliest first
    choice_count: Ints  # (U,) how many
    tried: Ints  # (U,) how many were taken
    liking: Floats  # (D,) how likely a device is
    depth: Ints  # (1,) how many units are placed


def dive(instance: Instance, identical: Ints, limit: float, hardness: Floats) -> Dive:
    """Return a search that is about to start.

    Parameters
    ----------
    identical
        (D,) the last device before it that is alike, -1 if there is none.
    limit
        Load / reference that no device and no link may exceed.
    hardness
        (U,) how hard units are to place; the search raises it where it learns so.
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


def start_again(search: Dive) -> None:
    """Take all units back; what was learned stays."""
    search.now.on[:] = -1
    search.now.rivals[:] = 0
    search.now.crowd[:] = 0
    search.depth[0] = 0


@kernel
def refute(instance: Instance, search: Dive, limit: float, nodes: int) -> int:
    """Go on with a search for so many nodes.

    Returns
    -------
    `FOUND`: `search.now.on` is a placement within the limit. `REFUTED`: there is none, up to
    rounding. `OPEN`: more nodes are needed.
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
    """Choose the next unit and the order of its devices; False if some unit can go nowhere."""
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
            search.hardness[u] += 1.0
            return False
        urgency = np.inf if count == 1 else search.hardness[u] / count
        if urgency > most:
            chosen, most, fewest = u, urgency, count
    if depth == 0:
        choose_steps(instance, now, search.fits, limit, search.weighed)
    if (depth == 0 or fewest > 1) and not can_pack(
        instance, now, depth, search.fits, limit, search.weighed
    ):
        return False
    search.chosen[depth], search.choice_count[depth], search.tried[depth] = chosen, fewest, 0
    _rank(instance, search, depth, chosen)
    return True


@bare
def _rank(instance: Instance, search: Dive, depth: int, u: int) -> None:
    """List the devices that unit u can go to: most traffic in common first, then least loaded."""
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
