"""Lower bounds on the largest utilisation of any placement, from the CPU work of operators."""

from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import Floats, Flow, Ints
from streamplace.sim.work import cannot_run, class_work, fastest, first_of_classes

# In which weights of classes of devices are improved; any weights give a valid bound. A guess.
ROUNDS = 60


class LeastShares(NamedTuple):
    """Lower bounds on utilisations by CPU work."""

    total: float  # largest utilisation of a device, from the work of all operators together
    alone: Floats  # (V,) utilisation by each operator alone on the device that suits it best


def least_shares(flow: Flow) -> LeastShares:
    """Return lower bounds on utilisations by CPU work; the first is 0 if there is no work."""
    if not len(flow.timed):
        total = float(flow.work.sum() / flow.capacity.sum())
        return LeastShares(total, flow.work / fastest(flow))
    first = first_of_classes(flow)
    usable = np.minimum(flow.operator_cores[:, None], flow.cores[first])
    shares = class_work(flow) / flow.capacity[first]
    shares[cannot_run(flow)] = np.inf
    alone = (shares * (flow.cores[first] / usable)).min(axis=1)
    return LeastShares(_balanced(shares, flow.class_of), alone)


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
        # Multiplicative weights with steps that fall, so that they settle; the factors are guesses.
        weight = weight * np.exp((load / load.max() - 0.5) / (1.0 + 0.5 * k))
    return best
