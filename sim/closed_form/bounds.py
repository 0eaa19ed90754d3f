"""Lower bounds on the largest utilisation of any placement."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.flow import Floats, Flow, Ints
from sim.jit import kernel
from sim.work import cannot_run, class_work, fastest, first_of_classes

ROUNDS = 60  # in which weights of classes of devices are improved
DEEPEST = 3  # largest k of the counting argument


class LeastShares(NamedTuple):
    """Lower bounds on utilisations by CPU work."""

    total: float  # largest utilisation of a device, from the work of all operators together
    alone: Floats  # (V,) utilisation by each operator alone on the device that suits it best
    classes: Floats  # (V, C) utilisation of a device of each class, inf if it cannot run; or C = 0


def least_shares(flow: Flow) -> LeastShares:
    """Return lower bounds on utilisations by CPU work; the first is 0 if there is no work."""
    if not len(flow.timed):
        total = float(flow.work.sum() / flow.capacity.sum())
        return LeastShares(total, flow.work / fastest(flow), np.zeros((flow.operators, 0)))
    first = first_of_classes(flow)
    usable = np.minimum(flow.operator_cores[:, None], flow.cores[first])
    shares = class_work(flow) / flow.capacity[first]
    shares[cannot_run(flow)] = np.inf
    alone = (shares * (flow.cores[first] / usable)).min(axis=1)
    return LeastShares(_balanced(shares, flow.class_of), alone, shares)


def least_of_units(shares: LeastShares, flow: Flow, unit_of: Ints) -> Floats:
    """Return the least instructions/s of each unit, as on the device with the most capacity, (U,).

    Parameters
    ----------
    unit_of
        (V,) unit of each operator; the operators of a unit share a device.
    """
    if not shares.classes.shape[1]:
        return np.bincount(unit_of, weights=flow.work).astype(np.float64)
    columns = [np.bincount(unit_of, weights=column) for column in shares.classes.T]
    least: Floats = np.min(columns, axis=0) * float(flow.capacity.max())
    return least


def _balanced(shares: Floats, class_of: Ints) -> float:
    """Return a lower bound on the largest utilisation, from (V, C) utilisations by operators.

    For any weights of devices that sum to 1, the largest utilisation is at least the weighted mean
    of all, and so at least the sum over operators of their least weighted share. This is the dual
    of spreading operators in parts; weights rise on classes that the operators prefer.
    """
    count = np.bincount(class_of).astype(np.float64)
    weight = np.ones(len(count))
    best = 0.0
    for k in range(ROUNDS):
        weight /= weight @ count
        weighted = shares * weight
        chosen = weighted.argmin(axis=1)
        least = weighted[np.arange(len(chosen)), chosen]
        best = max(best, float(least.sum()))
        if len(count) == 1 or best == 0.0:
            break
        own = shares[np.arange(len(chosen)), chosen]
        load = np.bincount(chosen, weights=own, minlength=len(count)) / count
        weight = weight * np.exp((load / load.max() - 0.5) / (1.0 + 0.5 * k))
    return best


def least_utilisation(flow: Flow, unit_of: Ints, apart: NDArray[np.bool_] | None) -> float:
    """Return a lower bound on the largest utilisation of any placement.

    The bound is the largest of four: total CPU work over total capacity, or more where times depend
    on the class of a device (see `least_load`); the largest operator on the device that suits it
    best; the largest unit on its fastest device; and a counting argument: among the k * D + 1
    heaviest units, k + 1 must share a device. If links count, the
    largest utilisation can be at most u only if every stream stays within a device that would
    otherwise load the best link by more than u, or the best device for one of its ends, which also
    sends or receives its messages. The ends of such a stream are then one unit, to which the same
    bounds apply. The result is the smallest u that is consistent with the bounds that follow from
    it, or more if a stream has to leave its device.

    Parameters
    ----------
    unit_of
        (V,) unit of each operator; the operators of a unit share a device.
    apart
        (E,) whether the ends of each stream never share a device. None: links do not count, because
        an overloaded link does not throttle all sources, as under ``path-average``.
    """
    shares = least_shares(flow)
    crowded = _crowded(flow, least_of_units(shares, flow, unit_of))
    least = max(shares.total, float(shares.alone.max()), crowded)
    if apart is None or not len(flow.source) or flow.devices == 1:
        return least
    crossing = np.maximum(_least_crossing(flow), _least_at_ends(flow, shares))
    least = max(least, float(crossing[apart].max(initial=0.0)))
    order = np.argsort(-crossing, kind="stable").astype(np.int32)
    order = order[crossing[order] > least]
    # with the i heaviest streams kept within devices: max(their bound, heaviest crossing stream)
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        inside = _bound_within(flow, shares, unit_of, order[:middle])
        if inside >= crossing[order[middle]]:
            high = middle
        else:
            low = middle + 1
    tried = [_bound_within(flow, shares, unit_of, order[:low])]
    if low > 0:
        inside = _bound_within(flow, shares, unit_of, order[: low - 1])
        tried.append(max(inside, crossing[order[low - 1]]))
    return max(least, float(min(tried)))


def _bound_within(flow: Flow, shares: LeastShares, unit_of: Ints, streams: Ints) -> float:
    """Return the bound if each of these streams stays within a device."""
    unit = _joined(unit_of, flow.source[streams], flow.target[streams])
    return _crowded(flow, least_of_units(shares, flow, unit))


def _crowded(flow: Flow, work: Floats) -> float:
    """Return the counting bound over the k * D + 1 heaviest units, k = 0, …, `DEEPEST`."""
    devices, fastest = flow.devices, float(flow.capacity.max())
    top = min(len(work), DEEPEST * devices + 1)
    heaviest = -np.sort(-np.partition(work, len(work) - top)[len(work) - top :])
    found = 0.0
    for k in range(DEEPEST + 1):
        if k * devices < len(heaviest):
            found = max(found, float(heaviest[k * devices - k : k * devices + 1].sum()))
    return found / fastest


def _least_crossing(flow: Flow) -> Floats:
    """Return the smallest utilisation of any link by each stream that leaves a device, (E,).

    With multicast, the message that serves a stream has at least its tuples and bits.
    """
    between = _between_devices(flow)
    own = slice(flow.own_links)  # streams within a group need no uplink
    gap, per_bit = flow.gap_s[own][between].min(), flow.seconds_per_bit[own][between].min()
    crossing: Floats = flow.stream_tuples * gap + flow.stream_bits * per_bit
    return crossing


def _between_devices(flow: Flow) -> NDArray[np.bool_]:
    """Return which of the devices' own links lead to another device, (L,) bool."""
    between = np.ones(flow.own_links, dtype=np.bool_)
    if not flow.nic:
        between = ~np.eye(flow.devices, dtype=np.bool_).ravel()
    return between


