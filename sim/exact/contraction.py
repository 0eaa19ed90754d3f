"""Contraction of units that every placement within a limit keeps on one device."""

import numpy as np

from sim.columns import read_only
from sim.exact.partial import Partial, highest, partial, put, take_back
from sim.flow import Ints
from sim.jit import bare, kernel
from sim.search.coarsen import coarsened
from sim.search.instance import Instance


def with_joined(instance: Instance, limit: float) -> tuple[Instance, Ints]:
    """Join all units that a limit keeps together, because no link could carry their traffic.

    Joined units combine their streams, which may keep further units together, so this is repeated
    until nothing changes.

    Parameters
    ----------
    limit
        Largest load / reference allowed on any device or link.

    Returns
    -------
    tuple
        The smaller instance, and the number of its unit that contains each original unit, (U,).
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
    """Return the instance of groups, (U,).

    A group may use the devices that all its members may use; if members are rivals, none.
    """
    merged = coarsened(instance, group)
    count = len(merged.work)
    allowed = np.ones((count, len(instance.capacity)), np.bool_)
    np.logical_and.at(allowed, group, instance.allowed[instance.row_of])
    own = np.repeat(np.arange(count), np.diff(merged.first_rival)) == merged.rival
    hostile = np.unique(merged.rival[own])
    allowed[hostile] = False
    return merged._replace(row_of=np.arange(count, dtype=np.int32), allowed=read_only(allowed))


@kernel
def _inseparable(instance: Instance, now: Partial, limit: float) -> Ints:
    """Return groups of inseparable units, (U,), numbered in order of appearance."""
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
    """Return whether u and v can be on different devices while no other unit is placed."""
    devices = instance.capacity.shape[0]
    for a in range(devices):
        if not instance.allowed[instance.row_of[u], a] or highest(instance, now, 0, u, a) > limit:
            continue
        put(instance, now, 0, u, a)
        separable = False
        for b in range(devices):
            if a != b and instance.allowed[instance.row_of[v], b]:
                separable = separable or highest(instance, now, 1, v, b) <= limit
        take_back(instance, now, u)
        if separable:
            return True
    return False
