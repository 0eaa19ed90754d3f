"""The graph of (operator, device) pairs of a placement, its updates, and earliest finish times.

A stream from operator i to operator j owns a block of |D_i| + |D_j| - 1 edges, where D_i are the
devices that may run i. The first |D_i| lead from all pairs of i to the pivot of j, the pair of its
current device. The others lead from the pivot of i to the other pairs of j. A relocation of an
operator rewrites only the blocks of its own streams.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import kernel, part
from streamplace.sim.rules import NOWHERE, Placed, Rules, may_run, put, take_off

EDGE_FEATURES = 4
Bools = NDArray[np.bool_]
SHARPNESS = 10.0  # of the split of an operator's criticality among its streams, as in the code


class Pairs(NamedTuple):
    """The pairs and costs of a problem: V operators, N pairs, E streams, M edges, D devices."""

    order: Ints  # (V,) a topological order
    first: Ints  # (V + 1,) first pair of each operator; its pairs are sorted by device
    operator: Ints  # (N,)
    device: Ints  # (N,)
    source: Ints  # (E,) operators at the ends of the streams, of which no two have equal ends
    target: Ints  # (E,)
    first_in: Ints  # (V + 1,) index of each operator's first input in `inward`
    inward: Ints  # (E,) streams, sorted by target
    first_out: Ints  # (V + 1,)
    outward: Ints  # (E,) streams, sorted by source
    block: Ints  # (E + 1,) first edge of each stream
    size: Floats  # (V,) C, the work of each operator
    speed: Floats  # (D,) SP
    weight: Floats  # (N,) w, the cost of each pair
    data: Floats  # (E,) B, what each stream carries
    bandwidth: Floats  # (D, D) BW; infinity within a device
    delay: Floats  # (D, D) DL; 0 within a device
    counts_delay: bool  # whether a transfer costs its delay, too


class GpNet(NamedTuple):
    """The edges between pairs under a placement."""

    pivot: Ints  # (V,) the pair of each operator's current device
    source: Ints  # (M,) pairs
    target: Ints  # (M,)
    features: Floats  # (M, 4) data, bandwidth, delay and cost of the transfer


def gp_net(pairs: Pairs, devices: Ints) -> GpNet:
    """Return the graph of a placement, (V,).

    Raises
    ------
    ValueError
        If an operator is on a device that is not among its pairs.
    """
    edges = int(pairs.block[-1])
    net = GpNet(
        pivot=np.zeros(len(pairs.order), np.int32),
        source=np.zeros(edges, np.int32),
        target=np.zeros(edges, np.int32),
        features=np.zeros((edges, EDGE_FEATURES)),
    )
    if not _build(pairs, net, np.ascontiguousarray(devices, np.int32)):
        raise ValueError("an operator is on a device that it may not use")
    return net


@kernel
def _build(pairs: Pairs, net: GpNet, devices: Ints) -> bool:
    for v in range(devices.shape[0]):
        pair = pair_of(pairs, v, devices[v])
        if pair < 0:
            return False
        net.pivot[v] = pair
    for e in range(pairs.source.shape[0]):
        _connect(pairs, net, e)
    return True


@kernel
def relocate(pairs: Pairs, net: GpNet, v: int, device: int) -> None:
    """Move an operator to another of its devices and rewrite the blocks of its streams."""
    net.pivot[v] = pair_of(pairs, v, device)
    for i in range(pairs.first_in[v], pairs.first_in[v + 1]):
        _connect(pairs, net, pairs.inward[i])
    for i in range(pairs.first_out[v], pairs.first_out[v + 1]):
        _connect(pairs, net, pairs.outward[i])


@part
def pair_of(pairs: Pairs, v: int, device: int) -> int:
    """Return the pair of an operator and a device, or -1 if there is none."""
    for pair in range(pairs.first[v], pairs.first[v + 1]):
        if pairs.device[pair] == device:
            return pair
    return -1


@part
def transfer(pairs: Pairs, e: int, k: int, m: int) -> float:
    """Return the cost of a stream from device k to device m."""
    if k == m:
        return 0.0
    delay = pairs.delay[k, m] if pairs.counts_delay else 0.0
    return float(delay + pairs.data[e] / pairs.bandwidth[k, m])


@part
def last_input(pairs: Pairs, net: GpNet, finish: Floats, v: int, device: int) -> tuple[int, float]:
    """Return the input of an operator that arrives last at a device, and when; -1, 0 if none."""
    last, arrival = -1, 0.0
    for i in range(pairs.first_in[v], pairs.first_in[v + 1]):
        e = pairs.inward[i]
        u = pairs.source[e]
        at = finish[u] + transfer(pairs, e, pairs.device[net.pivot[u]], device)
        if last < 0 or at > arrival:
            last, arrival = e, at
    return last, arrival


@part
def last_arrival(pairs: Pairs, net: GpNet, finish: Floats, v: int, device: int) -> float:
    """Return when the last input of an operator arrives at a device; 0 without inputs."""
    _, arrival = last_input(pairs, net, finish, v, device)
    return arrival


@part
def _connect(pairs: Pairs, net: GpNet, e: int) -> None:
    """Write the block of a stream."""
    i, j = pairs.source[e], pairs.target[e]
    one, other = net.pivot[i], net.pivot[j]
    at = pairs.block[e]
    for pair in range(pairs.first[i], pairs.first[i + 1]):
        _write(pairs, net, e, at, pair, other)
        at += 1
    for pair in range(pairs.first[j], pairs.first[j + 1]):
        if pair != other:
            _write(pairs, net, e, at, one, pair)
            at += 1


@part
def _write(pairs: Pairs, net: GpNet, e: int, at: int, one: int, other: int) -> None:
    """Write an edge."""
    k, m = pairs.device[one], pairs.device[other]
    net.source[at], net.target[at] = one, other
    net.features[at, 0] = pairs.data[e]
    net.features[at, 1] = pairs.bandwidth[k, m]
    net.features[at, 2] = pairs.delay[k, m]
    net.features[at, 3] = transfer(pairs, e, k, m)


@kernel
def move_unit(rules: Rules, placed: Placed, unit: int, device: int) -> None:
    """Move a unit to a device in the state of the constraints."""
    take_off(rules, placed, unit)
    put(rules, placed, unit, device)


@kernel
def movable(pairs: Pairs, rules: Rules, placed: Placed, pivot: Ints, last: int) -> Bools:
    """Return the pairs to which a unit may move, (N,); none of the unit that moved last."""
    may = np.zeros(pairs.operator.shape[0], np.bool_)
    for v in range(pivot.shape[0]):
        unit = rules.unit_of[v]
        if unit == last:
            continue
        home = take_off(rules, placed, unit)
        for pair in range(pairs.first[v], pairs.first[v + 1]):
            may[pair] = pair != pivot[v] and may_run(rules, placed, unit, pairs.device[pair])
        put(rules, placed, unit, home)
    return may


@kernel
def offered(pairs: Pairs, kind: Ints, devices: Ints) -> Bools:
    """Return the pairs (N,) whose device runs something, or is the first of its kind that is idle.

    Parameters
    ----------
    kind
        (D,) devices of one kind are interchangeable.
    """
    is_used = np.zeros(kind.shape[0], np.bool_)
    for v in range(devices.shape[0]):
        is_used[devices[v]] = True
    first_idle = np.full(kind.shape[0], NOWHERE, np.int32)
    for d in range(kind.shape[0] - 1, -1, -1):
        if not is_used[d]:
            first_idle[kind[d]] = d
    is_offered = np.zeros(pairs.device.shape[0], np.bool_)
    for pair in range(pairs.device.shape[0]):
        d = pairs.device[pair]
        is_offered[pair] = is_used[d] or first_idle[kind[d]] == d
    return is_offered


@kernel
def prior_criticality(pairs: Pairs) -> tuple[Floats, Floats]:
    """Return the criticality of operators, (V,), and of streams, (E,), without a schedule.

    Operators without inputs have 1. An operator passes its criticality on to its streams, in
    proportion to exp(10 B / the largest B), and has the sum of what its inputs pass on.
    """
    operators, streams = np.zeros(pairs.order.shape[0]), np.zeros(pairs.source.shape[0])
    most = 0.0
    for e in range(streams.shape[0]):
        most = max(most, pairs.data[e])
    for i in range(operators.shape[0]):
        v = pairs.order[i]
        if pairs.first_in[v] == pairs.first_in[v + 1]:
            operators[v] = 1.0
        total = 0.0
        for k in range(pairs.first_out[v], pairs.first_out[v + 1]):
            e = pairs.outward[k]
            streams[e] = np.exp(SHARPNESS * pairs.data[e] / most) if most > 0.0 else 1.0
            total += streams[e]
        for k in range(pairs.first_out[v], pairs.first_out[v + 1]):
            e = pairs.outward[k]
            streams[e] *= operators[v] / total
            operators[pairs.target[e]] += streams[e]
    return operators, streams


@kernel
def move_to_path(
    pairs: Pairs, net: GpNet, finish: Floats, share: float, operators: Floats, streams: Floats
) -> tuple[Floats, Floats]:
    """Return criticalities after a share of them has moved to the critical path of a schedule.

    The path ends with the operator that ends last, and goes back to the input that arrived last. A
    criticality c becomes c + share (1 - c) on the path, and (1 - share) c elsewhere.

    Parameters
    ----------
    finish
        (V,) simulated ends of the operators in seconds.
    operators, streams
        (V,) and (E,) criticalities before.
    """
    of_operators, of_streams = (1.0 - share) * operators, (1.0 - share) * streams
    v = int(np.argmax(finish))
    while v >= 0:
        of_operators[v] += share
        last, _ = last_input(pairs, net, finish, v, pairs.device[net.pivot[v]])
        v = -1
        if last >= 0:
            of_streams[last] += share
            v = pairs.source[last]
    return of_operators, of_streams


@kernel
def earliest_pairs(
    pairs: Pairs, net: GpNet, start: Floats, finish: Floats, candidates: Bools, waits: bool
) -> Ints:
    """Return the pair with which each operator alone would end first, (V,); -1 without candidates.

    An operator ends w after its last input arrives, as its sources end when they do now.

    Parameters
    ----------
    start, finish
        (V,) simulated times of the operators in seconds.
    candidates
        (N,) pairs to choose from.
    waits
        Whether it also waits while its device runs another operator.
    """
    best = np.full(start.shape[0], -1, np.int32)
    by_start = np.argsort(start).astype(np.int32)
    for v in range(start.shape[0]):
        least = np.inf
        for pair in range(pairs.first[v], pairs.first[v + 1]):
            if not candidates[pair]:
                continue
            end = last_arrival(pairs, net, finish, v, pairs.device[pair])
            if waits:
                end = _idle(pairs, net, start, finish, by_start, v, pairs.device[pair], end)
            end += pairs.weight[pair]
            if end < least:
                best[v], least = pair, end
    return best


@kernel
def finish_changes(pairs: Pairs, net: GpNet, start: Floats, finish: Floats) -> Floats:
    """Return how much later each operator alone would end with each pair, (N,), in seconds.

    See `earliest_pairs`; operators wait until a device is idle. It is 0 for pivots.
    """
    change = np.zeros(pairs.operator.shape[0])
    by_start = np.argsort(start).astype(np.int32)
    for v in range(start.shape[0]):
        for pair in range(pairs.first[v], pairs.first[v + 1]):
            if pair != net.pivot[v]:
                device = pairs.device[pair]
                at = last_arrival(pairs, net, finish, v, device)
                at = _idle(pairs, net, start, finish, by_start, v, device, at)
                change[pair] = at + pairs.weight[pair] - finish[v]
    return change


@kernel
def least_pairs(pairs: Pairs, potential: Floats, candidates: Bools) -> Ints:
    """Return the candidate with the lowest potential of each operator, (V,); -1 without one.

    The cheapest of several equal ones counts.
    """
    best = np.full(pairs.order.shape[0], -1, np.int32)
    for v in range(best.shape[0]):
        least, cost = np.inf, np.inf
        for pair in range(pairs.first[v], pairs.first[v + 1]):
            value, weight = potential[pair], pairs.weight[pair]
            if candidates[pair] and (value < least or (value == least and weight < cost)):
                best[v], least, cost = pair, value, weight
    return best


@part
def _idle(
    pairs: Pairs,
    net: GpNet,
    start: Floats,
    finish: Floats,
    by_start: Ints,
    v: int,
    device: int,
    at: float,
) -> float:
    """Return the first time from `at` on at which no other operator runs on a device."""
    for i in range(by_start.shape[0]):
        u = by_start[i]
        if start[u] > at:
            break
        if u != v and pairs.device[net.pivot[u]] == device:
            at = max(at, finish[u])
    return at
