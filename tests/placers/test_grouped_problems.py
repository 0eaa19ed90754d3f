"""Placers on problems with groups of devices, uplinks and `apart_groups`, against brute force."""

import numpy as np
import pytest

from benchmarks.reference.grouped_problems import grouped_problem
from benchmarks.reference.random_problems import optimum
from streamplace.errors import PlacementError
from streamplace.placers.exact.cp_sat import Model as CpSat
from streamplace.placers.exact.decision import DecisionProblem
from streamplace.placers.exact.exact import Exact
from streamplace.placers.registry import LEARNED, THROUGHPUT_NAMES, ready_placer
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.search import Search
from streamplace.problem.objective import Model
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import bound
from tests.support.placements import throughput_of
from tests.support.share import Share

SLACK = 1 + 1e-9
MAX_PLACEMENTS = {"bottleneck": 20_000, "path-average": 1_500}
PLACERS = (
    *(n for n in THROUGHPUT_NAMES if n not in ("auto", "exact", *LEARNED)),
    "auto:evaluations=20000",
)

LONG = [pytest.param(range(i, i + 10), marks=pytest.mark.long) for i in range(4, 64, 10)]


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("seeds", [range(4), *LONG])
def test_exact_equals_brute_force(
    model: Model, seeds: range, share: Share, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamplace.placers.exact.exact.Search", lambda: Search(evaluations=1))
    for seed in share.of(seeds):
        problem = grouped_problem(seed, model, MAX_PLACEMENTS[model])
        proof, best = Exact(600.0).prove(problem, np.random.default_rng(0)), optimum(problem)
        assert proof.optimal, seed
        assert problem.feasibility.violation(proof.placement.devices) is None, seed
        reached = throughput_of(problem, proof.placement.devices)
        assert reached == pytest.approx(best, rel=1e-9), seed
        assert best <= proof.bound * SLACK, seed
        assert best <= bound(problem) * SLACK, seed


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("seed", range(100, 102))
def test_no_placer_exceeds_the_optimum_or_violates_a_constraint(model: Model, seed: int) -> None:
    problem = grouped_problem(seed, model, MAX_PLACEMENTS[model])
    best = optimum(problem)
    for name in PLACERS:
        try:
            found = ready_placer(name)(problem, np.random.default_rng(seed))
        except PlacementError:  # a baseline that makes a single attempt
            continue
        assert problem.feasibility.violation(found.devices) is None, name
        assert throughput_of(problem, found.devices) <= best * SLACK, name


@pytest.mark.parametrize("seed", range(200, 208))
def test_cp_sat_decides_as_brute_force_does(seed: int) -> None:
    problem = grouped_problem(seed, "bottleneck", 3_000)
    best = optimum(problem)
    for share, possible in ((1 - 1e-6, True), (1 + 1e-6, False)):
        if best * share >= bound(problem):
            continue
        decision = DecisionProblem(problem, best * share)
        outcome = CpSat(decision, 1, 0).search(100.0, Budget(60.0))
        assert (outcome.found is not None) == possible
        assert outcome.proven != possible
