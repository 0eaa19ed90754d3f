"""Features of the devices on which the next operator may be placed."""

import numpy as np
from numpy.typing import NDArray

from sim.jit import bare, kernel
from streamplace.policy.partial.costs import Costs
from streamplace.policy.partial.state import Partial, earliest_start
from streamplace.util.arrays import Floats, Ints

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
