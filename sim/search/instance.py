"""The instance of local search: units, the streams between them, and what may run where."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.flow import Floats, Flow, Ints, by_operator

Bools = NDArray[np.bool_]


class Instance(NamedTuple):
    """U units (operators that stay together) on D devices with L links; N ends of streams.

    All loads are divided by `reference`, so that utilisations near the least possible are near 1.
    """

    reference: float  # utilisation
    work: Floats  # (U,) instructions/s / reference
    first_end: Ints  # (U + 1,) where each unit's ends begin
    other: Ints  # (N,) the unit at the other end
    outward: Bools  # (N,) whether the stream leaves the unit
    tuples: Floats  # (N,) tuples/s on the stream / reference
    bits: Floats  # (N,) bit/s on it / reference
    capacity: Floats  # (D,) instructions/s
    cores: Floats  # (D,)
    nic: bool
    gap_s: Floats  # (L,)
    seconds_per_bit: Floats  # (L,)
    overhead_s: Floats  # (L,)
    taxing: bool  # whether crossing costs any device CPU time
    row_of: Ints  # (U,) which mask of devices holds
    allowed: Bools  # (M, D)
    memory: Floats  # (U,) bytes
    room: Floats  # (D,) bytes
    first_rival: Ints  # (U + 1,)
    rival: Ints  # units that must not share a device with it
    first_member: Ints  # (U + 1,)
    member: Ints  # (V,) operators, by unit
    current_device: Ints  # (U,) where the unit runs now and leaves at a cost, or -1
    migration_cost: Floats  # (U,) that cost
    migration_budget: float  # what all units that have moved may cost together


def instance(
    flow: Flow,
    unit_of: Ints,
    reference: float,
    allowed: Bools,
    row_of: Ints,
    memory: Floats,
    room: Floats,
    excluding: Sequence[Sequence[int]] = (),
) -> Instance:
    """Return a flow as local search sees it.

    Parameters
    ----------
    unit_of
        (V,) int32: units are numbered from 0, without gaps.
    reference
        Utilisation that counts as 1.
    allowed, row_of
        (M, D) masks of devices, and which of them holds for each unit, (U,).
    memory, room
        (U,) and (D,) bytes.
    excluding
        Sets of units of which no two may share a device.
    """
    units = int(unit_of.max()) + 1
    source, target = unit_of[flow.source], unit_of[flow.target]
    apart = np.flatnonzero((source != target) & (flow.stream_tuples > 0))
    source, target = source[apart], target[apart]
    first_end, order = by_operator(np.concatenate([source, target]), units)
    rivals = [(u, v) for group in excluding for u in group for v in group if u != v]
    pairs = np.array(sorted(set(rivals)), dtype=np.int32).reshape(-1, 2)
    first_member, member = by_operator(unit_of, units)
    return Instance(
        reference=float(reference),
        work=np.bincount(unit_of, weights=flow.work, minlength=units) / reference,
        first_end=first_end,
        other=np.concatenate([target, source])[order],
        outward=order < len(apart),
        tuples=np.tile(flow.stream_tuples[apart] / reference, 2)[order],
        bits=np.tile(flow.stream_bits[apart] / reference, 2)[order],
        capacity=flow.capacity,
        cores=flow.cores,
        nic=flow.nic,
        gap_s=flow.gap_s,
        seconds_per_bit=flow.seconds_per_bit,
        overhead_s=flow.overhead_s,
        taxing=bool(flow.overhead_s.any()),
        row_of=row_of.astype(np.int32),
        allowed=np.ascontiguousarray(allowed),
        memory=memory,
        room=room,
        first_rival=np.searchsorted(pairs[:, 0], np.arange(units + 1)).astype(np.int32),
        rival=np.ascontiguousarray(pairs[:, 1]),
        first_member=first_member,
        member=member,
        current_device=np.full(units, -1, np.int32),
        migration_cost=np.zeros(units),
        migration_budget=np.inf,
    )
