"""Lower bounds on makespans that count communication, against all placements."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

import streamplace as sp
from benchmarks.makespans.drawn import sized_problem, with_first
from streamplace.makespan.evaluator import MakespanEvaluator
from tests.support.makespan_problems import (
    constrained_makespan_problem,
    feasible_rows,
    makespan_problem,
)
from tests.support.share import Share

MOST = 5_000  # placements


def check_problems(seeds: Iterable[int]) -> tuple[int, int, int]:
    """Return the number of problems, and of those on which each bound is above the quick ones."""
    count = busiest = together = 0
    for seed in seeds:
        problem = makespan_problem(seed) if seed % 2 else constrained_makespan_problem(seed)
        if problem is None or problem.makespan_objective.noise:
            continue
        rows = feasible_rows(problem, MOST)
        if rows is None or not len(rows):
            continue
        scored = MakespanEvaluator(problem)
        shortest = float(scored.makespans(rows).min())
        assert scored.compiled.busiest_s <= shortest * (1 + 1e-9), seed
        assert scored.compiled.together_s <= shortest * (1 + 1e-9), seed
        count += 1
        busiest += scored.compiled.busiest_s > scored.least_s * (1 + 1e-9)
        together += scored.compiled.together_s > scored.least_s * (1 + 1e-9)
    return count, busiest, together


def check_communicating(numbers: Iterable[int]) -> tuple[int, int]:
    """Return the number of problems with slow links, and of those on which the bound is better."""
    count = better = 0
    for number in numbers:
        _, problem = sized_problem(number, seed=99, small=True)
        if len(problem.graph.names) > 12:
            continue
        rows = feasible_rows(with_first(problem, 2), MOST)
        if rows is None or not len(rows):
            continue
        scored = MakespanEvaluator(with_first(problem, 2))
        shortest = float(scored.makespans(rows).min())
        assert scored.bound_s is not None
        assert scored.bound_s <= shortest * (1 + 1e-9), number
        count += 1
        better += scored.bound_s > scored.least_s * (1 + 1e-9)
    return count, better


def test_the_bound_is_often_better_where_links_are_slow() -> None:
    count, better = check_communicating(range(80))
    assert count > 20
    assert better > 5


@pytest.mark.long
def test_no_placement_on_slow_links_is_below_the_bound(share: Share) -> None:
    count, better = check_communicating(share.of(range(80, 2000)))
    assert count > share.least(500)
    assert better > share.least(100)


def test_no_placement_is_below_the_bound() -> None:
    count, busiest, together = check_problems(range(40))
    assert count > 20
    assert busiest > 0
    assert together > 0


@pytest.mark.long
def test_no_placement_of_many_problems_is_below_the_bound(share: Share) -> None:
    count, busiest, together = check_problems(share.of(range(40, 3000)))
    assert count > share.least(1500)
    assert busiest > share.least(50)
    assert together > share.least(50)


def test_what_a_device_cannot_hold_has_to_cross() -> None:
    """A device holds two of the three operators, of 1 s each, so that 8 Mbit cross 1 Mbit/s."""
    graph = sp.StreamGraph(
        [sp.Operator(n, 1e6, 1e6) for n in "abc"],
        [sp.Stream("a", "b"), sp.Stream("b", "c")],
        firing="all",
    )
    cluster = sp.Cluster.equal(8, 1.0, sp.Network("nic", bandwidth_mbps=4.0, latency_s=0.0))
    problem = sp.Problem(graph, cluster, objective=sp.Makespan())
    assert MakespanEvaluator(problem).bound_s == pytest.approx(3.0)  # the chain on one device
    many = sp.StreamGraph(
        [sp.Operator("a", 0.0, 1e6), *(sp.Operator(f"b{i}", 1e6, 0.0) for i in range(9))],
        [sp.Stream("a", f"b{i}") for i in range(9)],
        firing="all",
    )
    scored = MakespanEvaluator(sp.Problem(many, cluster, objective=sp.Makespan()))
    assert scored.least_s == pytest.approx(9 / 8, abs=0.2)
    assert scored.bound_s == pytest.approx(6.0)  # 6 b with a, and 3 messages of 2 s


def test_a_chain_that_no_device_can_run_in_time_has_to_be_split() -> None:
    """Two inputs of 4 s and their consumer: one waits for the other, or for a message of 2 s."""
    graph = sp.StreamGraph(
        [sp.Operator(n, 1e6 * s, 1e6) for n, s in (("a", 4), ("b", 4), ("c", 1))],
        [sp.Stream("a", "c"), sp.Stream("b", "c")],
        firing="all",
    )
    cluster = sp.Cluster.equal(2, 1.0, sp.Network("pair", bandwidth_mbps=4.0, latency_s=0.0))
    scored = MakespanEvaluator(sp.Problem(graph, cluster, objective=sp.Makespan()))
    assert scored.least_s == pytest.approx(5.0)
    assert scored.bound_s == pytest.approx(7.0, rel=1e-3)  # the optimum


def test_messages_that_wait_for_nothing_do_not_count() -> None:
    graph = sp.StreamGraph(
        [sp.Operator("a", 0.0, 1e6), *(sp.Operator(f"b{i}", 1e6, 0.0) for i in range(9))],
        [sp.Stream("a", f"b{i}") for i in range(9)],
        firing="all",
    )
    cluster = sp.Cluster.equal(9, 1.0, sp.Network("free", bandwidth_mbps=4.0, latency_s=0.0))
    scored = MakespanEvaluator(sp.Problem(graph, cluster, objective=sp.Makespan()))
    assert scored.bound_s is not None
    assert scored.bound_s <= 3.0  # all messages at once


def test_a_graph_without_sinks_that_tuples_reach_has_the_other_bounds() -> None:
    graph = sp.StreamGraph(
        [sp.Operator("a", 1e6, 1.0), sp.Operator("b", 1e6, 1.0)],
        [sp.Stream("a", "b", selectivity=0.0)],
    )
    scored = MakespanEvaluator(sp.Problem(graph, "2x1", objective=sp.Makespan()))
    assert scored.bound_s == scored.least_s


def test_noise_has_no_bound_and_inputs_everywhere_send_nothing() -> None:
    _, problem = sized_problem(2, seed=1, small=True)
    aim = problem.makespan_objective
    noisy = problem.with_objective(replace(aim, noise=0.1, repeats=2))
    assert MakespanEvaluator(noisy).bound_s is None
    everywhere = problem.with_objective(replace(aim, inputs_everywhere=True))
    bounds = [MakespanEvaluator(each).compiled.busiest_s for each in (problem, everywhere)]
    assert bounds[1] <= bounds[0] * (1 + 1e-9)
    assert np.isfinite(bounds).all()
