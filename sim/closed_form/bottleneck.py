"""Closed form with backpressure: the largest utilisation throttles all sources equally.

throughput = source rate * min(1, 1 / largest utilisation of a device, link or operator), where
operators have a utilisation of their own on devices with more cores than they can use.
"""

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.closed_form.bounds import least_shares
from streamplace.sim.flow import NONE, Columns, Floats, Flow, Ints, as_rows, checked
from streamplace.sim.jit import bare, inner, kernel
from streamplace.sim.links import add_load, load_ends
from streamplace.sim.messages import charge, copies_of, no_messages
from streamplace.sim.work import largest_own, raise_to_own, work_on

# Several hide the latency of adding to one device; how many is a guess.
LANES = 4  # placements scored together
NOTHING = 1e-100  # smaller utilisations count as 0, because dividing by them may overflow
U = np.uint64  # unsigned indices avoid numba's check for negative ones


def throughput(flow: Flow, placements: NDArray[np.integer]) -> Floats:
    """Return the throughput of each placement, (K,) tuples/s at the sources."""
    return flow.source_rate / np.maximum(1.0, worst_utilisation(flow, placements))


def worst_utilisation(flow: Flow, placements: NDArray[np.integer]) -> Floats:
    """Return the largest utilisation of any device, link or operator, (K,), at the offered rate.

    Parameters
    ----------
    placements
        (K, V) device indices; (V,) counts as K = 1.

    Raises
    ------
    ValueError
        If `placements` does not fit the flow or names an unknown device.
    """
    rows = as_rows(flow, placements)
    worst = np.empty(len(rows))
    if len(rows) < LANES or flow.pair_weights is None:
        _worst_general(checked(flow, rows), flow.columns, worst)
        return worst
    unsigned = rows.view(f"u{rows.itemsize}")  # a negative entry becomes one that is too large
    streams = (flow.source, flow.target, *flow.pair_weights)
    if not _worst_pair(unsigned, flow.work, *streams, flow.devices, worst):
        checked(flow, rows)
    if flow.limits_operators:
        raise_to_own(checked(flow, rows), flow.columns, worst)
    return worst


def lowest_utilisation(flow: Flow) -> float:
    """Return a lower bound on the largest utilisation of any placement.

    max(total CPU / total capacity, largest utilisation of an operator that is alone on the device
    that suits it best); 1 if there is practically no work.
    """
    shares = least_shares(flow)
    lowest = max(shares.total, float(shares.alone.max()))
    return lowest if lowest > NOTHING else 1.0


def utilisations(flow: Flow, placement: NDArray[np.integer]) -> tuple[Floats, Floats]:
    """Return the utilisation of every device, (D,), and link, (L,), at the offered rate.

    Parameters
    ----------
    placement
        (V,) device indices.

    Raises
    ------
    ValueError
        If `placement` does not fit the flow.
    """
    if np.ndim(placement) != 1:
        raise ValueError(f"placement must have shape ({flow.operators},)")
    loads = resource_loads(flow, placement)[0][0]
    return loads[: flow.devices], loads[flow.devices :]


def resource_loads(flow: Flow, placements: NDArray[np.integer]) -> tuple[Floats, Floats]:
    """Return the loads of devices and links under K placements, at the offered rate.

    Parameters
    ----------
    placements
        (K, V) device indices; (V,) counts as K = 1.

    Returns
    -------
    loads
        (K, D + L) utilisations of the devices, then of the links.
    own
        (K,) largest utilisation of the cores that a single operator can use; 0 if each can use all.

    Raises
    ------
    ValueError
        If `placements` does not fit the flow or names an unknown device.
    """
    rows = checked(flow, as_rows(flow, placements))
    loads, own = np.zeros((len(rows), flow.devices + len(flow.gap_s))), np.zeros(len(rows))
    _add_loads(rows, flow.columns, loads, own)
    return loads, own


