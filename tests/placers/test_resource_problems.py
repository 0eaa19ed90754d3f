"""Placers on problems with resources, memory, uplinks and every constraint, against brute force."""

import numpy as np
import pytest

from benchmarks.reference import oracle
from benchmarks.reference.random_problems import (
    every_placement,
    feasible_placements,
    optimum,
)
from benchmarks.reference.resource_problems import resource_problem
from benchmarks.reference.rules import obeying
from streamplace import Problem
from streamplace.errors import PlacementError
from streamplace.placers.exact.cp_sat import Model as CpSat
from streamplace.placers.exact.decision import DecisionProblem
from streamplace.placers.exact.exact import Exact
from streamplace.placers.registry import LEARNED, THROUGHPUT_NAMES, ready_placer
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.placers.search.search import Search
from streamplace.problem.objective import Model
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import bound, throughput
from tests.support.placements import throughput_of
from tests.support.share import Share

SLACK = 1 + 1e-9
MAX_PLACEMENTS = {"bottleneck": 3_000, "path-average": 500}
PLACERS = (
    *(n for n in THROUGHPUT_NAMES if n not in ("auto", "exact", *LEARNED)),
    "auto:evaluations=20000",
)

LONG = [pytest.param(range(i, i + 50), marks=pytest.mark.long) for i in range(0, 500, 50)]


def drawn(seed: int, model: Model = "bottleneck") -> Problem:
    return resource_problem(seed, model, MAX_PLACEMENTS[model])


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("seeds", [range(500, 506), *LONG])
def test_exact_equals_brute_force(
    model: Model, seeds: range, share: Share, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamplace.placers.exact.exact.Search", lambda: Search(evaluations=1))
    for seed in share.of(seeds):
        problem = drawn(seed, model)
        proof, best = Exact(600.0).prove(problem, np.random.default_rng(0)), optimum(problem)
        assert proof.optimal, seed
        assert problem.feasibility.violation(proof.placement.devices) is None, seed
        reached = throughput_of(problem, proof.placement.devices)
        assert reached == pytest.approx(best, rel=1e-9), seed
        assert best <= proof.bound * SLACK, seed
        assert best <= bound(problem) * SLACK, seed


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("seeds", [range(500, 506), *LONG])
def test_closed_forms_equal_the_independent_scorer(
    model: Model, seeds: range, share: Share
) -> None:
    for seed in share.of(seeds):
        problem = drawn(seed, model).with_source_rate(1500.0)
        usable = problem.with_objective(problem.objective.with_changes(target_utilisation=1.0))
        rows = next(feasible_placements(problem))[:3]
        for row, reached in zip(rows, throughput(usable, rows), strict=True):
            assert reached == pytest.approx(oracle.throughput(usable, row.tolist()), rel=1e-9), seed


@pytest.mark.parametrize("seeds", [range(500, 510), *LONG])
def test_feasibility_agrees_with_the_independent_check(seeds: range, share: Share) -> None:
    for seed in share.of(seeds):
        problem = drawn(seed)
        rules = problem.feasibility
        for rows in every_placement(problem):
            found = [rules.violation(row) is None for row in rows]
            assert found == obeying(problem, rows).tolist(), seed
        expected = np.concatenate(list(feasible_placements(problem)))
        enumerated = feasible_rows(problem)
        assert enumerated is not None
        assert sorted(map(tuple, enumerated)) == sorted(map(tuple, expected)), seed


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("seed", range(600, 604))
def test_no_placer_exceeds_the_optimum_or_a_limit(model: Model, seed: int) -> None:
    problem = drawn(seed, model)
    best = optimum(problem)
    for name in PLACERS:
        try:
            found = ready_placer(name)(problem, np.random.default_rng(seed))
        except PlacementError:  # a baseline that makes a single attempt
            continue
        assert obeying(problem, found.devices[None]).all(), name
        assert throughput_of(problem, found.devices) <= best * SLACK, name


@pytest.mark.parametrize("seed", range(700, 708))
def test_cp_sat_decides_as_brute_force_does(seed: int) -> None:
    problem = drawn(seed)
    best = optimum(problem)
    for share, possible in ((1 - 1e-6, True), (1 + 1e-6, False)):
        if best * share >= bound(problem):
            continue
        decision = DecisionProblem(problem, best * share)
        outcome = CpSat(decision, 1, 0).search(100.0, Budget(60.0))
        assert (outcome.found is not None) == possible
        assert outcome.proven != possible
