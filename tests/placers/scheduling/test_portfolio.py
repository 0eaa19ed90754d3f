"""Starts of searches for short makespans within shares of a budget."""

from itertools import count, repeat

import numpy as np
import pytest

import streamplace as sp
from benchmarks.makespans.drawn import drawn_problem
from sim.schedule.anneal import Cooling
from sim.schedule.state import Order
from streamplace.placers.partition.partitioners import MetisRecursive
from streamplace.placers.registry import make_placer
from streamplace.placers.scheduling.annealing import (
    NO_HEAT,
    SMALL,
    Annealed,
    PassAnnealer,
    best_of_passes,
)
from streamplace.placers.scheduling.portfolio import best_tried, partitions, samples
from streamplace.placers.search.annealing import Budget
from streamplace.placers.trivial import RoundRobin, Single
from streamplace.scoring.makespan_evaluator import MakespanEvaluator
from streamplace.util.arrays import Ints
from tests.support.makespan_problems import makespan_of, makespan_problem
from tests.support.placers import seeded_rng


def test_the_shortest_of_several_tries_is_kept() -> None:
    problem = drawn_problem(0, 0)[1]
    scored = MakespanEvaluator(problem)
    tries = [(RoundRobin(), 1), (make_placer("heft"), 1), (RoundRobin(), 1)]
    row = best_tried(scored, seeded_rng(), tries, Budget(evaluations=3))
    assert row.shape == (1, len(problem.graph.names))
    assert row[0].tolist() == make_placer("heft")(problem, seeded_rng()).devices.tolist()


def test_tries_end_with_the_budget() -> None:
    scored = MakespanEvaluator(drawn_problem(0, 0)[1])
    numbers = count()
    tries = ((RoundRobin(), 10) for _ in zip(numbers, repeat(None), strict=False))
    best_tried(scored, seeded_rng(), tries, Budget(evaluations=25))
    assert next(numbers) == 4  # three were run, and the fourth was looked at
    assert best_tried(scored, seeded_rng(), tries, Budget(evaluations=0)).shape[0] == 0


def test_a_placer_without_a_placement_is_passed_over() -> None:
    """No single device holds both operators; METIS has no sink that a tuple reaches."""
    graph = sp.StreamGraph([sp.Operator(n, 1e6, 0.0, memory_bytes=2) for n in "ab"])
    cluster = sp.Cluster([sp.Device(n, 1.0, memory_bytes=3) for n in "xy"])
    problem = sp.Problem(graph, cluster, objective=sp.Makespan())
    tries = [(Single(), 1)]
    found = best_tried(MakespanEvaluator(problem), seeded_rng(), tries, Budget(evaluations=9))
    assert found.shape == (0, 2)


def test_samples_and_partitions_cost_what_they_try() -> None:
    problem = drawn_problem(2, 0)[1]
    devices = len(problem.cluster.devices)
    costs = [cost for (_, cost), _ in zip(samples(problem), range(9), strict=False)]
    assert costs == [devices * n for n in (1, 2, 4, 8, 16, 32, 50, 50, 50)]
    parts = [
        placer.parts for placer, _ in partitions(problem) if isinstance(placer, MetisRecursive)
    ]
    assert parts == list(range(2, devices + 1))


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


def test_a_climb_comes_first_on_graphs_that_are_not_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes half of what is left, and the first chain at a temperature starts where it ended."""
    chains = list[tuple[Cooling, list[int]]]()
    anneal = PassAnnealer.chain

    def noted(
        self: PassAnnealer, devices: Ints, order: Order, cooling: Cooling, enough_s: float
    ) -> Annealed:
        chains.append((cooling, devices.tolist()))
        found = anneal(self, devices, order, cooling, enough_s)
        ends.append((found.makespan_s, found.devices.tolist()))
        return found

    ends = list[tuple[float, list[int]]]()
    monkeypatch.setattr(PassAnnealer, "chain", noted)
    large, small = drawn_problem(16, 0)[1], drawn_problem(12, 0)[1]
    scored = MakespanEvaluator(large)
    heft = make_placer("heft")(large, seeded_rng()).devices[None]
    best_of_passes(scored, seeded_rng(), heft, Budget(evaluations=2001))
    (climb, start), (warm, second) = chains
    assert (climb.evaluations, climb.hot, start) == (1000, NO_HEAT, heft[0].tolist())
    assert (warm.evaluations, second) == (1000, ends[0][1])
    assert warm.hot > 1e-6
    assert ends[0][0] < float(scored.makespans(heft)[0])
    chains.clear()
    heft = make_placer("heft")(small, seeded_rng()).devices[None]
    best_of_passes(MakespanEvaluator(small), seeded_rng(), heft, Budget(evaluations=500))
    assert len(small.graph.names) <= SMALL
    assert chains[0][0].hot > 1e-6
