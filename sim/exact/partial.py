"""Partial placements and the loads of the units placed so far.

Loads are stored for every depth (number of units placed), so that removing a unit is exact.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import NONE, Floats, Ints
from streamplace.sim.jit import bare
from streamplace.sim.links import add_load, cpu_s, ends_of, link_s, load_ends, slot_of, uplinks_of
from streamplace.sim.messages import Messages, charge, no_messages
from streamplace.sim.search.instance import Instance, clash, has_room, own_load, unit_load


class Partial(NamedTuple):
    """Some units on devices, and the loads of devices, then of links."""

    on: Ints  # (U,) device of each unit, -1 if not placed yet
    load: Floats  # (depths, D + L) utilisation / reference
    shared: Floats  # (depths, U, D, 4) tuples/s and bit/s from a unit to a device, and back
    used: Floats  # (depths, D, K) counts of each limit, such as bytes of memory
    rivals: Ints  # (U, D) number of rivals of a unit on a device
    crowd: Ints  # (D,) number of units on each device
    identical: Ints  # (D,) the last identical device before each device, -1 if there is none
    passing: Floats  # (uplinks,) scratch array
    room: Messages  # scratch arrays
    change: Floats  # (D + L,) scratch array, 0 between uses; with multicast only


def partial(instance: Instance, identical: Ints, depths: int) -> Partial:
    """Return an empty placement with room for `depths` units."""
    units, devices, links = len(instance.work), len(instance.capacity), len(instance.gap_s)
    return Partial(
        on=np.full(units, -1, np.int32),
        load=np.zeros((depths + 1, devices + links)),
        shared=np.zeros((depths + 1, units, devices, 4)),
        used=np.zeros((depths + 1, *instance.room.shape)),
        rivals=np.zeros((units, devices), np.int32),
        crowd=np.zeros(devices, np.int32),
        identical=identical,
        passing=np.zeros(_uplinks(instance)),
        room=no_messages(devices, links),
        change=np.zeros(devices + links if instance.multicast != NONE else 0),
    )


def _uplinks(instance: Instance) -> int:
    devices = len(instance.capacity)
    return len(instance.gap_s) - (2 * devices if instance.nic else devices * devices)


@bare
def is_spare(now: Partial, d: int) -> bool:
    """Return whether device d and an identical device before it are empty, so d can be skipped."""
    identical = now.identical[d]
    spare: bool = identical >= 0 and now.crowd[d] == 0 and now.crowd[identical] == 0
    return spare


@bare
def may_go(instance: Instance, now: Partial, depth: int, u: int, d: int) -> bool:
    """Return whether constraints, limits and device symmetry allow unit u on device d."""
    if not instance.allowed[instance.row_of[u], d] or now.rivals[u, d] > 0 or is_spare(now, d):
        return False
    fits: bool = has_room(instance, now.used[depth, d], u, d)
    return fits


@bare
def highest(instance: Instance, now: Partial, depth: int, u: int, d: int) -> float:
    """Return the largest load among the devices and links that unit u on device d would load."""
    devices = instance.capacity.shape[0]
    own = now.load[depth, d] + unit_load(instance, u, d)
    if instance.multicast != NONE:
        own = max(own, _highest_with_messages(instance, now, depth, u, d))
        return float(max(own, own_load(instance, u, d)))
    sent, received, top = 0.0, 0.0, 0.0
    for b in range(devices):
        out, out_bits = now.shared[depth, u, b, 0], now.shared[depth, u, b, 1]
        back, back_bits = now.shared[depth, u, b, 2], now.shared[depth, u, b, 3]
        if b == d or (out == 0.0 and back == 0.0):
            continue
        leaves, enters = ends_of(instance.nic, devices, d, b)
        comes, arrives = ends_of(instance.nic, devices, b, d)
        remote = now.load[depth, b]
        if instance.taxing:
            far_s = cpu_s(instance, enters, b, out, out_bits)
            near_s = cpu_s(instance, leaves, d, out, out_bits)
            remote += (far_s + cpu_s(instance, comes, b, back, back_bits)) / instance.cores[b]
            own += (near_s + cpu_s(instance, arrives, d, back, back_bits)) / instance.cores[d]
        fro = now.load[depth, devices + slot_of(instance, devices, comes)]
        fro += link_s(instance, comes, back, back_bits)
        top = max(top, remote, fro)
        if not instance.egress:
            to = now.load[depth, devices + enters] + link_s(instance, enters, out, out_bits)
            top = max(top, to)
        sent += link_s(instance, leaves, out, out_bits)
        received += link_s(instance, arrives, back, back_bits)
    if instance.nic or instance.egress:
        top = max(top, sent + now.load[depth, devices + d])
    if instance.nic:
        top = max(top, received + now.load[depth, 2 * devices + d])
    if now.passing.shape[0] > 0:
        top = max(top, _highest_shared(instance, now, depth, u, d))
    largest: float = max(top, own, own_load(instance, u, d))
    return largest


@bare
def _highest_with_messages(instance: Instance, now: Partial, depth: int, u: int, d: int) -> float:
    """Return the largest load that messages of unit u on device d change, with its CPU work."""
    _change_messages(instance, now, u, -1.0)
    now.on[u] = d
    _change_messages(instance, now, u, 1.0)
    now.on[u] = -1
    now.change[d] += unit_load(instance, u, d)
    top = 0.0
    for r in range(now.change.shape[0]):
        if now.change[r] != 0.0:
            top = max(top, now.load[depth, r] + now.change[r])
            now.change[r] = 0.0
    return top


@bare
def _change_messages(instance: Instance, now: Partial, u: int, sign: float) -> None:
    """Add or subtract the loads of messages that depend on unit u, among units placed so far."""
    for i in range(instance.first_use[u], instance.first_use[u + 1]):
        p = instance.use[i]
        a = now.on[instance.home[p]]
        if a >= 0:
            for k in range(charge(instance, instance.copies, p, a, now.on, now.room)):
                now.change[now.room.resource[k]] += sign * now.room.amount[k]


@bare
def _highest_shared(instance: Instance, now: Partial, depth: int, u: int, d: int) -> float:
    """Return the largest load among the uplinks that unit u on device d would load."""
    devices, passing = instance.capacity.shape[0], now.passing
    first = instance.gap_s.shape[0] - passing.shape[0]
    for k in range(passing.shape[0]):
        passing[k] = 0.0
    for b in range(devices):
        if b == d:
            continue
        for link in uplinks_of(instance, d, b):
            if link >= 0:
                passing[link - first] += link_s(
                    instance, link, now.shared[depth, u, b, 0], now.shared[depth, u, b, 1]
                )
        for link in uplinks_of(instance, b, d):
            if link >= 0:
                passing[link - first] += link_s(
                    instance, link, now.shared[depth, u, b, 2], now.shared[depth, u, b, 3]
                )
    top = 0.0
    for k in range(passing.shape[0]):
        if passing[k] > 0.0:
            top = max(top, now.load[depth, devices + first + k] + passing[k])
    return top


@bare
def put(instance: Instance, now: Partial, depth: int, u: int, d: int) -> None:
    """Place unit u on device d after `depth` other units."""
    devices, after = instance.capacity.shape[0], depth + 1
    for r in range(now.load.shape[1]):
        now.load[after, r] = now.load[depth, r]
    for v in range(now.on.shape[0]):
        for b in range(devices):
            for k in range(4):
                now.shared[after, v, b, k] = now.shared[depth, v, b, k]
    for b in range(devices):
        for k in range(instance.room.shape[1]):
            now.used[after, b, k] = now.used[depth, b, k]
    _send(instance, now, depth, u, d)
    now.load[after, d] += unit_load(instance, u, d)
    for k in range(instance.room.shape[1]):
        now.used[after, d, k] += instance.needs[u, k]
    for i in range(instance.first_end[u], instance.first_end[u + 1]):
        way = 2 if instance.outward[i] else 0  # from the other end's point of view
        now.shared[after, instance.other[i], d, way] += instance.tuples[i]
        now.shared[after, instance.other[i], d, way + 1] += instance.bits[i]
    for i in range(instance.first_rival[u], instance.first_rival[u + 1]):
        for b in range(devices):
            if clash(instance, i, d, b):
                now.rivals[instance.rival[i], b] += 1
    now.crowd[d] += 1
    now.on[u] = d


@bare
def _send(instance: Instance, now: Partial, depth: int, u: int, d: int) -> None:
    """Add the loads of messages between unit u on device d and the units placed before."""
    if instance.multicast != NONE:
        _change_messages(instance, now, u, -1.0)
        now.on[u] = d
        _change_messages(instance, now, u, 1.0)
        for r in range(now.change.shape[0]):
            now.load[depth + 1, r] += now.change[r]
            now.change[r] = 0.0
        return
    for b in range(instance.capacity.shape[0]):
        if b != d:
            out, out_bits = now.shared[depth, u, b, 0], now.shared[depth, u, b, 1]
            back, back_bits = now.shared[depth, u, b, 2], now.shared[depth, u, b, 3]
            _cross(instance, now, depth + 1, d, b, out, out_bits)
            _cross(instance, now, depth + 1, b, d, back, back_bits)


@bare
def take_back(instance: Instance, now: Partial, u: int) -> None:
    """Undo the last `put`, which placed unit u."""
    d = now.on[u]
    for i in range(instance.first_rival[u], instance.first_rival[u + 1]):
        for b in range(instance.capacity.shape[0]):
            if clash(instance, i, d, b):
                now.rivals[instance.rival[i], b] -= 1
    now.crowd[d] -= 1
    now.on[u] = -1


@bare
def _cross(
    instance: Instance, now: Partial, row: int, a: int, b: int, tuples: float, bits: float
) -> None:
    """Add the load of streams from device a to device b."""
    if tuples > 0.0:
        load_ends(instance, a, b, 1.0, tuples, bits, add_load, now.load[row])
