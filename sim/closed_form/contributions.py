"""The load of one device or link by each stream, with messages that several streams share."""

import numpy as np
from numpy.typing import NDArray

from sim.flow import NONE, Columns, Floats, Flow, Ints, checked
from sim.jit import kernel
from sim.links import ends_of, seconds_on, slot_of, uplinks_of
from sim.messages import charge, copies_of, no_messages


def loads_by_stream(flow: Flow, placement: NDArray[np.integer], resource: int) -> Floats:
    """Return the utilisation of one resource that each stream causes, (E,), at the offered rate.

    A message that serves several streams counts with the first of those to its receiver, or with
    the first of all where its sender pays once for all receivers.

    Parameters
    ----------
    placement
        (V,) device indices.
    resource
        A device d, or D + l for a link l.
    """
    loads = np.zeros(len(flow.source))
    row = checked(flow, placement)[0]
    if flow.multicast == NONE:
        _by_stream(row, flow.columns, resource, loads)
    else:
        _by_message(row, flow.columns, resource, loads)
    return loads


@kernel
def _by_stream(placement: Ints, flow: Columns, resource: int, loads: Floats) -> None:
    devices = flow.capacity.shape[0]
    link = resource - devices
    for e in range(flow.source.shape[0]):
        a, b = placement[flow.source[e]], placement[flow.target[e]]
        if a == b:
            continue
        tuples, bits = flow.stream_tuples[e], flow.stream_bits[e]
        sends, receives = ends_of(flow.nic, devices, a, b)
        if a == resource:
            seconds = tuples * flow.overhead_s[sends] + bits * flow.overhead_s_per_bit[a]
            loads[e] += seconds / flow.cores[a]
        if b == resource:
            seconds = tuples * flow.overhead_s[receives] + bits * flow.overhead_s_per_bit[b]
            loads[e] += seconds / flow.cores[b]
        if slot_of(flow, devices, sends) == link:
            loads[e] += tuples * seconds_on(flow, sends, e)
        elif flow.nic and receives == link:
            loads[e] += tuples * seconds_on(flow, receives, e)
        if flow.up.shape[0] > 0:
            for shared in uplinks_of(flow, a, b):
                if shared >= 0 and shared == link:
                    loads[e] += tuples * seconds_on(flow, shared, e)


@kernel
def _by_message(placement: Ints, flow: Columns, resource: int, loads: Floats) -> None:
    devices, copies = flow.capacity.shape[0], copies_of(flow)
    room = no_messages(devices, flow.gap_s.shape[0])
    for v in range(placement.shape[0]):
        for k in range(charge(flow, copies, v, placement[v], placement, room)):
            if room.resource[k] == resource:
                loads[room.stream[k]] += room.amount[k]
