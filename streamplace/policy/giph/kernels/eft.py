"""The device on which an operator of a finished schedule would end first."""

import numpy as np
from numpy.typing import NDArray

from sim.flow import Floats, Ints
from sim.jit import kernel, part
from streamplace.policy.giph.kernels.gp_net import GpNet, Pairs, last_arrival, last_input

SHARPNESS = 10.0  # of the split of an operator's criticality among its streams, as in the code


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


Bools = NDArray[np.bool_]


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
