"""Stages of REINFORCE per step on small problems of makespans, and their advantages."""

from typing import Any

import numpy as np
import torch

import streamplace as sp
from streamplace.learning.training.algorithms.step_reinforce import StepReinforce
from streamplace.learning.training.loop import Loop
from streamplace.util.arrays import Floats
from tests.support.refiners import pass_problem, placeto
from tests.support.stages import loop_of


def stage(**keys: Any) -> dict[str, Any]:
    """Return a stage as a config has it."""
    return {"algorithm": "reinforce-steps", "epochs": 4, "evaluate_every": 0} | keys


def looped(*problems: sp.Problem, **keys: Any) -> Loop:
    """Return a loop over one stage."""
    return loop_of([stage(**keys)], policy=placeto(), problems=problems or [pass_problem()])


def parameters(loop: Loop) -> list[torch.Tensor]:
    """Return copies of the parameters of the policy."""
    return [p.detach().clone() for p in loop.learner.policy.parameters()]


def algorithm_of(loop: Loop) -> StepReinforce[Any]:
    """Return the algorithm at the start of its stage."""
    loop.begin()
    assert isinstance(loop.algorithm, StepReinforce)
    return loop.algorithm


class Made:
    """Trajectories of some samples of one problem with known rewards."""

    def __init__(self, *rewards: list[float]) -> None:
        self._rewards = np.array(rewards)[None]
        self.mask = torch.ones(self._rewards.shape, dtype=torch.bool)

    def falls_of(self, _of: object) -> Floats:
        """Return the rewards, whatever they are of."""
        return self._rewards


def advantages(loop: Loop, *episodes: list[float]) -> list[list[float]]:
    """Return the advantages of episodes with known rewards, one after another."""
    algorithm = algorithm_of(loop)
    return [algorithm.advantages([0], Made(one))[0, 0].tolist() for one in episodes]  # type: ignore[arg-type]
