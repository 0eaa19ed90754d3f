"""Single episodes on many problems, with the lowest loss after each step and their CPU time."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from streamplace.learning.policy.base import Refiner
from streamplace.learning.policy.decoding import Sampler
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats, Ints

AT_ONCE = 20  # problems whose steps are computed together


@dataclass(frozen=True, eq=False)
class Episode:
    """An episode of T steps on one problem.

    Parameters
    ----------
    lowest
        (T + 1,) the lowest loss so far, that of the start first.
    best
        (V,) the best placement.
    cpu_s
        CPU seconds of its steps.
    """

    lowest: Floats
    best: Ints
    cpu_s: float


def episodes(
    policy: Refiner[Any, Any],
    problems: Sequence[Problem],
    starts: Sequence[Ints],
    per_operator: float,
    seed: int,
) -> list[Episode]:
    """Return an episode of random choices on each problem.

    Parameters
    ----------
    starts
        (V,) the feasible placement of each problem from which its episode starts.
    per_operator
        Steps per operator.
    """
    encoded = [policy.encode(problem) for problem in problems]
    by_size = sorted(range(len(problems)), key=lambda number: -encoded[number].size)
    made: dict[int, Episode] = {}
    for first in range(0, len(by_size), AT_ONCE):
        part = by_size[first : first + AT_ONCE]
        batch = policy.batch([encoded[number] for number in part])
        steps = [round(per_operator * one.size) for one in batch.encoded]
        rows = np.full((len(part), 1, int(batch.sizes[0])), -1, np.int32)
        for row, number in enumerate(part):
            rows[row, 0, : len(starts[number])] = starts[number]
        scored = [evaluator(problems[number]) for number in part]
        own = np.random.SeedSequence([seed, first]).generate_state(1)
        sampler = Sampler(torch.Generator().manual_seed(int(own[0])))
        begun = time.process_time()
        found = policy.refine(batch, rows, steps, sampler, scored)
        a_step = (time.process_time() - begun) / sum(steps)
        assert found.losses is not None, "refiners return losses"
        assert found.best is not None, "and the best placements"
        for row, number in enumerate(part):
            lowest = np.minimum.accumulate(found.losses[row, 0, : steps[row] + 1])
            best = found.best[row, 0, : len(starts[number])]
            made[number] = Episode(lowest, best, a_step * steps[row])
    return [made[number] for number in range(len(problems))]
