"""The placer `exact`, the bounds and the starts of searches with the new fields: brute force."""

from functools import cache

import numpy as np
import pytest

from benchmarks.reference.message_problems import with_message_fields
from benchmarks.reference.random_problems import feasible_placements, optimum, random_problem
from streamplace.errors import GraphError, InfeasibleError, PlacementError
from streamplace.placers.exact.exact import Exact
from streamplace.placers.registry import ready_placer
from streamplace.placers.search.search import Search
from streamplace.problem.objective import Model
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import bound
from tests.support.placements import throughput_of
from tests.support.share import Share

SLACK = 1 + 1e-9
MAX_PLACEMENTS = {"bottleneck": 4_000, "path-average": 1_000}


def drawn_problem(seed: int, model: Model) -> Problem | None:
    """Return a small random problem with the fields; None if no placement of it is feasible."""
    rng = np.random.default_rng((seed, 3))
    try:
        problem = with_message_fields(random_problem(seed, model, MAX_PLACEMENTS[model]), rng)
        flow(problem)
    except (GraphError, InfeasibleError):
        return None
    return problem if next(feasible_placements(problem), None) is not None else None


@cache
def drawn_optimum(seed: int, model: Model) -> float:
    """Return the optimum of a drawn problem by brute force, which several placers share."""
    problem = drawn_problem(seed, model)
    assert problem is not None
    return optimum(problem)


def with_short_search(patch: pytest.MonkeyPatch) -> None:
    """Shorten the search, so that the proof has to find better placements."""
    patch.setattr("streamplace.placers.exact.exact.Search", lambda: Search(evaluations=1))


def check(seed: int, model: Model) -> int:
    """Compare the proof of one problem with brute force; return the number of problems."""
    problem = drawn_problem(seed, model)
    if problem is None:
        return 0
    proof, best = Exact(seconds=600.0).prove(problem, np.random.default_rng(0)), optimum(problem)
    assert proof.optimal, seed
    assert problem.feasibility.violation(proof.placement.devices) is None, seed
    assert throughput_of(problem, proof.placement.devices) == pytest.approx(best, rel=1e-9), seed
    assert proof.bound == pytest.approx(best, rel=1e-9), seed
    assert best <= bound(problem) * SLACK, seed
    return 1


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("part", range(4))
def test_the_optimum_equals_that_of_brute_force(
    model: Model, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_short_search(monkeypatch)
    assert sum(check(seed, model) for seed in range(500 + 10 * part, 510 + 10 * part)) >= 7


@pytest.mark.long
@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("part", range(10))
def test_many_optima_equal_those_of_brute_force(
    model: Model, part: int, share: Share, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_short_search(monkeypatch)
    seeds = share.of(range(1000 + 50 * part, 1050 + 50 * part))
    assert sum(check(seed, model) for seed in seeds) >= share.least(40)


@pytest.mark.parametrize(
    "seeds", [range(700, 715), pytest.param(range(715, 750), marks=pytest.mark.long)]
)
def test_cp_sat_counts_times_and_the_cost_by_byte(
    seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If depth-first search may not examine any node, CP-SAT gets every decision problem."""
    with_short_search(monkeypatch)
    for limit in ("QUICK", "SHALLOW", "NODES"):
        monkeypatch.setattr(f"streamplace.placers.exact.bottleneck.{limit}", 0)
    compared = 0
    for seed in seeds:
        problem = drawn_problem(seed, "bottleneck")
        if problem is not None and problem.graph.multicast == "none":
            compared += check(seed, "bottleneck")
    assert compared > len(seeds) / 5


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("name", ["greedy", "search:evaluations=5000", "metis", "multilevel"])
def test_no_placer_exceeds_the_optimum(model: Model, name: str) -> None:
    for seed in range(800, 815):
        problem = drawn_problem(seed, model)
        if problem is None:
            continue
        try:
            found = ready_placer(name)(problem, np.random.default_rng(seed))
        except PlacementError:  # a baseline that makes a single attempt
            continue
        assert throughput_of(problem, found.devices) <= drawn_optimum(seed, model) * SLACK, seed
