"""Training of the study's policies, and what their episodes reach."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch

from streamplace.placers.registry import make_placer
from streamplace.policy.base import Refiner
from streamplace.policy.config import GiphSizes, PlacetoSizes
from streamplace.policy.decoding import Sampler
from streamplace.policy.giph.policy import Giph
from streamplace.policy.placeto.network import Placeto
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.studies.giph.registered import PAPER_TRAINED, PLACETO, SYSTEMS
from streamplace.studies.seeds import seed_of
from streamplace.training import trials
from streamplace.training.in_memory import fit
from streamplace.training.stages import OptimiserSection, StepReinforceStage
from streamplace.util.arrays import Floats, Ints

AnyRefiner: TypeAlias = Refiner[Any, Any]
PAPER_EPISODES = 200
AT_ONCE = 20  # problems whose steps are computed together

GROUPED = StepReinforceStage(
    algorithm="reinforce-steps",
    epochs=1,
    start="random",
    restart="anew",
    evaluate_every=0,
    baseline="samples",
    samples=2,
    discount=0.97,
    entropy=0.0,
    optimiser=OptimiserSection(rate=0.01, final_rate=0.001),
)
"""Our training: the fall of the log of the makespan, against other episodes from the same start."""

PUBLISHED = GROUPED.model_copy(
    update={
        "baseline": "steps",
        "samples": 1,
        "step_reward": "loss",
        "discounts_gradient": True,
        "optimiser": OptimiserSection(rate=0.01),
    }
)
"""The paper's training."""


@dataclass(frozen=True, eq=False)
class Walked:
    """An episode on one problem.

    Parameters
    ----------
    lowest
        (T + 1,) the lowest loss so far, that of the start first.
    best
        (V,) the best placement.
    """

    lowest: Floats
    best: Ints

    def after(self, per_operator: Sequence[float]) -> list[float]:
        """Return the lowest loss after some evaluations per operator, the start not counted."""
        last, operators = len(self.lowest) - 1, len(self.best)
        return [float(self.lowest[min(last, round(n * operators))]) for n in per_operator]


def trained(
    system: str, problems: Sequence[Problem], epochs: int, samples: int, seed: int
) -> AnyRefiner:
    """Return a trained policy."""
    torch.manual_seed(seed)
    policy = _new(SYSTEMS[system])
    if system == PAPER_TRAINED:
        stage, problems = PUBLISHED, problems[:PAPER_EPISODES]
        epochs = max(1, PAPER_EPISODES // len(problems)) if epochs > 1 else 1
    elif system == PLACETO:
        stage = trials.PUBLISHED.model_copy(update={"start": "random", "restart": "anew"})
    else:
        stage = GROUPED.model_copy(update={"samples": samples})
    fit(
        policy, problems, [stage.model_copy(update={"epochs": epochs})], np.random.default_rng(seed)
    )
    return policy


def _new(sizes: GiphSizes | PlacetoSizes) -> AnyRefiner:
    return Giph(sizes) if isinstance(sizes, GiphSizes) else Placeto(sizes)


def random_starts(problems: Sequence[Problem], seed: int) -> list[Ints]:
    """Return the random placement of each problem, (V,), from which all systems start."""
    rngs = (np.random.default_rng([seed, number]) for number in range(len(problems)))
    made = zip(problems, rngs, strict=True)
    return [make_placer("random")(problem, rng).devices for problem, rng in made]


def walked(
    policy: AnyRefiner, problems: Sequence[Problem], starts: Sequence[Ints], steps: float, seed: int
) -> tuple[list[Walked], float]:
    """Return an episode on each problem, and the CPU seconds of a step.

    Parameters
    ----------
    starts
        (V,) the placement of each problem from which its episode starts.
    steps
        Steps per operator.
    """
    encoded = [policy.encode(problem) for problem in problems]
    by_size = sorted(range(len(problems)), key=lambda number: -encoded[number].size)
    found: dict[int, Walked] = {}
    spent = 0.0
    for first in range(0, len(by_size), AT_ONCE):
        part = by_size[first : first + AT_ONCE]
        batch = policy.batch([encoded[number] for number in part])
        count = [round(steps * one.size) for one in batch.encoded]
        start = np.full((len(part), 1, int(batch.sizes[0])), -1, np.int32)
        for row, number in enumerate(part):
            start[row, 0, : len(starts[number])] = starts[number]
        scored = [evaluator(problems[number]) for number in part]
        sampler = Sampler(torch.Generator().manual_seed(seed_of(seed, first)))
        begun = time.process_time()
        made = policy.refine(batch, start, count, sampler, scored)
        spent += time.process_time() - begun
        assert made.losses is not None, "refiners return losses"
        assert made.best is not None, "and the best placements"
        for row, number in enumerate(part):
            lowest = np.minimum.accumulate(made.losses[row, 0, : count[row] + 1])
            found[number] = Walked(lowest, made.best[row, 0, : len(starts[number])])
    total = sum(len(one.lowest) - 1 for one in found.values())
    return [found[number] for number in range(len(problems))], spent / total
