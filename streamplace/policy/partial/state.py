"""Partial placements: which operators run where and when, as far as they are placed."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.jit import bare, kernel
from sim.schedule.cores import free_from, keep_cores
from streamplace.policy.partial.costs import Costs
from streamplace.util.arrays import Bools, Floats, Ints

NOWHERE = -1


class Partial(NamedTuple):
    """S partial placements of one problem.

    Under throughput, an operator "starts" at the utilisation that its device had before, and "ends"
    at the one with it; `free` is the utilisation of each device.
    """

    device: Ints  # (S, V) device of each operator, or -1
    start: Floats  # (S, V)
    end: Floats  # (S, V)
    load: Floats  # (S, D) work on each device
    free: Floats  # (S, C) end of the last operator on each core, with its rest, sorted by device
    into: Floats  # (S, D) cost of the streams that enter each device
    out_of: Floats  # (S, D) cost of the streams that leave each device
    waiting: Ints  # (S, V) number of inputs that are not placed
    candidate: Bools  # (S, V) whether an operator is not placed, but all its inputs are


def nothing_placed(costs: Costs, samples: int) -> Partial:
    """Return S placements without any operator."""
    operators, devices = costs.seconds.shape
    inputs = np.diff(costs.first_in)
    waiting = np.tile(inputs, (samples, 1)).astype(np.int32)
    return Partial(
        device=np.full((samples, operators), NOWHERE, np.int32),
        start=np.zeros((samples, operators)),
        end=np.zeros((samples, operators)),
        load=np.zeros((samples, devices)),
        free=np.zeros((samples, int(costs.first_core[-1]))),
        into=np.zeros((samples, devices)),
        out_of=np.zeros((samples, devices)),
        waiting=waiting,
        candidate=waiting == 0,
    )


@kernel
def put_next(
    costs: Costs, partial: Partial, operators: Ints, devices: Ints, from_load: bool
) -> None:
    """Place an operator, (S,), on a device, (S,), in each placement.

    Parameters
    ----------
    from_load
        Whether operators start when their device has done all of its work, so that waits are
        ignored, as in DOPPLER's released code.
    """
    for s in range(operators.shape[0]):
        v, d = operators[s], devices[s]
        start = partial.load[s, d]
        if not from_load:
            start = earliest_start(costs, partial, s, v, d)
        partial.device[s, v], partial.start[s, v] = d, start
        partial.end[s, v] = start + costs.seconds[v, d]
        partial.load[s, d] += costs.seconds[v, d]
        rest = costs.rest[d] if costs.seconds[v, d] > 0.0 else 0.0
        released = partial.end[s, v] + rest
        keep_cores(partial.free[s], costs.first_core, d, costs.cores[v], released)
        partial.candidate[s, v] = False
        for i in range(costs.first_in[v], costs.first_in[v + 1]):
            e = costs.inward[i]
            a = partial.device[s, costs.source[e]]
            cost = message(costs, e, a, d)
            partial.into[s, d] += cost
            partial.out_of[s, a] += cost
        for i in range(costs.first_out[v], costs.first_out[v + 1]):
            w = costs.target[costs.outward[i]]
            partial.waiting[s, w] -= 1
            partial.candidate[s, w] = partial.waiting[s, w] == 0


@bare
def message(costs: Costs, e: int, a: int, b: int) -> float:
    """Return the cost of a stream from device a to device b; 0 within a device."""
    if a == b or costs.silent[e]:
        return 0.0
    return float(costs.amount[e] * costs.per_amount[a, b] + costs.per_message[a, b])


@bare
def earliest_start(costs: Costs, partial: Partial, s: int, v: int, d: int) -> float:
    """Return when operator v can start on device d: its cores are free and its inputs are there.

    Under throughput, it is the utilisation of the device.
    """
    moment = free_from(partial.free[s], costs.first_core, d, costs.cores[v])
    if costs.is_pass:
        for i in range(costs.first_in[v], costs.first_in[v + 1]):
            e = costs.inward[i]
            u = costs.source[e]
            arrival = partial.end[s, u] + message(costs, e, partial.device[s, u], d)
            moment = max(moment, arrival)
    return float(moment)


OF_PASS = (
    "load",  # work on the device
    "inputs",  # work of the operator's inputs on the device
    "first start",  # the earliest start of these inputs; 0 without any
    "last end",  # their latest end; 0 without any
    "earliest start",  # of the operator on the device
    "own",  # the operator's time on the device
)
OF_FLOW = (
    "used",  # utilisation of the device
    "inputs",  # utilisation of the device by the operator's inputs
    "into",  # utilisation of links by the streams that enter the device
    "out of",  # utilisation of links by the streams that leave it
    "then",  # utilisation of the device with the operator
    "own",  # utilisation of the device by the operator
)
OF_DEVICE = len(OF_PASS)
BEST = OF_PASS.index("earliest start")
"""The feature whose lowest value a rule prefers: the earliest start, or the least utilisation."""
TINY = 1e-6  # differences that count as none, relative to the mean cost of an operator

Single = NDArray[np.float32]


@kernel
def device_features(costs: Costs, partial: Partial, operators: Ints, features: Floats) -> None:
    """Fill in the features of all devices, (S, D, 6), for another operator, (S,), per placement.

    They are `OF_PASS` in seconds, or `OF_FLOW`.
    """
    for s in range(operators.shape[0]):
        v = operators[s]
        features[s] = 0.0
        for d in range(features.shape[1]):
            out = features[s, d]
            out[0], out[5] = partial.load[s, d], costs.seconds[v, d]
            if costs.is_pass:
                out[4] = earliest_start(costs, partial, s, v, d)
            else:
                out[2], out[3] = partial.into[s, d], partial.out_of[s, d]
                out[4] = partial.load[s, d] + costs.seconds[v, d]
        _describe_inputs(costs, partial, s, v, features[s])


@bare
def _describe_inputs(costs: Costs, partial: Partial, s: int, v: int, features: Floats) -> None:
    """Fill in what depends on the devices of the inputs of operator v."""
    for i in range(costs.first_in[v], costs.first_in[v + 1]):
        u = costs.source[costs.inward[i]]
        d = partial.device[s, u]
        is_again = False
        for j in range(costs.first_in[v], i):
            is_again = is_again or costs.source[costs.inward[j]] == u
        if is_again:
            continue
        is_first = True
        for j in range(costs.first_in[v], i):
            is_first = is_first and partial.device[s, costs.source[costs.inward[j]]] != d
        out = features[d]
        out[1] += costs.seconds[u, d]
        if costs.is_pass:
            out[2] = partial.start[s, u] if is_first else min(out[2], partial.start[s, u])
            out[3] = max(out[3], partial.end[s, u])


def among_devices(features: Floats, unit: float) -> Single:
    """Return features, (S, D, F), relative to those of the other devices: their z-scores.

    Parameters
    ----------
    unit
        The size of the values; deviations that are tiny in comparison count as none.
    """
    above = features - features.mean(axis=1, keepdims=True)
    spread = np.sqrt((above**2).mean(axis=1, keepdims=True))
    scores: Single = (above / (spread + TINY * unit)).astype(np.float32)
    return scores
