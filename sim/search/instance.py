"""The problem instance of local search: units, streams, devices and constraints."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.columns import by_operator, read_only
from streamplace.sim.flow import Floats, Flow, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.messages import Copies
from streamplace.sim.work import class_work, of_usable_cores, own_by_class

Bools = NDArray[np.bool_]


class Instance(NamedTuple):
    """U units (operators kept together) on D devices with L links and K limits, and N stream ends.

    All loads are divided by `reference`, so that utilisations near the lower bound are near 1.
    """

    reference: float  # utilisation
    work: Floats  # (U,) instructions/s / reference
    first_end: Ints  # (U + 1,) index of each unit's first end
    other: Ints  # (N,) the unit at the other end
    outward: Bools  # (N,) whether the stream is outgoing
    tuples: Floats  # (N,) tuples/s on the stream / reference
    bits: Floats  # (N,) bit/s on the stream / reference
    capacity: Floats  # (D,) instructions/s
    cores: Floats  # (D,)
    threads: Floats  # (C,) the distinct numbers of cores that operators can use
    thread_work: Floats  # (U, C) the largest such operator of each unit, instructions/s / reference
    limits_operators: bool  # whether some operator cannot use all cores of some device
    nic: bool
    gap_s: Floats  # (L,)
    seconds_per_bit: Floats  # (L,)
    overhead_s: Floats  # (L,)
    taxing: bool  # whether messages between devices cost CPU time
    up: Ints  # (D,) the uplink of each device's group, -1 for none; empty if there are no uplinks
    down: Ints  # (D,) the same for downlinks
    row_of: Ints  # (U,) index of each unit's mask
    allowed: Bools  # (M, D) masks of devices
    needs: Floats  # (U, K) counts of each limit that units take, such as bytes of memory
    room: Floats  # (D, K) counts of each limit that devices have
    first_rival: Ints  # (U + 1,) index of each unit's first rival
    rival: Ints  # units that must not share a device with the unit
    far: Bools  # whether that rival must not be on a device of the same group either
    group_of: Ints  # (D,) group of each device
    first_member: Ints  # (U + 1,) index of each unit's first operator
    member: Ints  # (V,) operators, by unit
    current_device: Ints  # (V,) device in the current placement, or -1 if moving costs nothing
    migration_cost: Floats  # (V,) cost of leaving the current device
    migration_budget: float  # largest total cost of all operators that have moved
    class_of: Ints  # (D,) class of each device
    class_work: Floats  # (U, C) instructions/s / reference by class; C = 0 if no operator is timed
    class_own: Floats  # (U, C) `own_load` by class of devices; C = 0 if no operator is timed
    egress: bool
    overhead_s_per_bit: Floats  # (D,)
    multicast: int
    home: Ints  # (P,) unit of each producer that sends to other units, with multicast
    copies: Copies  # their streams to other units; tuples/s and bit/s / reference
    first_use: Ints  # (U + 1,) index of each unit's first entry in `use`
    use: Ints  # producers whose messages may change if a unit moves


def instance(
    flow: Flow,
    unit_of: Ints,
    reference: float,
    allowed: Bools,
    row_of: Ints,
    needs: Floats,
    room: Floats,
    excluding: Sequence[Sequence[int]] = (),
    separating: Sequence[Sequence[int]] = (),
    group_of: Ints | None = None,
) -> Instance:
    """Return the local-search instance of a flow.

    Parameters
    ----------
    unit_of
        (V,) int32 unit of each operator; units are numbered from 0 without gaps.
    reference
        Utilisation that counts as 1.
    allowed, row_of
        (M, D) masks of devices, and the index of each unit's mask, (U,).
    needs, room
        What each unit takes, (U, K), and each device has, (D, K), of each of K limits, such as
        bytes of memory.
    excluding
        Groups of units, no two of which may share a device.
    separating
        Groups of units, no two of which may be on devices of one group.
    group_of
        (D,) int32 group of each device; None: each device is a group of its own.
    """
    units = int(unit_of.max()) + 1
    threads, thread_of = np.unique(flow.operator_cores, return_inverse=True)
    thread_work = np.zeros((units, len(threads)))
    np.maximum.at(thread_work, (unit_of, thread_of.reshape(-1)), flow.work / reference)
    first_end, other, stream, outward = ends_of_units(flow, unit_of)
    first_rival, rival, far = rivals_of(units, excluding, separating)
    first_member, member = by_operator(unit_of, units)
    return Instance(
        reference=float(reference),
        work=np.bincount(unit_of, weights=flow.work, minlength=units) / reference,
        first_end=first_end,
        other=other,
        outward=outward,
        tuples=flow.stream_tuples[stream] / reference,
        bits=flow.stream_bits[stream] / reference,
        capacity=flow.capacity,
        cores=flow.cores,
        threads=threads,
        thread_work=thread_work,
        limits_operators=flow.limits_operators,
        nic=flow.nic,
        gap_s=flow.gap_s,
        seconds_per_bit=flow.seconds_per_bit,
        overhead_s=flow.overhead_s,
        taxing=flow.taxing,
        up=flow.up,
        down=flow.down,
        row_of=row_of.astype(np.int32),
        allowed=read_only(allowed),
        needs=np.ascontiguousarray(needs, dtype=np.float64),
        room=np.ascontiguousarray(room, dtype=np.float64),
        first_rival=first_rival,
        rival=rival,
        far=far,
        group_of=np.arange(flow.devices, dtype=np.int32) if group_of is None else group_of,
        first_member=first_member,
        member=member,
        current_device=np.full(len(unit_of), -1, np.int32),
        migration_cost=np.zeros(len(unit_of)),
        migration_budget=np.inf,
        class_of=flow.class_of,
        class_work=sums_of_units(class_work(flow) / reference, unit_of, units),
        class_own=largest_of_units(own_by_class(flow) / reference, unit_of, units),
        egress=flow.egress,
        overhead_s_per_bit=flow.overhead_s_per_bit,
        multicast=flow.multicast,
        **shared_streams(*copies_of_units(flow, unit_of, reference), units),
    )


def on_devices(instance: Instance, devices: Ints) -> Instance:
    """Return the instance of a cluster that has only some of the devices, in the order given.

    Migration must not be limited. Uplinks stay, whether devices use them or not.
    """
    count = len(instance.capacity)
    if instance.nic:
        own, links = np.concatenate([devices, count + devices]), 2 * count
    else:
        own, links = (devices[:, None] * count + devices).ravel(), count * count
    kept = np.concatenate([own, np.arange(links, len(instance.gap_s))])
    up, down = (
        read_only(np.where(shared < 0, shared, shared + len(own) - links).astype(np.int32))
        for shared in (
            each[devices] if len(each) else each for each in (instance.up, instance.down)
        )
    )
    return instance._replace(
        capacity=instance.capacity[devices],
        cores=instance.cores[devices],
        gap_s=instance.gap_s[kept],
        seconds_per_bit=instance.seconds_per_bit[kept],
        overhead_s=instance.overhead_s[kept],
        up=up,
        down=down,
        allowed=read_only(instance.allowed[:, devices]),
        room=instance.room[devices],
        group_of=instance.group_of[devices],
        class_of=read_only(instance.class_of[devices]),
        overhead_s_per_bit=read_only(instance.overhead_s_per_bit[devices]),
    )


def with_messages(
    instance: Instance, of_ends: Floats | float, of_copies: Floats | float
) -> Instance:
    """Return an instance with a part of its messages, which cost no CPU time.

    Parameters
    ----------
    of_ends, of_copies
        The parts of the messages at each end, (N,), and of those that streams share.
    """
    copies = instance.copies
    return instance._replace(
        tuples=instance.tuples * of_ends,
        bits=instance.bits * of_ends,
        copies=copies._replace(tuples=copies.tuples * of_copies, bits=copies.bits * of_copies),
        taxing=False,
        overhead_s=np.zeros_like(instance.overhead_s),
        overhead_s_per_bit=read_only(np.zeros_like(instance.overhead_s_per_bit)),
    )


def sums_of_units(rows: Floats, unit_of: Ints, units: int) -> Floats:
    """Return the sums of the rows of each unit, (U, columns), for (V, columns)."""
    columns = [np.bincount(unit_of, weights=column, minlength=units) for column in rows.T]
    return np.stack(columns, axis=1) if columns else np.zeros((units, 0))


def largest_of_units(rows: Floats, unit_of: Ints, units: int) -> Floats:
    """Return the largest values of the rows of each unit, (U, columns), for (V, columns)."""
    largest = np.zeros((units, rows.shape[1]))
    np.maximum.at(largest, unit_of, rows)
    return largest


def rivals_of(
    units: int, excluding: Sequence[Sequence[int]], separating: Sequence[Sequence[int]]
) -> tuple[Ints, Ints, Bools]:
    """Return `first_rival`, `rival` and `far` of `Instance`; see `instance`."""
    apart_groups = _pairs(separating)
    rivals = sorted(_pairs(excluding) | apart_groups)
    pairs = np.array(rivals, dtype=np.int32).reshape(-1, 2)
    first = np.searchsorted(pairs[:, 0], np.arange(units + 1)).astype(np.int32)
    far = np.array([pair in apart_groups for pair in rivals], dtype=np.bool_)
    return first, np.ascontiguousarray(pairs[:, 1]), far


def ends_of_units(flow: Flow, unit_of: Ints) -> tuple[Ints, Ints, Ints, Bools]:
    """Return the N ends of streams between different units that carry tuples, grouped by unit.

    These are the index of each unit's first end, (U + 1,); and for each end, (N,), the unit at the
    other end, the stream, and whether it is outgoing.
    """
    source, target = unit_of[flow.source], unit_of[flow.target]
    apart = np.flatnonzero((source != target) & (flow.stream_tuples > 0))
    source, target = source[apart], target[apart]
    first_end, order = by_operator(np.concatenate([source, target]), int(unit_of.max()) + 1)
    other = np.concatenate([target, source])[order]
    return first_end, other, np.tile(apart, 2)[order].astype(np.int32), order < len(apart)


def _pairs(groups: Sequence[Sequence[int]]) -> set[tuple[int, int]]:
    return {(u, v) for group in groups for u in group for v in group if u != v}


@bare
def clash(instance: Instance, i: int, a: int, b: int) -> bool:
    """Return whether the rival at index i must not be on device b if its unit is on device a."""
    clashing: bool = a == b or (instance.far[i] and instance.group_of[a] == instance.group_of[b])
    return clashing


@bare
def has_room(instance: Instance, used: Floats, u: int, d: int) -> bool:
    """Return whether unit u fits on device d, whose units use `used`, (K,) counts."""
    for k in range(instance.room.shape[1]):
        if used[k] + instance.needs[u, k] > instance.room[d, k]:
            return False
    return True


@bare
def work_of_unit(instance: Instance, u: int, d: int) -> float:
    """Return the instructions/s / reference of unit u on device d."""
    if instance.class_work.shape[1] > 0:
        work: float = instance.class_work[u, instance.class_of[d]]
    else:
        work = instance.work[u]
    return work


@bare
def unit_load(instance: Instance, u: int, d: int) -> float:
    """Return the load of unit u's CPU work on device d."""
    return float(work_of_unit(instance, u, d) / instance.capacity[d])


