"""Coarsening: joining units along their heaviest streams, for multilevel placement of large graphs.

This is many-to-one heavy-edge matching (Karypis and Kumar 1998): in turn, each unit joins the
neighbour with which it shares the most traffic, as long as the group stays below a device's share.
"""

from typing import Any

import numpy as np

from streamplace.sim.disjoint_sets import number_roots, unite
from streamplace.sim.flow import Floats, Ints, between_devices, by_operator
from streamplace.sim.jit import bare, kernel
from streamplace.sim.messages import Copies
from streamplace.sim.search.instance import (
    Bools,
    Instance,
    largest_of_units,
    shared_streams,
    sums_of_units,
)


def joined(
    instance: Instance,
    traffic: Floats,
    heaviest: float,
    fewest: int,
    rng: np.random.Generator | None = None,
) -> Ints:
    """Return the group of each unit, (U,) int32, numbered from 0 without gaps.

    Parameters
    ----------
    traffic
        (N,) weight of each stream end.
    heaviest
        Largest instructions/s / reference of a group, unless a single unit has more.
    fewest
        Number of groups at which to stop.
    rng
        Draws the order of units; None: the order of increasing degree.

    Notes
    -----
    Units join only units with the same mask of devices, and units with rivals join none. A group
    takes no more of a limit, such as memory, than the device with the least room has.
    """
    if rng is None:
        # Units with few streams join first: those with many have a choice later, too.
        order = np.argsort(np.diff(instance.first_end), kind="stable").astype(np.int32)
    else:
        order = rng.permutation(len(instance.work)).astype(np.int32)
    return _join(instance, traffic, order, heaviest, fewest, instance.room.min(axis=0))


def inseparable(instance: Instance, limit: float) -> Ints:
    """Return groups of units, (U,) int32, that every placement with lower loads keeps together.

    A stream that would load the best link by at least the limit stays within a device. Of such
    units, those with different masks of devices and those with rivals are left alone.

    Parameters
    ----------
    limit
        Load / reference.
    """
    own = np.flatnonzero(between_devices(instance))
    gap_s, seconds_per_bit = instance.gap_s[own].min(), instance.seconds_per_bit[own].min()
    heavy = instance.tuples * gap_s + instance.bits * seconds_per_bit >= limit
    return _together(instance, heavy & (len(instance.capacity) > 1))


def joined_alike(instance: Instance, group: Ints) -> Ints:
    """Return the parts of groups, (U,) int32, of which all units have one mask and no rivals."""
    units = len(group)
    hostile = np.diff(instance.first_rival) > 0
    key = group.astype(np.int64) * (int(instance.row_of.max()) + 1) + instance.row_of
    key[hostile] = -1 - np.flatnonzero(hostile)
    parts: Ints = np.unique(key, return_inverse=True)[1].astype(np.int32).reshape(units)
    return parts


def coarsened(instance: Instance, group: Ints) -> Instance:
    """Return the instance whose units are the groups, (U,).

    Streams of the same direction between two groups are added up. Migration is not limited.
    """
    groups = int(group.max()) + 1
    first, member = by_operator(group, groups)
    first_end, other, outward, tuples, bits = _gather(instance, group, first, member)
    leader = member[first[:-1]]
    lengths = np.diff(instance.first_member)[member]
    first_member = np.zeros(groups + 1, np.int32)
    first_member[1:] = np.cumsum(lengths)[first[1:] - 1]
    rivals = np.repeat(group, np.diff(instance.first_rival))
    by_group = np.argsort(rivals, kind="stable")
    return instance._replace(
        work=np.bincount(group, instance.work, groups).astype(np.float64),
        thread_work=largest_of_units(instance.thread_work, group, groups),
        first_end=first_end,
        other=other,
        outward=outward,
        tuples=tuples,
        bits=bits,
        row_of=instance.row_of[leader],
        needs=sums_of_units(instance.needs, group, groups),
        first_rival=np.searchsorted(rivals[by_group], np.arange(groups + 1)).astype(np.int32),
        rival=group[instance.rival[by_group]],
        far=instance.far[by_group],
        first_member=first_member,
        member=_members(instance, member, lengths.astype(np.int32)),
        migration_budget=np.inf,
        class_work=sums_of_units(instance.class_work, group, groups),
        class_own=largest_of_units(instance.class_own, group, groups),
        **_shared_streams(instance, group, groups),
    )


def _shared_streams(instance: Instance, group: Ints, groups: int) -> dict[str, Any]:
    """Return the fields about streams that share messages, those to one group joined."""
    home, copies = group[instance.home], instance.copies
    producer = np.repeat(np.arange(len(home)), np.diff(copies.first))
    to = group[copies.to]
    kept = np.flatnonzero(to != home[producer])
    keys, joined_to = np.unique(producer[kept] * np.int64(groups) + to[kept], return_inverse=True)
    tuples, bits = np.zeros((2, len(keys)))
    np.maximum.at(tuples, joined_to, copies.tuples[kept])
    np.maximum.at(bits, joined_to, copies.bits[kept])
    sending, to = np.divmod(keys, groups)
    left, count = np.unique(sending, return_counts=True)
    merged = Copies(
        np.cumsum([0, *count]).astype(np.int32),
        np.arange(len(keys), dtype=np.int32),
        to.astype(np.int32),
        tuples,
        bits,
    )
    return shared_streams(home[left], merged, groups)


