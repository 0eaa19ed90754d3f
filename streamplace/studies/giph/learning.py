"""Training of the study's policies, and where their episodes start."""

from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np

from streamplace.placers.registry import make_placer
from streamplace.policy.base import Refiner, refiner
from streamplace.policy.fresh import new_policy
from streamplace.problem.problem import Problem
from streamplace.studies.giph.registered import PAPER_TRAINED, PLACETO, SYSTEMS
from streamplace.training import trials
from streamplace.training.in_memory import fit
from streamplace.training.stages import OptimiserSection, StepReinforceStage
from streamplace.util.arrays import Floats, Ints

PAPER_EPISODES = 200

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
        "baseline": "earlier-steps",
        "samples": 1,
        "step_reward": "loss",
        "discounts_gradient": True,
        "optimiser": OptimiserSection(rate=0.01),
    }
)
"""The paper's training."""

OF_PLACETO = GROUPED.model_copy(update={"optimiser": trials.PUBLISHED.optimiser})
"""Our training with Placeto's own rate and clipping.

Its published baseline is a mean over past episodes of the same problem. In a single pass over the
cases there are none, and every advantage would be 0.
"""


def stage_of(system: str, samples: int) -> StepReinforceStage:
    """Return how a system is trained; the paper's training has one episode per update."""
    if system == PAPER_TRAINED:
        return PUBLISHED
    stage = OF_PLACETO if system == PLACETO else GROUPED
    return stage.model_copy(update={"samples": samples})


def episodes_of_paper(problems: Sequence[Problem], epochs: int) -> list[Problem]:
    """Return the problem of each episode of the paper's training, 200 unless there are fewer.

    Parameters
    ----------
    epochs
        Passes over the problems that the other systems make.
    """
    return list(islice(cycle(problems), min(PAPER_EPISODES, epochs * len(problems))))


def trained(
    system: str, problems: Sequence[Problem], epochs: int, samples: int, seed: int
) -> Refiner[Any, Any]:
    """Return a trained policy.

    Parameters
    ----------
    epochs
        Passes over the problems.
    samples
        Episodes per update.
    """
    if system == PAPER_TRAINED:
        problems, epochs = episodes_of_paper(problems, epochs), 1
    policy = refiner(new_policy(SYSTEMS[system], seed))
    stages = [stage_of(system, samples).model_copy(update={"epochs": epochs})]
    fit(policy, problems, stages, np.random.default_rng(seed))
    return policy


def random_starts(problems: Sequence[Problem], seed: int, first: int = 0) -> list[Ints]:
    """Return the random placement of each problem, (V,), from which all systems start.

    Parameters
    ----------
    first
        Number of the first problem.
    """
    rngs = (np.random.default_rng([seed, first + i]) for i in range(len(problems)))
    made = zip(problems, rngs, strict=True)
    return [make_placer("random")(problem, rng).devices for problem, rng in made]


def at_checkpoints(lowest: Floats, operators: int, per_operator: Sequence[float]) -> list[float]:
    """Return the lowest loss after some evaluations per operator, the start not counted."""
    last = len(lowest) - 1
    return [float(lowest[min(last, round(n * operators))]) for n in per_operator]
