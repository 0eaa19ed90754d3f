"""Defects found by the checks of names, numbering, device order and constraints."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from streamplace.learning.policy.device_scorer.features import ScorerProblem
from streamplace.learning.policy.device_scorer.network import DeviceScorer
from streamplace.problem.constraints import Constraints
from streamplace.problem.problem import Problem
from tests.support.defects.altered import Defect


class ReadsNames(DeviceScorer):
    """A policy whose features depend on an operator's name."""

    def encode(self, problem: Problem) -> ScorerProblem:
        """Add the alphabetical rank of each name to a feature."""
        encoded = super().encode(problem)
        rank = np.argsort(np.argsort(problem.graph.names)).astype(np.float32)
        operators = encoded.operators.copy()
        operators[:, 0] += rank
        return replace(encoded, operators=operators)


class ReadsNumbers(DeviceScorer):
    """A policy whose features depend on an operator's position in the file."""

    def encode(self, problem: Problem) -> ScorerProblem:
        """Add each operator's number to a feature."""
        encoded = super().encode(problem)
        operators = encoded.operators.copy()
        operators[:, 0] += np.arange(len(operators))
        return replace(encoded, operators=operators)


class PrefersFirstDevices(DeviceScorer):
    """A policy that prefers devices that are listed first."""

    def logits(
        self, operator: torch.Tensor, resident: torch.Tensor, candidates: torch.Tensor, offered: Any
    ) -> torch.Tensor:
        """Subtract the position of each device."""
        made = super().logits(operator, resident, candidates, offered)
        return made - torch.arange(made.shape[1])


class IgnoresConstraints(DeviceScorer):
    """A policy that does not respect constraints."""

    def encode(self, problem: Problem) -> ScorerProblem:
        """Encode the problem without its constraints."""
        return super().encode(problem.with_constraints(Constraints()))


DEFECTS: list[Defect] = [
    (ReadsNames, "names", "differ by"),
    (ReadsNumbers, "numbering", "differ by"),
    (PrefersFirstDevices, "device order", "differ by"),
    (IgnoresConstraints, "constraints", "which its constraints forbid"),
]
