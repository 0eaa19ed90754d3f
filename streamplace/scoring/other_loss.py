"""Evaluators with another loss than that of the objective, for training."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from streamplace.scoring.evaluator import Evaluator, Placements, Trace
from streamplace.scoring.local_search import LocalSearch
from streamplace.scoring.score import Score
from streamplace.util.arrays import Floats


@dataclass(frozen=True)
class OtherLoss(ABC):
    """An evaluator like another one, except for its loss.

    Parameters
    ----------
    of
        The other one.
    """

    of: Evaluator

    @abstractmethod
    def loss(self, devices: Placements) -> Floats:
        """Return the loss of each placement, (K,)."""

    def quality(self, devices: Placements) -> Floats:
        """Return the quality by the other one, (K,)."""
        return self.of.quality(devices)

    def trace(self, devices: Placements) -> Trace:
        """Return the loads, or the schedule, under each placement by the other one."""
        return self.of.trace(devices)

    def score(self, devices: Placements) -> Score:
        """Return the score of one placement, (V,), by the other one."""
        return self.of.score(devices)

    @property
    def best_possible(self) -> float | None:
        """The upper bound on the quality by the other one."""
        return self.of.best_possible

    def local_search(self) -> LocalSearch | None:
        """Return None: no kernels search for this loss."""
        return None
