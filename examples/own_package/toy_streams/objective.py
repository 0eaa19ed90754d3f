"""An objective in which every device in use costs some throughput."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamplace import Problem, Throughput
from streamplace.scoring.objective_evaluator import ObjectiveEvaluator


class NetEvaluator(ObjectiveEvaluator):
    """Subtracts the price of every device in use from the throughput."""

    def worth(self, problem: Problem, devices: np.ndarray, throughput: np.ndarray) -> np.ndarray:
        """Return the worth of K placements, (K,), in tuples/s."""
        objective = problem.objective
        assert isinstance(objective, Net)
        used = np.array([len(np.unique(row)) for row in devices])
        worth: np.ndarray = np.maximum(throughput - objective.price * used, 0.0)
        return worth


@dataclass(frozen=True)
class Net(Throughput):
    """The throughput minus `price` tuples/s for every device in use."""

    evaluator: ClassVar[type] = NetEvaluator
    price: float = 1000.0
