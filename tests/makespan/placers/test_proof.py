"""Tests for the placer `exact` under the makespan objective, compared with brute force."""

from collections.abc import Iterable

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import PlacementError, UnsuitableError
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.makespan.placers.cp_sat import ScheduleModel
from streamplace.placers.exact.exact import Exact
from streamplace.placers.exact.solver import RUNS
from streamplace.placers.registry import placer_of
from streamplace.placers.search.search import Search
from tests.support.makespan_problems import (
    constrained_makespan_problem,
    feasible_rows,
    makespan_of,
    makespan_problem,
)
from tests.support.placers import QUICK_MAKESPAN_NAMES, seeded_rng
from tests.support.share import Share

MOST = 3_000  # placements for brute force
SLACK = 1 + 1e-9
SEARCH = "streamplace.placers.exact.exact.Search"
ENUMERATE = "streamplace.makespan.placers.proof.PassProof.enumerate"


def problems(seeds: Iterable[int]) -> list[tuple[int, sp.Problem, float]]:
    """Return feasible problems with the makespan of their best placement."""
    found = []
    for seed in seeds:
        problem = constrained_makespan_problem(seed) if seed % 2 else makespan_problem(seed)
        rows = None if problem is None else feasible_rows(problem, MOST)
        if problem is not None and rows is not None and len(rows):
            shortest = makespan_evaluator(problem).makespans(rows).min()
            found.append((seed, problem, float(shortest)))
    return found


def check_proofs(seeds: Iterable[int]) -> int:
    """Compare proofs with brute force; return the number of problems."""
    found = problems(seeds)
    for seed, problem, shortest in found:
        proof = Exact(seconds=60.0).run(problem, np.random.default_rng(0))
        assert proof.optimal, seed
        assert problem.feasibility.violation(proof.placement.devices) is None
        assert makespan_of(proof.placement) == pytest.approx(shortest, rel=1e-9), seed
        assert proof.bound == pytest.approx(shortest, rel=1e-9), seed
    return len(found)


@pytest.fixture
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the search, so that the proof has to find better placements."""
    monkeypatch.setattr(SEARCH, lambda **_limits: Search(evaluations=1))


@pytest.mark.usefixtures("short_search")
def test_the_optimum_equals_that_of_brute_force() -> None:
    assert check_proofs(range(70)) > 25


@pytest.mark.long
@pytest.mark.usefixtures("short_search")
def test_the_optimum_of_many_problems_equals_that_of_brute_force(share: Share) -> None:
    assert check_proofs(share.of(range(70, 2600))) > share.least(1000)


def test_cp_sat_bounds_every_placement_under_every_option() -> None:
    """Within the optimum, there is a schedule; its bound is never above the engine's optimum."""
    tight = 0
    for seed, problem, shortest in problems(range(60)):
        scored = makespan_evaluator(problem)
        if shortest == 0.0:
            continue
        alike = np.full(len(problem.cluster.devices), -1, np.int32)
        limit = shortest * SLACK
        model = ScheduleModel(scored.tasks, scored.compiled.rules, alike, limit, RUNS[0])
        answer = model.solve(20.0, 1, 0, None)
        assert answer.devices is not None, seed
        assert answer.bound <= shortest * SLACK, seed
        assert problem.feasibility.violation(answer.devices) is None, seed
        assert scored.makespans(answer.devices)[0] >= shortest / SLACK, seed
        tight += answer.bound >= shortest / (1 + 1e-6)
    assert tight > 15


def test_cp_sat_alone_proves_optima_without_contention(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two equal branches on two devices that differ, which the cheap bounds do not close."""
    monkeypatch.setattr(ENUMERATE, lambda self, clock: None)
    graph = sp.StreamGraph(
        [sp.Operator(n, 1e6 * t, 0.0) for n, t in zip("abcde", (3, 3, 2, 2, 2), strict=True)],
        firing="all",
    )
    cluster = sp.Cluster([sp.Device(n, 1.0) for n in "xy"], sp.Network(kind="free"))
    problem = sp.Problem(graph, cluster, objective=sp.Makespan())
    proof = Exact().run(problem, np.random.default_rng(0))
    assert proof.optimal
    assert proof.bound == pytest.approx(6.0)
    odd, _ = graph.with_numbers(instructions=[3e6, 3e6, 2e6, 2e6, 3e6])
    problem = sp.Problem(odd, cluster, objective=sp.Makespan())
    assert makespan_evaluator(problem).least_s == pytest.approx(6.5)
    proof = Exact().run(problem, np.random.default_rng(0))
    assert proof.optimal
    assert proof.bound == pytest.approx(7.0)


def test_messages_may_take_more_than_1e308_times_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message from e to a takes 8,000 s, so both share a device; the work takes 1e-306 s."""
    monkeypatch.setattr(ENUMERATE, lambda self, clock: None)
    times = zip("abcde", (3, 3, 2, 2, 2), strict=True)
    graph = sp.StreamGraph(
        [sp.Operator(name, 1e-300 * t, 1e12) for name, t in times],
        [sp.Stream("e", "a")],
        firing="all",
    )
    problem = sp.Problem(graph, sp.Cluster.equal(2, 1.0), objective=sp.Makespan())
    proof = Exact().run(problem, np.random.default_rng(0))
    assert proof.optimal
    assert proof.bound == pytest.approx(7e-306, rel=1e-6)


@pytest.mark.parametrize("seed", range(100, 110))
def test_no_placer_is_below_the_optimum(seed: int) -> None:
    problem = makespan_problem(seed)
    proof = Exact().run(problem, np.random.default_rng(0))
    for name in QUICK_MAKESPAN_NAMES:
        if name.startswith(("metis", "fuser")):
            continue
        try:
            found = placer_of(name)(problem, seeded_rng())
        except PlacementError:
            continue
        assert proof.bound is not None
        assert proof.bound <= makespan_of(found) * SLACK, name


def test_noise_is_refused() -> None:
    problem = makespan_problem(3).with_objective(sp.Makespan(noise=0.1))
    with pytest.raises(UnsuitableError, match="'exact' supports makespans without noise only"):
        Exact().run(problem, np.random.default_rng(0))


def test_a_proof_that_is_out_of_time_has_a_valid_bound() -> None:
    problem = makespan_problem(41, large=True)
    proof = Exact(seconds=0.0).run(problem, np.random.default_rng(0))
    assert not proof.optimal
    assert proof.bound is not None
    assert makespan_evaluator(problem).bound_s == proof.bound < makespan_of(proof.placement)


def test_the_search_before_a_proof_keeps_the_time_limit() -> None:
    """Without time, only the quick placers run, which a search would improve on."""
    problem = makespan_problem(42, large=True)
    placements = [
        placer(problem, np.random.default_rng(0))
        for placer in (Exact(seconds=0.0), Search(seconds=0.0), Search())
    ]
    without, quick, searched = map(makespan_of, placements)
    assert searched < without == quick