@kernel
def _together(instance: Instance, heavy: Bools) -> Ints:
    """Return groups of the units that heavy streams join, (U,), numbered without gaps."""
    units = instance.work.shape[0]
    root = np.arange(units).astype(np.int32)
    for u in range(units):
        if instance.first_rival[u] < instance.first_rival[u + 1]:
            continue
        for i in range(instance.first_end[u], instance.first_end[u + 1]):
            v = instance.other[i]
            if not heavy[i] or instance.row_of[u] != instance.row_of[v]:
                continue
            if instance.first_rival[v] < instance.first_rival[v + 1]:
                continue
            unite(root, u, v)
    number_roots(root)
    return root


@kernel
def _join(
    instance: Instance, traffic: Floats, order: Ints, heaviest: float, fewest: int, room: Floats
) -> Ints:
    units = instance.work.shape[0]
    group = np.full(units, -1, np.int32)
    work, needs = np.zeros(units), np.zeros(instance.needs.shape)
    left, count = units, 0
    shared = np.zeros(units)
    for u in order:
        if group[u] >= 0:
            continue
        best, most = -1, 0.0
        if left > fewest and instance.first_rival[u] == instance.first_rival[u + 1]:
            for i in range(instance.first_end[u], instance.first_end[u + 1]):
                shared[instance.other[i]] += traffic[i]
            for i in range(instance.first_end[u], instance.first_end[u + 1]):
                v = instance.other[i]
                if shared[v] <= most or instance.row_of[v] != instance.row_of[u]:
                    continue
                if instance.first_rival[v] < instance.first_rival[v + 1]:
                    continue
                g = group[v]
                with_it = instance.work[v] if g < 0 else work[g]
                kept = instance.needs[v] if g < 0 else needs[g]
                # Larger groups would leave no choice, or fit on no device.
                if with_it + instance.work[u] > heaviest or _exceeds(kept, instance.needs[u], room):
                    continue
                best, most = v, shared[v]
            for i in range(instance.first_end[u], instance.first_end[u + 1]):
                shared[instance.other[i]] = 0.0
        if best >= 0 and group[best] < 0:
            group[best] = count
            work[count], needs[count] = instance.work[best], instance.needs[best]
            count += 1
        if best >= 0:
            group[u] = group[best]
            left -= 1
        else:
            group[u] = count
            count += 1
        work[group[u]] += instance.work[u]
        needs[group[u]] += instance.needs[u]
    return group


@bare
def _exceeds(kept: Floats, more: Floats, room: Floats) -> bool:
    """Return whether two sets of needs together, (K,) each, exceed some room."""
    over = False
    for k in range(room.shape[0]):
        over |= kept[k] + more[k] > room[k]
    return over


@kernel
def _gather(
    instance: Instance, group: Ints, first: Ints, member: Ints
) -> tuple[Ints, Ints, np.ndarray, Floats, Floats]:
    """Return the groups' stream ends, merging those with the same direction and the same ends."""
    groups, most = first.shape[0] - 1, instance.other.shape[0]
    first_end = np.zeros(groups + 1, np.int32)
    other, outward = np.empty(most, np.int32), np.empty(most, np.bool_)
    tuples, bits = np.empty(most), np.empty(most)
    slot = np.full((2, groups), -1, np.int64)  # by direction: where the end towards a group is
    count = 0
    for g in range(groups):
        begin = count
        for k in range(first[g], first[g + 1]):
            u = member[k]
            for i in range(instance.first_end[u], instance.first_end[u + 1]):
                h = group[instance.other[i]]
                if h == g:
                    continue
                way = 1 if instance.outward[i] else 0
                at = slot[way, h]
                if at < begin:
                    at = slot[way, h] = count
                    other[at], outward[at] = h, instance.outward[i]
                    tuples[at] = bits[at] = 0.0
                    count += 1
                tuples[at] += instance.tuples[i]
                bits[at] += instance.bits[i]
        first_end[g + 1] = count
    return (
        first_end,
        other[:count].copy(),
        outward[:count].copy(),
        tuples[:count].copy(),
        bits[:count].copy(),
    )


@kernel
def _members(instance: Instance, order: Ints, lengths: Ints) -> Ints:
    """Return the operators of the units in some order, concatenated."""
    members = np.empty(instance.member.shape[0], np.int32)
    count = 0
    for k in range(order.shape[0]):
        u = order[k]
        for i in range(lengths[k]):
            members[count] = instance.member[instance.first_member[u] + i]
            count += 1
    return members