def least_load(instance: Instance) -> Floats:
    """Return the least load of each unit's CPU work on any device, (U,)."""
    if instance.class_work.shape[1]:
        least: Floats = unit_loads(instance).min(axis=1)
        return least
    plain: Floats = instance.work / instance.capacity.max()
    return plain


def least_work(instance: Instance, devices: NDArray[np.integer]) -> Floats:
    """Return the least instructions/s / reference of each unit on some devices, (U,)."""
    if instance.class_work.shape[1]:
        least: Floats = instance.class_work[:, np.unique(instance.class_of[devices])].min(axis=1)
        return least
    return instance.work


def work_on_devices(instance: Instance, on: NDArray[np.integer]) -> Floats:
    """Return the instructions/s / reference of each unit on its device, (U,)."""
    if instance.class_work.shape[1]:
        work: Floats = instance.class_work[np.arange(len(on)), instance.class_of[on]]
        return work
    return instance.work


@bare
def own_load(instance: Instance, u: int, d: int) -> float:
    """Return the largest load of an operator of unit u on the cores of device d that it can use.

    Operators that can use all cores do not count; see `streamplace.sim.work`.
    """
    if instance.class_own.shape[1] > 0:
        own: float = instance.class_own[u, instance.class_of[d]]
        return own
    largest, cores, capacity = 0.0, instance.cores[d], instance.capacity[d]
    for c in range(instance.threads.shape[0]):
        load = of_usable_cores(instance.thread_work[u, c], instance.threads[c], cores, capacity)
        largest = max(largest, load)
    return largest


