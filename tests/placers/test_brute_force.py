"""Placers, bounds and rules on small random problems of every kind, against brute force."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from benchmarks.reference import oracle
from benchmarks.reference.grouped_problems import grouped_problem
from benchmarks.reference.message_problems import message_problem
from benchmarks.reference.random_problems import (
    every_placement,
    feasible_placements,
    optimum,
    random_problem,
)
from benchmarks.reference.resource_problems import resource_problem
from benchmarks.reference.rules import obeying
from streamplace.errors import PlacementError
from streamplace.placers.budget import Budget
from streamplace.placers.exact.cp_sat import Proof
from streamplace.placers.exact.decision import DecisionProblem
from streamplace.placers.exact.exact import Exact
from streamplace.placers.registry import names_for, placer_of
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.placers.search.search import Search
from streamplace.problem.objective import Model
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.score import PROVEN, ROUNDING
from streamplace.scoring.throughput import bound, throughput
from tests.support.placements import throughput_of
from tests.support.placers import LEARNED
from tests.support.share import Share

SLACK = 1 + 1e-9
QUICK = (
    *(name for name in names_for("throughput") if name not in ("auto", "exact", *LEARNED)),
    "auto:evaluations=20000",
)


class Kind(NamedTuple):
    """Random problems of one kind.

    Attributes
    ----------
    drawn
        Draws a problem by its seed, model and most placements.
    most
        The most placements of a problem, by model; brute force tries all.
    proofs, many
        Seeds of the problems on which `exact` is checked, and of those of long tests.
    compared
        Seeds of the problems on which all placers are compared.
    """

    drawn: Callable[[int, Model, int], Problem | None]
    most: Mapping[str, int]
    proofs: range
    many: range
    compared: range


KINDS = {
    "plain": Kind(
        random_problem,
        {"bottleneck": 20_000, "path-average": 3_000},
        range(12),
        range(12, 60),
        range(100, 110),
    ),
    "groups": Kind(
        grouped_problem,
        {"bottleneck": 20_000, "path-average": 1_500},
        range(4),
        range(4, 64),
        range(100, 102),
    ),
    "resources": Kind(
        resource_problem,
        {"bottleneck": 3_000, "path-average": 500},
        range(500, 506),
        range(500),
        range(600, 604),
    ),
    "messages": Kind(
        message_problem,
        {"bottleneck": 4_000, "path-average": 1_000},
        range(500, 540),
        range(1000, 1500),
        range(800, 815),
    ),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def drawn(kind: str, seed: int, model: Model) -> Problem | None:
    """Return a problem; None if there is none with this seed."""
    return KINDS[kind].drawn(seed, model, KINDS[kind].most[model])


@cache
def best_of(kind: str, seed: int, model: Model) -> float:
    """Return the optimum of a problem by brute force."""
    problem = drawn(kind, seed, model)
    assert problem is not None
    return optimum(problem)


@pytest.fixture
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the search, so that the proof has to find better placements."""
    monkeypatch.setattr("streamplace.placers.exact.exact.Search", lambda: Search(evaluations=1))


def check_proof(
    kind: str, seed: int, model: Model, workers: int = 1, rel: float = ROUNDING
) -> bool:
    """Compare a proof with brute force; return whether there is a problem with this seed."""
    problem = drawn(kind, seed, model)
    if problem is None:
        return False
    proof = Exact(seconds=600.0, workers=workers).run(problem, np.random.default_rng(0))
    best = best_of(kind, seed, model)
    assert proof.optimal, seed
    assert proof.bound is not None
    assert problem.feasibility.violation(proof.placement.devices) is None, seed
    assert throughput_of(problem, proof.placement.devices) == pytest.approx(best, rel=rel), seed
    assert proof.bound == pytest.approx(best, rel=rel), seed
    assert best <= min(proof.bound, bound(problem)) * SLACK, seed
    return True


@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("model", CLOSED_FORMS)
@every_kind
def test_exact_proves_the_optimum(kind: str, model: Model) -> None:
    seeds = KINDS[kind].proofs
    assert sum(check_proof(kind, seed, model) for seed in seeds) >= 0.7 * len(seeds)


