"""Plain placers on the held-out problems, with whose rewards those of a policy are compared."""

from collections.abc import Sequence

import numpy as np

from streamplace.errors import StreamplaceError
from streamplace.learning.training.algorithms.base import Record
from streamplace.learning.training.rewards import Rewards
from streamplace.learning.training.stages import Stage
from streamplace.placers.base import BasePlacer
from streamplace.placers.registry import ready
from streamplace.placers.running import run_placer
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import CLOSED_FORMS

PLACERS = {"metis": "metis", "heft": "heft", "search": "search:evaluations=4000"}
"""The placers by name; those that do not place under an objective are left out."""


def baselines(held_out: Sequence[Problem], stage: Stage) -> Record:
    """Return the mean reward of each placer, as ``validation_metis``, in the unit of a stage.

    Placers see the problems' own model, or ``bottleneck`` in place of the engine, under which a
    search takes minutes. A placer that fails on a problem is left out.
    """
    rewards = Rewards(held_out, stage.reward, stage.model)
    seen = [_in_closed_form(problem) for problem in held_out]
    found: Record = {}
    for name, text in PLACERS.items():
        placer = ready(text).placer
        assert isinstance(placer, BasePlacer), "built-in placers are"
        if not all(map(placer.supports, seen)):
            continue
        rng, reached = np.random.default_rng(0), []
        try:
            for number, problem in enumerate(seen):
                placed = run_placer(problem, text, rng).placement.devices
                reached.append(float(rewards(number, placed[None])[0]))
        except StreamplaceError:  # such as constraints that it cannot keep
            continue
        if reached:
            found[f"validation_{name}"] = float(np.mean(reached))
    return found


def _in_closed_form(problem: Problem) -> Problem:
    if problem.objective.is_pass or problem.model in CLOSED_FORMS:
        return problem
    return problem.with_objective(problem.objective.with_changes(model="bottleneck"))
