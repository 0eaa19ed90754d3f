"""User-defined objectives for tests."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import streamplace as sp
from streamplace.scoring.objective_evaluator import ObjectiveEvaluator


class NetEvaluator(ObjectiveEvaluator):
    """An evaluator that subtracts a price for every device used."""

    def worth(self, problem: sp.Problem, devices: Any, throughput: Any) -> Any:
        """Return the throughput minus the price of the devices."""
        assert isinstance(problem.objective, Net)
        used = np.array([len(np.unique(row)) for row in devices])
        return np.maximum(throughput - problem.objective.price * used, 0.0)


@dataclass(frozen=True)
class Net(sp.Throughput):
    """Throughput minus a price for every device used."""

    evaluator: ClassVar[type] = NetEvaluator
    price: float = 1000.0
    title: str = "net"
    rounded: bool = False
    levels: int | None = 2


class LastEvaluator(ObjectiveEvaluator):
    """An evaluator that prefers operators on the last device."""

    def worth(self, problem: sp.Problem, devices: Any, throughput: Any) -> Any:
        """Return a share of the throughput that grows with the operators on the last device."""
        return throughput * (devices == len(problem.cluster.devices) - 1).mean(axis=1) ** 2


@dataclass(frozen=True)
class Last(sp.Throughput):
    """Throughput times the squared share of operators that are on the last device."""

    evaluator: ClassVar[type] = LastEvaluator
