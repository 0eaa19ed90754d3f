"""Starts of searches for short makespans within shares of a budget."""

from collections.abc import Iterable
from itertools import count, repeat
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from benchmarks.makespans.drawn import drawn_problem
from streamplace.errors import PlacementError
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.makespan.placers import search
from streamplace.makespan.placers.portfolio import Tries, partitions, samples
from streamplace.placers.base import Placer
from streamplace.placers.budget import Budget
from streamplace.placers.partition.metis import Metis
from streamplace.placers.registry import make_placer
from streamplace.placers.trivial import RoundRobin, Single
from streamplace.util.arrays import Ints
from tests.support.makespan_problems import makespan_of, makespan_problem
from tests.support.placers import seeded_rng


def tries_of(placers: Iterable[tuple[Placer, int]], share: float = 1.0) -> Tries:
    return Tries(iter(placers), share)


def test_the_shortest_of_several_tries_is_kept() -> None:
    problem = drawn_problem(0, 0)[1]
    scored = MakespanEvaluator(problem)
    tries = tries_of([(RoundRobin(), 1), (make_placer("heft"), 1), (RoundRobin(), 1)])
    row = tries.best(scored, seeded_rng(), 3, Budget(evaluations=3))
    assert row.shape == (1, len(problem.graph.names))
    assert row[0].tolist() == make_placer("heft")(problem, seeded_rng()).devices.tolist()


def test_tries_end_with_the_budget() -> None:
    scored = MakespanEvaluator(drawn_problem(0, 0)[1])
    numbers = count()
    tries = tries_of((RoundRobin(), 10) for _ in zip(numbers, repeat(None), strict=False))
    tries.best(scored, seeded_rng(), 100, Budget(evaluations=25))
    assert next(numbers) == 3
    assert tries.best(scored, seeded_rng(), 100, Budget(evaluations=0)).shape[0] == 0


def test_tries_take_their_share_of_the_search() -> None:
    """With a tenth, placers of 10 evaluations run once per 100; what is overdrawn is remembered."""
    scored = MakespanEvaluator(drawn_problem(0, 0)[1])
    run = list[int]()
    tries = tries_of(((RoundRobin(), 10) for n in count() if run.append(n) is None), 0.1)  # type: ignore[func-returns-value]
    for evaluations, runs in ((1, 1), (98, 1), (2, 2), (1000, 12)):
        tries.best(scored, seeded_rng(), evaluations, Budget())
        assert len(run) == runs


def test_a_placer_without_a_placement_is_passed_over() -> None:
    """No single device holds both operators; METIS has no sink that a tuple reaches."""
    graph = sp.StreamGraph([sp.Operator(n, 1e6, 0.0, memory_bytes=2) for n in "ab"])
    cluster = sp.Cluster([sp.Device(n, 1.0, memory_bytes=3) for n in "xy"])
    problem = sp.Problem(graph, cluster, objective=sp.Makespan())
    tries = tries_of([(Single(), 1)])
    found = tries.best(MakespanEvaluator(problem), seeded_rng(), 9, Budget(evaluations=9))
    assert found.shape == (0, 2)


def test_samples_and_partitions_cost_what_they_try() -> None:
    problem = drawn_problem(2, 0)[1]
    devices = len(problem.cluster.devices)
    costs = [cost for (_, cost), _ in zip(samples(problem), range(9), strict=False)]
    assert costs == [devices * n for n in (1, 2, 4, 8, 16, 32, 50, 50, 50)]
    cuts = [
        (placer.name, placer.parts)
        for placer, _ in partitions(problem)
        if isinstance(placer, Metis)
    ]
    names = ("metis-recursive", "metis")
    assert cuts == [(name, parts) for parts in range(2, devices + 1) for name in names]


@pytest.mark.parametrize("name", ["auto", "search"])
def test_metis_is_a_start_where_links_are_busy(name: str) -> None:
    """On these graphs, a small cut is far better than what list schedulers find."""
    for number in (42, 378):
        problem = drawn_problem(number, 0)[1]
        cut = makespan_of(make_placer("metis-recursive:parts=2")(problem, seeded_rng()))
        own = makespan_of(make_placer(f"{name}:evaluations=400")(problem, seeded_rng()))
        assert own <= cut * (1 + 1e-9)


def test_searches_with_few_evaluations_are_no_worse_than_their_starts() -> None:
    for seed in range(20):
        problem = makespan_problem(seed, large=True)
        heft = makespan_of(make_placer("heft")(problem, seeded_rng()))
        for evaluations in (1, 40):
            rng = np.random.default_rng(seed)
            own = make_placer(f"search:evaluations={evaluations}")(problem, rng)
            assert makespan_of(own) <= heft * (1 + 1e-9)


@pytest.mark.parametrize("number", [0, 12, 16, 36])
def test_a_longer_search_goes_on_from_a_shorter_one(number: int) -> None:
    problem = drawn_problem(number, 0)[1]
    made = [
        makespan_of(make_placer(f"search:evaluations={evaluations}")(problem, seeded_rng()))
        for evaluations in (100, 1_000, 3_000, 9_000)
    ]
    assert made == sorted(made, reverse=True)


def test_auto_is_never_longer_than_search_with_the_same_seed() -> None:
    for number in (12, 42):
        problem = drawn_problem(number, 0)[1]
        for evaluations in (50, 1_000):
            auto, search = (
                makespan_of(make_placer(f"{name}:evaluations={evaluations}")(problem, seeded_rng()))
                for name in ("auto", "search")
            )
            assert auto <= search * (1 + 1e-9)


def test_starts_that_no_further_placer_finds_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = drawn_problem(12, 0)[1]
    start = make_placer("heft")(problem, seeded_rng())

    def rows(
        problem: sp.Problem, rng: np.random.Generator, start: sp.Placement | None, placers: Any
    ) -> Ints:
        if start is None:
            raise PlacementError("no placement was found")
        return start.devices[None]

    monkeypatch.setattr(search, "portfolio", rows)
    found = search.search_pass(problem, seeded_rng(), start, Budget(evaluations=10))
    assert makespan_of(found) <= makespan_of(start)
