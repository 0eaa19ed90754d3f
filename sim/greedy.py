"""Greedy placement: each operator goes where the largest utilisation is lowest."""

import numpy as np
from numpy.typing import NDArray

from sim.flow import Columns, Floats, Flow, Ints
from sim.jit import kernel
from sim.links import ends_of, seconds_on, uplinks_of
from sim.threads import own_utilisation


def greedy(flow: Flow, allowed: NDArray[np.bool_], row_of: Ints) -> Ints:
    """Return one placement, (V,) device indices.

    Upstream operators are placed first. Each operator goes to the allowed device for which the
    largest of the utilisations that the choice raises is lowest. Ties go to the smallest sum of
    the increases, then to the first device.

    Parameters
    ----------
    allowed
        (M, D) masks of devices.
    row_of
        (V,) index of each operator's mask.
    """
    last = np.full(flow.operators, -1)
    last[flow.target] = np.arange(len(flow.target))
    order = np.argsort(last, kind="stable").astype(
        np.int32
    )  # by the last incoming stream, a topological order
    by_target = np.argsort(flow.target, kind="stable").astype(np.int32)
    first_in = np.searchsorted(flow.target[by_target], np.arange(flow.operators + 1))
    inputs = (by_target, first_in.astype(np.int32))
    return _greedy(flow.columns, order, *inputs, np.ascontiguousarray(allowed), row_of)


@kernel
def least_loaded(
    on: Ints,
    order: NDArray[np.int64],
    work: Floats,
    allowed: NDArray[np.bool_],
    capacity: Floats,
    load: Floats,
) -> None:
    """Put units in order on the allowed device that is then the least loaded, in place.

    Parameters
    ----------
    on
        (U,) device of each unit; only those in `order` change.
    work
        (U,) instructions/s of each unit.
    allowed
        (U, D); each unit has at least one device.
    capacity, load
        (D,) instructions/s and utilisation of each device; `load` changes.
    """
    for u in order:
        best, lowest = -1, np.inf
        for d in range(capacity.shape[0]):
            after = load[d] + work[u] / capacity[d]
            if allowed[u, d] and (best < 0 or after < lowest):
                best, lowest = d, after
        on[u] = best
        load[best] = lowest


@kernel
def _greedy(
    flow: Columns,
    order: Ints,
    by_target: Ints,
    first_in: Ints,
    allowed: NDArray[np.bool_],
    row_of: Ints,
) -> Ints:
    devices = flow.capacity.shape[0]
    device, link = np.zeros(devices), np.zeros(flow.gap_s.shape[0])
    placement = np.full(order.shape[0], -1, np.int32)
    for v in order:
        inputs = by_target[first_in[v] : first_in[v + 1]]
        best, lowest, least = -1, np.inf, np.inf
        for d in range(devices):
            if allowed[row_of[v], d]:
                highest, added = _raise(flow, placement, v, d, inputs, device, link, 1.0)
                _raise(flow, placement, v, d, inputs, device, link, -1.0)
                if highest < lowest or (highest == lowest and added < least):
                    best, lowest, least = d, highest, added
        placement[v] = best
        _raise(flow, placement, v, best, inputs, device, link, 1.0)
    return placement


@kernel
def _raise(
    flow: Columns,
    placement: Ints,
    v: int,
    b: int,
    inputs: Ints,
    device: Floats,
    link: Floats,
    sign: float,
) -> tuple[float, float]:
    """Add operator v to device b, or remove it (sign -1).

    Returns the largest utilisation of the resources it loads, and the sum of what it adds.
    """
    own = flow.work[v] / flow.capacity[b]
    device[b] += sign * own
    highest, added = 0.0, own
    for e in inputs:
        a = placement[flow.source[e]]
        if a == b:
            continue
        tuples = flow.stream_tuples[e]
        sends, receives = ends_of(flow.nic, device.shape[0], a, b)
        sent = tuples * flow.overhead_s[sends] / flow.cores[a]
        received = tuples * flow.overhead_s[receives] / flow.cores[b]
        device[a] += sign * sent
        device[b] += sign * received
        crossing = tuples * seconds_on(flow, sends, e)
        link[sends] += sign * crossing
        added += sent + received + crossing
        highest = max(highest, device[a], link[sends])
        if flow.nic:
            crossing = tuples * seconds_on(flow, receives, e)
            link[receives] += sign * crossing
            added += crossing
            highest = max(highest, link[receives])
        if flow.up.shape[0] > 0:
            for shared in uplinks_of(flow, a, b):
                if shared >= 0:
                    crossing = tuples * seconds_on(flow, shared, e)
                    link[shared] += sign * crossing
                    added += crossing
                    highest = max(highest, link[shared])
    return max(highest, device[b], own_utilisation(flow, v, b)), added
