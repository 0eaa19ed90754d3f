"""Tests for steepest ascent: it ends where no feasible move of one unit improves the score."""

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference.random_problems import feasible_placements, random_problem
from streamplace.placers.budget import Budget
from streamplace.placers.search import chains as module
from streamplace.placers.search.chains import climb
from streamplace.scoring.registry import qualities, qualities_of_rows
from tests.support.objectives import Net


def draw(seed: int) -> tuple[sp.Problem, sp.Placement]:
    """Return a problem whose objective deducts a price per device, and a feasible placement."""
    problem = random_problem(seed, max_placements=2_000)
    objective = Net(price=0.1 * problem.source_rate).with_changes(problem.source_rates)
    problem = problem.with_objective(objective)
    return problem, sp.Placement(problem, next(feasible_placements(problem))[0])


@pytest.mark.parametrize("seed", range(12))
def test_no_single_move_improves_the_result(seed: int) -> None:
    problem, start = draw(seed)
    found = climb(problem, start, Budget(evaluations=10**6))
    before, after = qualities(problem, [start, found])
    assert after >= before
    feasibility = problem.feasibility
    assert feasibility.violation(found.devices) is None
    for rows in feasible_placements(problem):
        moved = np.array([len(set(feasibility.unit_of[row != found.devices])) for row in rows])
        assert qualities_of_rows(problem, rows[moved <= 1]).max() <= after * (1 + 1e-9)


def test_climbing_stops_at_its_budget_and_skips_large_problems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    improved = 0
    for seed in range(12):
        problem, start = draw(seed)
        one = climb(problem, start, Budget(evaluations=1))
        units = problem.feasibility.unit_of
        assert len(set(units[one.devices != start.devices])) <= 1
        improved += one != start
        assert climb(problem, start, Budget(evaluations=0)) is start
        with monkeypatch.context() as patch:
            patch.setattr(module, "MAX_SCORED", 3)
            assert climb(problem, start, Budget(evaluations=10**6)) is start
    assert improved
