"""Units that no placement within a limit can part: what they send each other fits no link."""

import numpy as np

from sim.flow import Ints
from sim.jit import bare, kernel
from sim.proof.partial import Partial, highest, partial, put, take_back
from sim.search.contract import contracted
from sim.search.instance import Instance


def with_joined(job: Instance, limit: float) -> tuple[Instance, Ints]:
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
    group = np.arange(len(job.work), dtype=np.int32)
    no_twins = np.full(len(job.capacity), -1, np.int32)
    while True:
        together = _inseparable(job, partial(job, no_twins, 2), limit)
        if together.max() == len(together) - 1:
            return job, group
        job = _merged(job, together)
        group = together[group]


def _merged(job: Instance, group: Ints) -> Instance:
    """Return the instance of groups, (U,): what all members may do; rivals may do nothing."""
    merged = contracted(job, group)
    count = len(merged.work)
    allowed = np.ones((count, len(job.capacity)), np.bool_)
    np.logical_and.at(allowed, group, job.allowed[job.row_of])
    own = np.repeat(np.arange(count), np.diff(merged.first_rival)) == merged.rival
    hostile = np.unique(merged.rival[own])
    allowed[hostile] = False
    return merged._replace(row_of=np.arange(count, dtype=np.int32), allowed=allowed)


@kernel
def _inseparable(job: Instance, now: Partial, limit: float) -> Ints:
    """Return groups, (U,), numbered as met."""
    units = job.work.shape[0]
    root = np.arange(units).astype(np.int32)
    for u in range(units):
        for i in range(job.first_end[u], job.first_end[u + 1]):
            v = job.other[i]
            if v > u and root[u] != root[v] and not _may_part(job, now, u, v, limit):
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
def _may_part(job: Instance, now: Partial, u: int, v: int, limit: float) -> bool:
    """Return whether u and v can be on two devices, if all others were on none."""
    devices = job.capacity.shape[0]
    for a in range(devices):
        if not job.allowed[job.row_of[u], a] or highest(job, now, 0, u, a) > limit:
            continue
        put(job, now, 0, u, a)
        parted = False
        for b in range(devices):
            if a != b and job.allowed[job.row_of[v], b]:
                parted = parted or highest(job, now, 1, v, b) <= limit
        take_back(job, now, u)
        if parted:
            return True
    return False
