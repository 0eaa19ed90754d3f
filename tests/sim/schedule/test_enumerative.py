"""Linear assignment, compared with all assignments."""

from itertools import permutations

import numpy as np
import pytest

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.schedule.enumerative import cheapest_assignment

SEEDS = range(300)


def drawn(seed: int, columns: int) -> Floats:
    """Return small whole costs, some of which are infinite."""
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 6, (int(rng.integers(0, min(columns, 5) + 1)), columns)).astype(float)
    costs[rng.random(costs.shape) < rng.choice([0.0, 0.3, 0.6])] = np.inf
    return costs


def every_assignment(costs: Floats) -> tuple[list[tuple[int, ...]], list[float]]:
    rows, columns = costs.shape
    every: list[tuple[int, ...]] = [*permutations(range(columns), rows)]
    return every, [float(sum(costs[i, j] for i, j in enumerate(each))) for each in every]


def total(costs: Floats, found: Ints) -> float:
    assert len(set(found.tolist())) == len(costs)
    return float(costs[np.arange(len(costs)), found].sum())


@pytest.mark.parametrize("columns", [3, 6, 9])
def test_it_is_the_cheapest_of_all(columns: int) -> None:
    unassignable = 0
    for seed in SEEDS:
        costs = drawn(seed, columns)
        found = cheapest_assignment(costs)
        least = min(every_assignment(costs)[1])
        if np.isinf(least):
            assert (found == -1).all()
            unassignable += 1
        else:
            assert total(costs, found) == least
    assert 0 < unassignable < len(SEEDS) / 2


def test_ties_go_to_the_first_assignment_of_up_to_eight_columns() -> None:
    for seed in SEEDS:
        costs = drawn(seed, 5)
        every, totals = every_assignment(costs)
        if np.isfinite(min(totals)):
            assert tuple(cheapest_assignment(costs)) == every[totals.index(min(totals))]
