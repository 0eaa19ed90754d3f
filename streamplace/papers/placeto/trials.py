"""Independent trainings of Placeto, each on one problem, as in the study of traversal orders."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from streamplace.errors import UsageError
from streamplace.execution.backends import LOCAL, Backend
from streamplace.execution.parallel import each
from streamplace.learning.policy.registry import PolicySection
from streamplace.learning.policy.weights import new_policy
from streamplace.learning.training.in_memory import fit
from streamplace.learning.training.stages import Stage, StepReinforceStage
from streamplace.papers.placeto import features
from streamplace.papers.placeto.policy import NO_WEIGHTS, take, uniform_draws, walk_from
from streamplace.papers.placeto.sizes import PlacetoSizes
from streamplace.papers.placeto.stage import PlacetoStage
from streamplace.placers.running import run_placer
from streamplace.problem.objectives import check_order
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats
from streamplace.util.threads import one_thread

EPISODES = 50
PUBLISHED = PlacetoStage.of(
    {
        "algorithm": "placeto",
        "epochs": EPISODES,
        "optimiser": {"rate": 1e-3, "largest_gradient": 1.25},
    }
)
"""The stage of the study: 50 sweeps, of which every fifth only evaluates."""
WHOLE = PUBLISHED.changed(
    epochs=4000,
    exploration=0.5,
    final_exploration=0.0,
    entropy=1e-2,
    final_entropy=0.0,
    optimiser={
        "rate": 1e-3,
        "final_rate": 1e-6,
        "schedule": "linear",
        "largest_gradient": 1.25,
    },
)
"""A whole training of Placeto with the settings by which DOPPLER was compared with it."""


@dataclass(frozen=True)
class Trial:
    """One training, or one control.

    Parameters
    ----------
    problem
        The problem; it may have any objective.
    order
        The traversal order of sweeps; see `scoring.orders`.
    seed
        Seed of the parameters, of all random choices, and of the order `random`.
    uniform
        Whether all choices are uniformly random, as a control: every sweep then starts from the
        best placement so far, and nothing is learned.
    sizes
        Other sizes of the policy, by name; see `papers.placeto.sizes.PlacetoSizes`.
    """

    problem: Problem
    order: str = "topo-level"
    seed: int = 0
    uniform: bool = False
    sizes: tuple[tuple[str, int], ...] = ()


def run_trials(
    trials: Sequence[Trial],
    stage: StepReinforceStage = PUBLISHED,
    *,
    jobs: int | None = None,
    backend: Backend = LOCAL,
) -> Iterator[Floats]:
    """Yield the lowest loss after each sweep of each trial, (E,), in the order of the trials.

    The loss of a makespan is in seconds. Results do not depend on `jobs` or `backend`, nor on the
    other trials. A sweep makes one evaluation per operator.

    Parameters
    ----------
    stage
        How to train; E is its `epochs`.
    jobs, backend
        Number of processes, and where they run.

    Raises
    ------
    UsageError
        If an order is unknown.
    """
    work = partial(run_trial, stage=stage)
    return each(work, list(trials), jobs, backend, items_per_process=1)


def at_checkpoints(losses: Floats, sweeps: Sequence[int]) -> Floats:
    """Return the lowest loss after 1-based numbers of sweeps, (C,), from those after each, (E,).

    Raises
    ------
    UsageError
        If there are not as many sweeps.
    """
    for count in sweeps:
        if not 1 <= count <= len(losses):
            raise UsageError(f"sweeps: must be 1 to {len(losses)} (got {count})")
    chosen: Floats = losses[np.array(sweeps) - 1]
    return chosen


def run_trial(
    trial: Trial, stage: StepReinforceStage = PUBLISHED, before: Sequence[Stage] = ()
) -> Floats:
    """Return the lowest loss after each sweep of one trial, (E,); see `run_trials`.

    Parameters
    ----------
    before
        Stages of training before it, such as imitation.
    """
    check_order(trial.order)
    devices = len(trial.problem.cluster.devices)
    own = {"devices": devices, "order": trial.order, "order_seed": trial.seed, **dict(trial.sizes)}
    sizes = PlacetoSizes.model_validate(own)
    with one_thread():  # trials run in processes of their own
        if trial.uniform:
            return _uniform(trial, sizes, stage)
        policy = new_policy(PolicySection(kind="placeto", sizes=sizes), trial.seed)
        stages = [*before, stage]
        fitted = fit(policy, [trial.problem], stages, np.random.default_rng(trial.seed))
        losses: Floats = np.exp(-fitted.best_rewards[-stage.epochs :, 0])
        return losses


def _uniform(trial: Trial, sizes: PlacetoSizes, stage: StepReinforceStage) -> Floats:
    """Return the lowest loss after each sweep with uniformly random devices, (E,)."""
    one, scored = features.encode(trial.problem, sizes), evaluator(trial.problem)
    rng = np.random.default_rng(trial.seed)
    generator = torch.Generator().manual_seed(trial.seed)
    best = run_placer(trial.problem, stage.start, rng).placement.devices
    lowest = np.empty(stage.epochs)
    for number in range(stage.epochs):
        walk = walk_from(one, best, one.size, None)
        draws = uniform_draws(generator, one.size, sizes.devices)
        take(one, NO_WEIGHTS, walk, draws, scored)
        best = walk.devices[int(walk.losses.argmin())]
        lowest[number] = walk.losses.min()
    return lowest