@kernel
def _add_loads(placements: Ints, flow: Columns, loads: Floats, own: Floats) -> None:
    for k in range(placements.shape[0]):
        add_utilisations(placements[k], flow, loads[k])
        own[k] = largest_own(placements[k], flow)


@inner
def add_utilisations(placement: Ints, flow: Columns, load: Floats) -> None:
    """Add the utilisations of one placement to `load`, of devices and then of links, (D + L,)."""
    if flow.multicast != NONE:
        _add_messages(placement, flow, load)
    else:
        add_streams(placement, flow, load)


@bare
def add_streams(placement: Ints, flow: Columns, load: Floats) -> None:
    """Add the utilisations by operators, and by a message per stream."""
    for v in range(flow.work.shape[0]):
        load[placement[v]] += work_on(flow, v, placement[v]) / flow.capacity[placement[v]]
    for e in range(flow.source.shape[0]):
        a, b = placement[flow.source[e]], placement[flow.target[e]]
        if a != b:
            load_ends(flow, a, b, flow.stream_tuples[e], 1.0, flow.bits[e], add_load, load)


@inner
def _add_messages(placement: Ints, flow: Columns, load: Floats) -> None:
    """Add the utilisations by operators, and by messages that several streams share."""
    copies, room = copies_of(flow), no_messages(flow.capacity.shape[0], flow.gap_s.shape[0])
    for v in range(flow.work.shape[0]):
        load[placement[v]] += work_on(flow, v, placement[v]) / flow.capacity[placement[v]]
    for v in range(flow.work.shape[0]):
        for k in range(charge(flow, copies, v, placement[v], placement, room)):
            load[room.resource[k]] += room.amount[k]


@kernel
def _worst_general(placements: Ints, flow: Columns, worst: Floats) -> None:
    load = np.empty(flow.capacity.shape[0] + flow.gap_s.shape[0])
    for k in range(placements.shape[0]):
        load[:] = 0.0
        if flow.multicast != NONE:
            _add_messages(placements[k], flow, load)
        else:
            add_streams(placements[k], flow, load)
        worst[k] = load.max()
        if flow.limits_operators:
            worst[k] = max(worst[k], largest_own(placements[k], flow))


@kernel
def _worst_pair(
    placements: NDArray[np.unsignedinteger],
    work: Floats,
    source: Ints,
    target: Ints,
    weight: Floats,
    coefficient: Floats,
    devices: int,
    worst: Floats,
) -> bool:
    """Score `LANES` placements or more, `LANES` at a time; return False if a device is unknown.

    A row of `load` holds a placement's devices and its link matrix. The maximum is taken over the
    bit patterns: those of non-negative floats are ordered like integers, which vectorise better.
    """
    count = placements.shape[0]
    operators, size, span = U(placements.shape[1]), U(devices), U(coefficient.shape[0])
    entries = placements.reshape(-1)
    load = np.zeros(LANES * span)
    patterns = load.view(np.int64)
    largest = np.zeros(LANES, np.int64)
    values = largest.view(np.float64)
    for step in range(0, count, LANES):
        first = min(step, count - LANES)  # the last step repeats some placements
        start = U(first) * operators
        highest = entries[start]
        for i in range(start, start + U(LANES) * operators):
            highest = max(highest, entries[i])
        if highest >= size:
            return False
        for v in range(operators):
            for j in range(LANES):
                device = U(entries[start + U(j) * operators + v])
                load[U(j) * span + device] += work[v]
        for e in range(U(source.shape[0])):
            a, b = U(source[e]) + start, U(target[e]) + start
            for j in range(LANES):
                row = U(j) * operators
                pair = U(entries[a + row]) * size + U(entries[b + row])
                load[U(j) * span + size + pair] += weight[e]
        for j in range(LANES):
            row = U(j) * span
            for i in range(span):
                load[row + i] *= coefficient[i]
            top = 0
            for i in range(span):
                top = max(top, patterns[row + i])
            largest[j] = top
        load[:] = 0.0
        for j in range(LANES):
            worst[first + j] = values[j]
    return True
