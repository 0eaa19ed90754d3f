"""Walks of several samples and problems, which end after different numbers of steps."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from streamplace.learning.policy.walks import Walks
from streamplace.util.arrays import Ints


def test_walks_are_grouped_by_problem_and_end_with_their_steps() -> None:
    batch: Any = SimpleNamespace(encoded=[SimpleNamespace(size=3), SimpleNamespace(size=2)])
    start = np.arange(12, dtype=np.int32).reshape(2, 2, 3)

    def begin(_one: object, row: Ints, steps: int, p: int) -> tuple[list[int], int, int]:
        return row.tolist(), steps, p

    walks = Walks(batch, start, [2, 1], begin)
    assert walks == [([0, 1, 2], 2, 0), ([3, 4, 5], 2, 0), ([6, 7], 1, 1), ([9, 10], 1, 1)]
    assert list(walks.going()) == [(0, [0, 1, 2, 3]), (1, [0, 1])]
    assert walks.samples == 2
