"""The device on which an operator of a finished schedule would end first."""

import numpy as np
from numpy.typing import NDArray

from sim.flow import Floats, Ints
from sim.jit import kernel, part
from streamplace.policy.giph.kernels.gp_net import GpNet, Pairs, last_arrival

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
