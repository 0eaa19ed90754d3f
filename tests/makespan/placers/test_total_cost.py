"""Placements of the least total cost, compared with brute force."""

from collections.abc import Iterable

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import ObjectiveError
from streamplace.makespan.placers.total_cost import CostProof
from streamplace.placers.exact.exact import Exact
from streamplace.scoring.registry import evaluator
from streamplace.workflows.place import place_problem
from tests.support.makespan_problems import (
    constrained_makespan_problem,
    feasible_rows,
    makespan_problem,
    of_total_cost,
)
from tests.support.share import Share

MOST = 2_000  # placements


def problems(seeds: Iterable[int]) -> list[tuple[int, sp.Problem, float]]:
    """Return problems with costs, and the least cost of each."""
    found = []
    for seed in seeds:
        problem = constrained_makespan_problem(seed) if seed % 2 else makespan_problem(seed)
        if problem is None:
            continue
        problem = of_total_cost(problem, noise=0.0, repeats=1)
        rows = feasible_rows(problem, MOST)
        if rows is not None and len(rows) > 1:
            least = float(evaluator(problem).loss(rows).min())
            found.append((seed, problem, least))
    return found


def check(seeds: Iterable[int]) -> tuple[int, int]:
    """Compare proofs with brute force; return the numbers of problems, and of those proven."""
    found, proven = problems(seeds), 0
    for seed, problem, least in found:
        proof = Exact(seconds=20.0).run(problem, np.random.default_rng(seed))
        assert proof.bound is not None
        assert proof.bound <= least * (1 + 1e-9), seed
        assert problem.feasibility.violation(proof.placement.devices) is None, seed
        if proof.optimal:
            proven += 1
            reached = evaluator(problem).loss(proof.placement.devices)[0]
            assert reached == pytest.approx(least, rel=1e-6), seed
    return len(found), proven


def test_small_problems_are_proven() -> None:
    count, proven = check(range(60))
    assert proven == count > 20


def test_cp_sat_alone_proves_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot prove all with messages to several devices, whose links differ."""
    monkeypatch.setattr(CostProof, "quickly", lambda _proof, _most=0: None)
    count, proven = check(range(70))
    assert proven > 0.9 * count > 25


@pytest.mark.long
def test_cp_sat_alone_proves_many(monkeypatch: pytest.MonkeyPatch, share: Share) -> None:
    monkeypatch.setattr(CostProof, "quickly", lambda _proof, _most=0: None)
    count, proven = check(share.of(range(70, 2600)))
    assert proven > 0.9 * count > share.least(900)


@pytest.mark.parametrize("placer", ["auto:evaluations=3000", "exact"])
def test_results_have_the_bound(placer: str) -> None:
    for seed, problem, least in problems(range(20)):
        result = place_problem(problem, placer)
        assert result.to_dict()["bound_s"] == pytest.approx(least), seed
        assert result.score.value == pytest.approx(least), seed
        assert result.gap == pytest.approx(0.0, abs=1e-9), seed


def test_what_is_large_has_a_bound_at_least() -> None:
    """`auto` proves nothing there, and the bound of `exact` is not above what `auto` finds."""
    problem = of_total_cost(makespan_problem(41, large=True), noise=0.0, repeats=1)
    best = place_problem(problem, "auto:evaluations=3000").score.value
    proof = Exact(seconds=3.0).run(problem, np.random.default_rng(0))
    assert proof.bound is not None
    assert proof.bound <= best * (1 + 1e-9)


def test_noise_is_refused() -> None:
    problem = of_total_cost(makespan_problem(3), noise=0.1)
    with pytest.raises(ObjectiveError, match="'exact' supports total costs without noise only"):
        Exact().run(problem, np.random.default_rng(0))
    assert place_problem(problem, "auto:evaluations=20").gap is None
