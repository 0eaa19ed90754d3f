"""Baselines per step, joined over processes."""

from typing import Any

import numpy as np

from streamplace.learning.training.algorithms.step_baseline import StepBaseline
from streamplace.learning.training.distributed import Workers


class Other(Workers):
    """This process and another one, whose value is known."""

    def __init__(self, value: Any) -> None:
        super().__init__(count=2)
        self._value = value

    def gathered(self, value: Any) -> list[Any]:
        """Return both values."""
        return [value, self._value]


def test_processes_join_the_episodes_of_their_own_problems() -> None:
    one, other = StepBaseline(5), StepBaseline(5)
    for baseline, problem, reward in ((one, 0, 1.0), (one, 1, 9.0), (other, 1, 4.0)):
        baseline.add(problem, np.array([reward]))
    joined = one.gathered(Other(other.episodes({1})), np.array([0], np.int32))
    assert {p: kept[0].tolist() for p, kept in joined.episodes({0, 1}).items()} == {
        0: [1.0],
        1: [4.0],
    }
