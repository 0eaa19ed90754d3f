"""Relocations without a network: GiPH's baselines, from any placement."""

import numpy as np

from streamplace.policy.config import GiphSizes
from streamplace.policy.giph.encode import encode
from streamplace.policy.giph.potentials import sight_of
from streamplace.policy.giph.questions import destinations
from streamplace.policy.giph.state import WalkState
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats, Ints


def random_task_eft(
    problem: Problem,
    start: Ints,
    evaluations: int,
    rng: np.random.Generator,
    *,
    waits: bool = True,
) -> tuple[Ints, Floats]:
    """Move random operators, each to the device on which it ends first.

    Under throughput, an operator goes where the largest utilisation is lowest. The operator that
    moved last does not move in the next step.

    Parameters
    ----------
    start
        (V,) the feasible placement to start from.
    evaluations
        T, the number of placements that are scored, at least 1; the start is the first.
    waits
        Whether an operator waits until its device is idle. GiPH's paper ignores that.

    Returns
    -------
    tuple
        The best placement, (V,), and the lowest loss after each evaluation, (T,).

    Raises
    ------
    ValueError
        If there is no evaluation.
    """
    if evaluations < 1:
        raise ValueError(f"evaluations must be at least 1 (got {evaluations})")
    state, scored = WalkState(encode(problem, GiphSizes()), start), evaluator(problem)
    lowest = np.empty(evaluations)
    best, lowest[0] = state.devices.copy(), scored.loss(state.devices)[0]
    for t in range(1, evaluations):
        may, pairs = destinations(state, sight_of(state, scored), waits)
        movable = np.flatnonzero(may)
        if len(movable):
            v = int(movable[rng.integers(len(movable))])
            state.move(v, int(state.one.pairs.device[pairs[v]]))
        else:
            state.stay()
        loss = scored.loss(state.devices)[0]
        if loss < lowest[t - 1]:
            best = state.devices.copy()
        lowest[t] = min(lowest[t - 1], loss)
    return best, lowest
