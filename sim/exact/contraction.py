"""Units that no placement within a limit can part, since no link carries what they exchange."""

import numpy as np

from sim.exact.partial import Partial, highest, partial, put, take_back
from sim.flow import Ints
from sim.jit import bare, kernel
from sim.search.coarsen import coarsened
from sim.search.instance import Instance


def with_joined(instance: Instance, limit: float) -> tuple[Instance, Ints]:
    """Return the instance with all units joined that a limit keeps together, and who joins whom.

    Joined units send each other's streams, which may keep more together: so again until nothing
    changes.

    Parameters
    ----------
    limit
        Load / reference that no device and no link may exceed.

    Returns
    -------
    The instance, and the unit of it that each unit is part of, (U,).
    """
    group = np.arange(len(instance.work), dtype=np.int32)
    none_identical = np.full(len(instance.capacity), -1, np.int32)
    while True:
        together = _inseparable(instance, partial(instance, none_identical, 2), limit)
        if together.max() == len(together) - 1:
            return instance, group
        instance = _merged(instance, together)
        group = together[group]


def _merged(instance: Instance, group: Ints) -> Instance:
    """Return the instance of groups, (U,): what all members may do; rivals may do nothing."""
    merged = coarsened(instance, group)
    count = len(merged.work)
    allowed = np.ones((count, len(instance.capacity)), np.bool_)
    np.logical_and.at(allowed, group, instance.allowed[instance.row_of])
    own = np.repeat(np.arange(count), np.diff(merged.first_rival)) == merged.rival
    hostile = np.unique(merged.rival[own])
    allowed[hostile] = False
    return merged._replace(row_of=np.arange(count, dtype=np.int32), allowed=allowed)


@kernel
def _inseparable(instance: Instance, now: Partial, limit: float) -> Ints:
    """Return groups, (U,), numbered as met."""
    units = instance.work.shape[0]
    root = np.arange(units).astype(np.int32)
    for u in range(units):
        for i in range(instance.first_end[u], instance.first_end[u + 1]):
            v = instance.other[i]
            if v > u and root[u] != root[v] and not _may_part(instance, now, u, v, limit):
                low, high = min(root[u], root[v]), max(root[u], root[v])
                for w in range(units):
                    if root[w] == high:
                        root[w] = low
    number = np.full(units, -1, np.int32)
    count = 0
    for u in range(units):
        if number[root[u]] < 0:
            number[root[u]] = count
            count += 1
        root[u] = number[root[u]]
    return root


@bare
def _may_part(instance: Instance, now: Partial, u: int, v: int, limit: float) -> bool:
    """Return whether u and v can be on two devices, if all others were on none."""
    devices = instance.capacity.shape[0]
    for a in range(devices):
        if not instance.allowed[instance.row_of[u], a] or highest(instance, now, 0, u, a) > limit:
            continue
        put(instance, now, 0, u, a)
        parted = False
        for b in range(devices):
            if a != b and instance.allowed[instance.row_of[v], b]:
                parted = parted or highest(instance, now, 1, v, b) <= limit
        take_back(instance, now, u)
        if parted:
            return True
    return False
