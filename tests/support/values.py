"""An objective of a third kind, the price of the devices used, as a package would add it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import streamplace as sp
from streamplace.problem.objective import Objective
from streamplace.scoring.evaluator import Placements
from streamplace.scoring.values import ValueEvaluator
from streamplace.util.arrays import Floats

GRAPH = sp.StreamGraph(
    [sp.Operator(name, 1e6, 10.0) for name in "abcd"],
    [sp.Stream(*ends) for ends in ("ab", "bc", "bd")],
    source_rate=100.0,
)


class BillEvaluator(ValueEvaluator):
    """Counts the devices that run operators."""

    def values(self, devices: Placements) -> Floats:
        price: float = getattr(self.problem.objective, "price")  # noqa: B009 - an option
        return np.array([price * len(np.unique(row)) for row in devices])

    @property
    def bound(self) -> float | None:
        return getattr(self.problem.objective, "price")  # type: ignore[no-any-return]  # noqa: B009


@dataclass(frozen=True)
class Bill(Objective):
    """The price of the devices that are used."""

    quantity: ClassVar[str] = "bill"
    unit: ClassVar[str] = "USD"
    evaluator: ClassVar[type] = BillEvaluator

    price: float = 2.0
