"""Contraction of units that every placement within a limit keeps on one device."""

from typing import NamedTuple

import numpy as np

from streamplace.sim.columns import read_only
from streamplace.sim.disjoint_sets import number_roots, unite
from streamplace.sim.flow import NONE, Floats, Ints
from streamplace.sim.jit import bare, inner, kernel
from streamplace.sim.links import load_ends
from streamplace.sim.search.coarsen import coarsened
from streamplace.sim.search.instance import Instance, has_room, own_load, unit_load

MOST_PAIRS = 20_000_000  # streams x device pairs: above, only the fastest link decides; about 1 s


class Units(NamedTuple):
    """U units, or groups of units, and N messages between them; loads are relative to 1."""

    load: Floats  # (U, D) CPU load on each device, inf where the unit may not run
    own: Floats  # (U, D) the largest load of one of its operators on the cores that it can use
    needs: Floats  # (U, K) see `Instance`
    home: Ints  # (P,) unit of each producer; without multicast, each unit is one producer
    sender: Ints  # (N,) producer of each message
    to: Ints  # (N,) the unit that receives it
    tuples: Floats  # (N,) tuples/s / reference
    bits: Floats  # (N,) bit/s / reference


class Cheapest(NamedTuple):
    """The least that a message between two devices costs: loads per tuple/s and per bit/s."""

    sent: tuple[float, float]  # on the link that it leaves by
    received: tuple[float, float]  # on the link that it arrives by
    cpu: tuple[float, float]  # on the device at either end


def merged(instance: Instance, group: Ints) -> Instance:
    """Return the instance of groups, (U,), numbered from 0 without gaps.

    A group may use the devices that all its members may use; if members are rivals, none.
    """
    if group.max() == len(group) - 1:
        return instance
    merged = coarsened(instance, group)
    count = len(merged.work)
    allowed = np.ones((count, len(instance.capacity)), np.bool_)
    np.logical_and.at(allowed, group, instance.allowed[instance.row_of])
    own = np.repeat(np.arange(count), np.diff(merged.first_rival)) == merged.rival
    hostile = np.unique(merged.rival[own])
    allowed[hostile] = False
    return merged._replace(row_of=np.arange(count, dtype=np.int32), allowed=read_only(allowed))


def units_of(instance: Instance) -> Units:
    """Return the units of an instance and their messages."""
    count = len(instance.work)
    load, own = _tables(instance)
    if instance.multicast != NONE:
        copies = instance.copies
        home, to = instance.home, copies.to
        sender = np.repeat(np.arange(len(home)), np.diff(copies.first)).astype(np.int32)
        tuples, bits = copies.tuples, copies.bits
    else:
        home, out = np.arange(count, dtype=np.int32), instance.outward
        ends = np.repeat(home, np.diff(instance.first_end))
        sender, to = ends[out], instance.other[out]
        tuples, bits = instance.tuples[out], instance.bits[out]
    return join(
        Units(load, own, instance.needs, home, sender, to, tuples, bits),
        np.arange(count, dtype=np.int32),
        count,
        instance.multicast != NONE,
    )


def cheapest(instance: Instance) -> Cheapest:
    """Return the least that a message between two devices costs."""
    devices = len(instance.capacity)
    between = ~np.eye(devices, dtype=np.bool_).ravel()
    # There are no messages between devices.
    if devices == 1:
        return Cheapest((0.0, 0.0), (0.0, 0.0), (0.0, 0.0))
    sending = np.flatnonzero(between) if not instance.nic else np.arange(devices)
    receiving = sending + devices if instance.nic else sending
    own = np.union1d(sending, receiving)
    return Cheapest(
        (float(instance.gap_s[sending].min()), float(instance.seconds_per_bit[sending].min())),
        (float(instance.gap_s[receiving].min()), float(instance.seconds_per_bit[receiving].min())),
        (
            float(instance.overhead_s[own].min() / instance.cores.max()),
            float((instance.overhead_s_per_bit / instance.cores).min()),
        ),
    )


@kernel
def _tables(instance: Instance) -> tuple[Floats, Floats]:
    """Return `load` and `own` of `Units`."""
    devices = instance.capacity.shape[0]
    load = np.full((instance.work.shape[0], devices), np.inf)
    own = np.zeros(load.shape)
    used = np.zeros(instance.room.shape[1])
    for u in range(load.shape[0]):
        for d in range(devices):
            if instance.allowed[instance.row_of[u], d] and has_room(instance, used, u, d):
                load[u, d] = unit_load(instance, u, d)
            own[u, d] = own_load(instance, u, d)
    return load, own


@kernel
def contract(
    instance: Instance, cheap: Cheapest, units: Units, group: Ints, limit: float
) -> tuple[Units, Ints, float]:
    """Join units until no two of them are inseparable within a limit.

    Parameters
    ----------
    units, group
        Units, and the one of them that contains each unit of `instance`, (U,).

    Returns
    -------
    tuple
        The joined units, the one of them that contains each unit of `instance`, and the smallest
        limit, above the given one, within which two of the joined units may part.
    """
    until = np.inf
    while True:
        count = units.load.shape[0]
        root = np.arange(count).astype(np.int32)
        until = min(until, _join_inseparable(instance, cheap, units, limit, root))
        left = number_roots(root)
        if left == count:
            return units, group, until
        units = join(units, root, left, instance.multicast != NONE)
        group = root[group]
        forbid(instance, units, group)


