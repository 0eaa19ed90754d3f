"""Rewards: what a policy is trained to raise."""

import numpy as np

from sim.engine import Settings
from streamplace.policy.features import EncodedProblem
from streamplace.scoring.throughput import bound, throughput
from streamplace.util.arrays import Floats, Ints

ENGINE_SETTINGS = Settings(duration_s=30.0, measure_from_s=20.0)  # half of what a score takes


def rewards(encoded: EncodedProblem, placements: Ints, kind: str) -> Floats:
    """Return the reward of each placement, (S,), from device indices, (S, V).

    ``relative`` is relative throughput. ``log`` is log(throughput / bound) with the bound of the
    devices' capacity, at most 0; it tells placements apart wherever the source rate overloads all
    of them, and is the logarithm of the largest utilisation's inverse under ``bottleneck``.

    Raises
    ------
    SimulationError
        If a placement has no score.
    """
    problem = encoded.problem
    reached = throughput(problem, placements)
    if kind == "relative":
        return reached / problem.source_rate
    return np.log(np.maximum(reached / bound(problem), 1e-9))
