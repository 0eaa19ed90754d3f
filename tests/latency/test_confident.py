"""Search over draws of uncertain costs, compared with all placements."""

import numpy as np
import pytest

from benchmarks.reference.random_problems import feasible_placements
from benchmarks.reference.uncertain_problems import larger_uncertain_problem, uncertain_problem
from streamplace import Placement, Problem
from streamplace.latency import confident
from streamplace.latency.confident import Compared, confident_rows
from streamplace.latency.sampled import CostDraws, carried_share
from streamplace.placers.registry import make_placer
from streamplace.problem.uncertainty import Uncertainty
from tests.support.placers import seeded_rng

SEEDS = pytest.mark.parametrize(
    "seeds", [range(16, 20), pytest.param(range(25), marks=pytest.mark.long)]
)
DRAWS = 8192  # none of which the search uses: the standard error of a share is 0.006 at most


def shares_of(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """Return the shares of other draws in which placements carry everything."""
    draws = CostDraws(problem, Uncertainty.of(problem.graph), (12345,), DRAWS)
    return carried_share(draws.utilisation(rows))


def plain(problem: Problem) -> Placement:
    return make_placer("search:evaluations=20000")(problem, seeded_rng())


def check(problem: Problem, margin: float) -> float:
    """Check the result against all placements and the plain one; return its gain."""
    start = plain(problem)
    found = confident_rows(problem, Uncertainty.of(problem.graph), 0.9, start, 0)
    assert problem.feasibility.violation(found) is None
    every = np.concatenate(list(feasible_placements(problem)))
    best = shares_of(problem, every).max()
    reached, before = shares_of(problem, np.stack([found, start.devices]))
    assert reached >= best - margin
    assert reached >= before - 0.005
    return float(reached - before)


@pytest.mark.long
@SEEDS
def test_few_placements_are_all_compared(seeds: range) -> None:
    gains = [check(uncertain_problem(seed, max_placements=1000), 0.01) for seed in seeds]
    assert max(gains) > 0.02


@pytest.mark.long
@SEEDS
def test_the_search_finds_nearly_the_best_of_all_placements(
    seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confident, "FEW_PLACEMENTS", 0)
    gains = [check(uncertain_problem(seed), 0.025) for seed in seeds]
    assert max(gains) > 0.02


@pytest.mark.long
def test_it_is_better_than_the_plain_placement_on_larger_problems() -> None:
    gains = []
    for seed in range(6):
        problem = larger_uncertain_problem(seed)
        start = plain(problem)
        found = confident_rows(problem, Uncertainty.of(problem.graph), 0.9, start, 0)
        reached, before = shares_of(problem, np.stack([found, start.devices]))
        gains.append(reached - before)
    assert min(gains) >= -0.005
    assert np.mean(gains) > 0.005


@pytest.mark.parametrize("parts", [0, 8])
def test_annealing_and_higher_costs_each_find_better_placements(
    parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confident, "CHAINS", parts)
    if parts:
        monkeypatch.setattr(confident, "INFLATED", ())
    gains = []
    for seed in (1, 3, 5, 6):
        problem = larger_uncertain_problem(seed)
        start = plain(problem)
        found = confident_rows(problem, Uncertainty.of(problem.graph), 0.9, start, 0)
        gains.append(np.ptp(shares_of(problem, np.stack([start.devices, found]))[::-1]))
    assert max(gains) > 0.005


@pytest.mark.long
def test_the_same_seed_gives_the_same_placement() -> None:
    problem = larger_uncertain_problem(3)
    found = Uncertainty.of(problem.graph)
    start = plain(problem)
    first, again = (confident_rows(problem, found, 0.9, start, 7) for _ in range(2))
    assert (first == again).all()


def test_the_initial_placement_wins_unless_another_is_better_beyond_chance() -> None:
    rng = seeded_rng()
    first = np.where(rng.random(1000) < 0.9, 0.5, 2.0)
    slightly, clearly = first.copy(), first.copy()
    slightly[np.flatnonzero(first > 1)[:3]] = 0.5
    clearly[np.flatnonzero(first > 1)[:30]] = 0.5
    rows = np.array([[0], [1]], dtype=np.int32)
    assert Compared(rows, np.stack([first, slightly])).best(0.9) == 0
    assert Compared(rows, np.stack([first, clearly])).best(0.9) == 1


def test_where_nothing_is_carried_the_highest_rate_counts() -> None:
    rows = np.array([[0], [1], [2]], dtype=np.int32)
    utilisation = np.array([[3.0, 4.0], [2.0, 5.0], [2.5, 3.0]])
    assert Compared(rows, utilisation).best(0.9) == 2
    assert Compared(rows, utilisation).best(0.5) == 1
