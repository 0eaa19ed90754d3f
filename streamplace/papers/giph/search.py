"""The best placement of many episodes of relocations, by any value of placements."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import torch

from streamplace.learning.policy.decoding import Sampler
from streamplace.papers.giph.features import GiphProblem, encode
from streamplace.papers.giph.policy import Giph, GiphWalk
from streamplace.papers.giph.questions import WalkState, destinations, sight_of
from streamplace.papers.giph.sizes import GiphSizes
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats, Ints

AT_ONCE = 32  # episodes whose steps are computed together

Value: TypeAlias = Callable[[Ints, Floats], Floats]
"""The values, (K,), of placements, (K, V), with their losses, (K,)."""


def least_loss(_rows: Ints, losses: Floats) -> Floats:
    """Return the value by which the placement of the least loss is the best."""
    return -losses


class Episodes:
    """Episodes on one problem, all of them from placements of which the best is kept.

    Parameters
    ----------
    policy
        The policy.
    encoded
        The problem, encoded by the policy.
    value
        What is maximised; without it, less loss is better. The policy itself prefers relocations
        that lower the loss.
    seed
        The seed of all random choices.
    """

    def __init__(self, policy: Giph, encoded: GiphProblem, value: Value | None, seed: int) -> None:
        self._policy, self._encoded = policy, encoded
        self._value = least_loss if value is None else value
        self._sampler = Sampler(torch.Generator().manual_seed(seed))
        self._evaluator = evaluator(encoded.problem)

    def best_from(self, start: Ints, steps: int, evaluations: int) -> Ints:
        """Return the best placement, (V,), of episodes that all start from one placement.

        Parameters
        ----------
        start
            (V,) a feasible placement; it is a candidate as well.
        steps
            Relocations of an episode.
        evaluations
            Relocations of all episodes together; the last ones are shorter.
        """
        best, highest = start, -np.inf
        whole, rest = divmod(evaluations, steps)
        lengths = [steps] * whole + [rest] * (rest > 0)
        while lengths:
            count = sum(length == lengths[0] for length in lengths[:AT_ONCE])
            for walk in self._walks(start, lengths[0], count):
                values = self._value(walk.devices, walk.losses)
                which = int(values.argmax())
                if values[which] > highest:
                    best, highest = walk.devices[which], float(values[which])
            del lengths[:count]
        return best

    def repeated(self, start: Ints, steps: int, evaluations: int) -> Ints:
        """Return the best placement, (V,), of episodes that start from the best one so far."""
        best = start
        for done in range(0, evaluations, steps):
            best = self.best_from(best, steps, min(steps, evaluations - done))
        return best

    def _walks(self, start: Ints, steps: int, count: int) -> list[GiphWalk]:
        batch = self._policy.batch([self._encoded])
        rows = np.repeat(start[None, None], count, axis=1)
        made = self._policy.refine(batch, rows, [steps], self._sampler, [self._evaluator])
        assert isinstance(made.record, list), "the record of a policy for relocations"
        return made.record


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