@inner
def _join_inseparable(
    instance: Instance, cheap: Cheapest, units: Units, limit: float, root: Ints
) -> float:
    """Unite the trees of inseparable units; return the smallest limit that parts two of them."""
    count, messages = units.load.shape[0], units.to.shape[0]
    devices = instance.capacity.shape[0]
    key = np.empty(messages, np.int64)
    for i in range(messages):
        u, v = units.home[units.sender[i]], units.to[i]
        key[i] = min(u, v) * count + max(u, v)
    order = np.argsort(key)
    amounts, found = np.empty(4), np.empty(3)  # tuples/s and bit/s from u to v, and back
    until, at = np.inf, 0
    all_links = messages * devices * devices <= MOST_PAIRS
    while at < messages:
        u, v = divmod(key[order[at]], count)
        amounts[:] = 0.0
        begin = at
        while at < messages and key[order[at]] == key[order[begin]]:
            i = order[at]
            way = 0 if units.home[units.sender[i]] == u else 2
            amounts[way] += units.tuples[i]
            amounts[way + 1] += units.bits[i]
            at += 1
        least = 0.0
        for way in range(0, 4, 2):
            for kind in (cheap.sent, cheap.received):
                least = max(least, amounts[way] * kind[0] + amounts[way + 1] * kind[1])
        if least <= limit and all_links:
            least = _least_apart(instance, units, u, v, amounts, limit, found)
        if least > limit:
            until = min(until, least)
            unite(root, u, v)
    return until


@bare
def _least_apart(
    instance: Instance, units: Units, u: int, v: int, amounts: Floats, limit: float, found: Floats
) -> float:
    """Return the least limit within which u and v can be apart, or one that is at most `limit`."""
    devices, least = instance.capacity.shape[0], np.inf
    for a in range(devices):
        # The device alone is worse than the best pair so far.
        if max(units.load[u, a], units.own[u, a]) >= least:
            continue
        for b in range(devices):
            if a == b or max(units.load[v, b], units.own[v, b]) >= least:
                continue
            found[0], found[1] = units.load[u, a], units.load[v, b]
            found[2] = max(units.own[u, a], units.own[v, b])
            to = found, a, b
            load_ends(instance, a, b, 1.0, amounts[0], amounts[1], _collect, to)
            load_ends(instance, b, a, 1.0, amounts[2], amounts[3], _collect, to)
            least = min(least, max(found[0], found[1], found[2]))
            if least <= limit:
                return float(least)
    return float(least)


@bare
def _collect(to: tuple[Floats, int, int], r: int, amount: float) -> None:
    """Add to the load of one of two devices, or raise the largest load of a link."""
    found, a, b = to
    if r == a:
        found[0] += amount
    elif r == b:
        found[1] += amount
    else:
        found[2] = max(found[2], amount)


@bare
def forbid(instance: Instance, units: Units, group: Ints) -> None:
    """Let groups run only where their needs fit, and nowhere if members are rivals."""
    for g in range(units.load.shape[0]):
        for d in range(units.load.shape[1]):
            for k in range(units.needs.shape[1]):
                if units.needs[g, k] > instance.room[d, k]:
                    units.load[g, d] = np.inf
    for u in range(group.shape[0]):
        for i in range(instance.first_rival[u], instance.first_rival[u + 1]):
            if group[u] == group[instance.rival[i]]:
                units.load[group[u], :] = np.inf


@kernel
def join(units: Units, root: Ints, count: int, shared: bool) -> Units:
    """Return the units of groups, (U,), numbered from 0 without gaps.

    Messages between groups are added up or, if `shared`, the largest of a producer's to a group.
    """
    devices = units.load.shape[1]
    load, own = np.zeros((count, devices)), np.zeros((count, devices))
    needs = np.zeros((count, units.needs.shape[1]))
    for u in range(root.shape[0]):
        g = root[u]
        for d in range(devices):
            load[g, d] += units.load[u, d]
            own[g, d] = max(own[g, d], units.own[u, d])
        for k in range(needs.shape[1]):
            needs[g, k] += units.needs[u, k]
    messages = units.to.shape[0]
    key, kept = np.empty(messages, np.int64), 0
    at = np.empty(messages, np.int64)
    for i in range(messages):
        p, g = units.sender[i], root[units.to[i]]
        if root[units.home[p]] != g:
            key[kept] = (p if shared else root[units.home[p]]) * count + g
            at[kept] = i
            kept += 1
    order = np.argsort(key[:kept])
    sender, to = np.empty(kept, np.int32), np.empty(kept, np.int32)
    tuples, bits = np.empty(kept), np.empty(kept)
    last = -1
    for j in range(kept):
        i = at[order[j]]
        if j > 0 and key[order[j]] == key[order[j - 1]]:
            if shared:
                tuples[last] = max(tuples[last], units.tuples[i])
                bits[last] = max(bits[last], units.bits[i])
            else:
                tuples[last] += units.tuples[i]
                bits[last] += units.bits[i]
        else:
            last += 1
            sender[last], to[last] = divmod(key[order[j]], count)
            tuples[last], bits[last] = units.tuples[i], units.bits[i]
    home = root[units.home] if shared else np.arange(count).astype(np.int32)
    end = last + 1
    return Units(
        load,
        own,
        needs,
        home,
        sender[:end].copy(),
        to[:end].copy(),
        tuples[:end].copy(),
        bits[:end].copy(),
    )