@pytest.mark.long
@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("model", CLOSED_FORMS)
@every_kind
def test_exact_proves_many_optima(kind: str, model: Model, share: Share) -> None:
    seeds = KINDS[kind].many
    found = sum(check_proof(kind, seed, model) for seed in share.of(seeds))
    assert found >= 0.8 * share.least(len(seeds))


@pytest.mark.parametrize("model", CLOSED_FORMS)
@every_kind
def test_no_placer_exceeds_the_optimum_or_breaks_a_rule(kind: str, model: Model) -> None:
    for seed in KINDS[kind].compared:
        problem = drawn(kind, seed, model)
        if problem is None:
            continue
        best = best_of(kind, seed, model)
        assert best <= bound(problem) * SLACK, seed
        for name in QUICK:
            try:
                found = placer_of(name)(problem, np.random.default_rng(seed))
            except PlacementError:  # a baseline that makes a single attempt
                continue
            assert problem.feasibility.violation(found.devices) is None, (seed, name)
            assert obeying(problem, found.devices[None]).all(), (seed, name)
            assert throughput_of(problem, found.devices) <= best * SLACK, (seed, name)


@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize(
    ("kind", "seeds", "workers"),
    [
        ("plain", range(300, 330), 1),
        ("plain", range(300, 330), 2),
        ("messages", range(700, 715), 1),
        pytest.param("messages", range(715, 750), 1, marks=pytest.mark.long),
    ],
)
def test_cp_sat_settles_open_decision_problems(
    kind: str, seeds: range, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If depth-first search may not examine any node, CP-SAT gets every decision problem."""
    for limit in ("QUICK", "SHALLOW", "NODES"):
        monkeypatch.setattr(f"streamplace.placers.exact.exact.{limit}", 0)
    compared = 0
    for seed in seeds:
        problem = drawn(kind, seed, "bottleneck")
        if problem is not None and problem.graph.multicast == "none":
            compared += check_proof(kind, seed, "bottleneck", workers, rel=PROVEN)
    assert compared > len(seeds) / 5


@pytest.mark.parametrize(
    ("kind", "seed"),
    [*(("groups", i) for i in range(200, 208)), *(("resources", i) for i in range(700, 708))],
)
def test_cp_sat_decides_as_brute_force_does(kind: str, seed: int) -> None:
    problem = KINDS[kind].drawn(seed, "bottleneck", 3_000)
    assert problem is not None
    best = optimum(problem)
    for share, possible in ((1 - 1e-6, True), (1 + 1e-6, False)):
        if best * share >= bound(problem):
            continue
        decision = DecisionProblem(problem, best * share)
        outcome = Proof(decision, 1, 0).search(100.0, Budget(60.0))
        assert (outcome.found is not None) == possible
        assert outcome.proven != possible


MANY = [
    range(500, 510),
    *(pytest.param(range(i, i + 50), marks=pytest.mark.long) for i in range(0, 500, 50)),
]


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("seeds", MANY)
@pytest.mark.parametrize("kind", ["groups", "resources", "messages"])
def test_closed_forms_equal_the_independent_scorer(
    kind: str, model: Model, seeds: range, share: Share
) -> None:
    for seed in share.of(seeds):
        problem = drawn(kind, seed, model)
        if problem is None:
            continue
        problem = problem.with_source_rate(1500.0)
        usable = problem.with_objective(problem.objective.with_changes(target_utilisation=1.0))
        rows = next(feasible_placements(problem))
        rows = rows[np.random.default_rng(seed).integers(len(rows), size=4)]
        for row, reached in zip(rows, throughput(usable, rows), strict=True):
            assert reached == pytest.approx(oracle.throughput(usable, row.tolist()), rel=1e-9), seed
        assert throughput(problem, rows).max() <= bound(problem) * SLACK, seed


@pytest.mark.parametrize("seeds", MANY)
def test_feasibility_agrees_with_the_independent_check(seeds: range, share: Share) -> None:
    for seed in share.of(seeds):
        problem = resource_problem(seed, "bottleneck", 3_000)
        feasibility = problem.feasibility
        for rows in every_placement(problem):
            found = [feasibility.violation(row) is None for row in rows]
            assert found == obeying(problem, rows).tolist(), seed
        expected = np.concatenate(list(feasible_placements(problem)))
        enumerated = feasible_rows(problem)
        assert enumerated is not None
        assert sorted(map(tuple, enumerated)) == sorted(map(tuple, expected)), seed