def _least_at_ends(flow: Flow, shares: LeastShares) -> Floats:
    """Return the least utilisation of a device at either end of a stream that leaves one, (E,).

    It is that of the operator at that end and of the CPU time of the stream's messages.
    """
    if not flow.taxing:
        return np.zeros(len(flow.source))
    per_bit = flow.overhead_s_per_bit
    per_tuple = float(flow.overhead_s[: flow.own_links][_between_devices(flow)].min())
    if shares.classes.shape[1]:
        groups = [np.flatnonzero(flow.class_of == c) for c in range(shares.classes.shape[1])]
        works = list(shares.classes.T)
    else:
        groups = [np.arange(flow.devices)]
        works = [flow.work / flow.capacity.max()]
    of_ends: list[list[Floats]] = [[], []]
    for group, work in zip(groups, works, strict=True):
        costs = flow.stream_tuples * (per_tuple / flow.cores[group].max())
        costs += flow.stream_bits * (per_bit[group] / flow.cores[group]).min()
        of_ends[0].append(work[flow.source] + costs)
        of_ends[1].append(work[flow.target] + costs)
    least: Floats = np.max([np.min(loads, axis=0) for loads in of_ends], axis=0)
    return least


@kernel
def _joined(unit_of: Ints, source: Ints, target: Ints) -> Ints:
    """Return units, (V,), merging those that a stream joins; numbers may have gaps."""
    leader = np.arange(unit_of.max() + 1)
    for e in range(source.shape[0]):
        a, b = unit_of[source[e]], unit_of[target[e]]
        while leader[a] != a:
            leader[a] = leader[leader[a]]
            a = leader[a]
        while leader[b] != b:
            leader[b] = leader[leader[b]]
            b = leader[b]
        leader[a] = b
    unit = np.empty(unit_of.shape[0], np.int32)
    for v in range(unit.shape[0]):
        a = unit_of[v]
        while leader[a] != a:
            leader[a] = leader[leader[a]]
            a = leader[a]
        unit[v] = a
    return unit