@bare
def moving_cost(instance: Instance, u: int, d: int) -> float:
    """Return the cost of the moves of unit u's operators if the unit goes to device d."""
    cost = 0.0
    for i in range(instance.first_member[u], instance.first_member[u + 1]):
        v = instance.member[i]
        if instance.current_device[v] >= 0 and instance.current_device[v] != d:
            cost += instance.migration_cost[v]
    return cost


@kernel
def unit_loads(instance: Instance) -> Floats:
    """Return `unit_load` of each unit on each device, (U, D)."""
    loads = np.empty((instance.work.shape[0], instance.capacity.shape[0]))
    for u in range(loads.shape[0]):
        for d in range(loads.shape[1]):
            loads[u, d] = unit_load(instance, u, d)
    return loads


@kernel
def own_loads(instance: Instance) -> Floats:
    """Return `own_load` of each unit on each device, (U, D)."""
    loads = np.empty((instance.work.shape[0], instance.capacity.shape[0]))
    for u in range(loads.shape[0]):
        for d in range(loads.shape[1]):
            loads[u, d] = own_load(instance, u, d)
    return loads


def copies_of_units(flow: Flow, unit_of: Ints, reference: float) -> tuple[Ints, Copies]:
    """Return the unit of each producer, (P,), and its streams with tuples to other units.

    Without multicast, there are none.
    """
    streams = streams_of_units(flow, unit_of)
    producers, count = np.unique(flow.source[streams], return_counts=True)
    copies = Copies(
        np.cumsum([0, *count]).astype(np.int32),
        np.arange(len(streams), dtype=np.int32),
        unit_of[flow.target[streams]],
        flow.stream_tuples[streams] / reference,
        flow.stream_bits[streams] / reference,
    )
    return unit_of[producers], copies


def streams_of_units(flow: Flow, unit_of: Ints) -> Ints:
    """Return the streams of `copies_of_units`, by producer."""
    streams = flow.out_stream
    leaving: Ints = streams[unit_of[flow.source[streams]] != unit_of[flow.target[streams]]]
    return leaving


def shared_streams(home: Ints, copies: Copies, units: int) -> dict[str, Any]:
    """Return the fields of an instance about streams that share messages."""
    producer = np.repeat(np.arange(len(home)), np.diff(copies.first))
    ends = np.concatenate([copies.to, home]).astype(np.int64)
    pairs = np.unique(ends * len(home) + np.concatenate([producer, np.arange(len(home))]))
    unit, use = np.divmod(pairs, max(1, len(home)))
    first_use = np.searchsorted(unit, np.arange(units + 1)).astype(np.int32)
    return {"home": home, "copies": copies, "first_use": first_use, "use": use.astype(np.int32)}
