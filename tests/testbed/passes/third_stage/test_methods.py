"""The compared methods, on a meter that computes makespans."""

import numpy as np
import pytest

from benchmarks.testbed.passes.third_stage.budget import Budget
from benchmarks.testbed.passes.third_stage.methods import (
    climbed,
    doppler,
    interleaved,
    searched,
)
from streamplace import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats, Ints
from tests.support.measures import modelled_s
from tests.support.passes import small_problem

BUDGET = Budget(passes=60, repeats=2, epochs=1)


class Counting:
    """A meter that computes times and counts the passes of each placement."""

    def __init__(self) -> None:
        self.rows: list[bytes] = []

    def __call__(self, placements: Ints) -> Floats:
        """Return the seconds of one pass of each placement."""
        self.rows += [np.asarray(row, np.int32).tobytes() for row in placements]
        return modelled_s(np.asarray(placements))


@pytest.fixture
def problem() -> Problem:
    """Return a problem of six operators on three devices."""
    return small_problem()


def test_a_climb_uses_its_budget_and_never_gets_worse(problem: Problem) -> None:
    meter, start = Counting(), np.full(6, 2, np.int32)
    best = climbed(problem, meter, start, BUDGET, seed=0)
    assert len(meter.rows) == BUDGET.passes
    assert len(set(meter.rows)) == BUDGET.placements
    assert modelled_s(best[None])[0] == min(
        modelled_s(np.frombuffer(row, np.int32)[None])[0] for row in meter.rows
    )
    assert modelled_s(best[None])[0] < modelled_s(start[None])[0]


def test_a_climb_goes_on_where_all_neighbours_are_measured(problem: Problem) -> None:
    """Everything on device 0 is fastest and has twelve neighbours."""
    meter = Counting()
    best = climbed(problem, meter, np.zeros(6, np.int32), Budget(80, 2, 1), seed=0)
    assert not best.any()
    assert len(set(meter.rows)) == 40


@pytest.mark.long
def test_the_third_stage_begins_with_the_best_of_the_second(problem: Problem) -> None:
    meter = Counting()
    second, third = doppler(problem, meter, BUDGET, seed=0)
    assert meter.rows[0] == second.tobytes()
    assert len(meter.rows) <= BUDGET.passes
    assert modelled_s(third[None])[0] == min(
        modelled_s(np.frombuffer(row, np.int32)[None])[0] for row in meter.rows
    )


def test_the_search_knows_only_the_simulator(problem: Problem) -> None:
    best = searched(problem, seed=0)
    others = np.random.default_rng(0).integers(3, size=(50, 6)).astype(np.int32)
    score = evaluator(problem)
    assert score.loss(best[None])[0] <= score.loss(others).min()


def test_equal_placements_share_their_passes() -> None:
    meter = Counting()
    rows = np.array([[0, 1], [1, 1], [0, 1]], np.int32)
    seconds = interleaved(meter, rows, 4, seed=0)
    assert seconds.shape == (3, 4)
    assert (seconds == modelled_s(rows)[:, None]).all()
    assert len(meter.rows) == 2 * 4
    assert len(set(meter.rows[:2])) == len(set(meter.rows[2:4])) == 2
