"""Bounds on loads and groups of units against all placements of small random problems."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.grouped_problems import grouped_problem
from benchmarks.reference.message_problems import message_problem
from benchmarks.reference.random_problems import feasible_placements, random_problem
from benchmarks.reference.resource_problems import resource_problem
from benchmarks.reference.rules import obeying
from benchmarks.reference.strategies import problems
from streamplace.families import Recipe
from streamplace.placers.registry import make_placer
from streamplace.problem.cluster import Cluster, Network
from streamplace.problem.constraints import Constraints
from streamplace.problem.objective import Model
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import CLOSED_FORMS, throughput_evaluator
from streamplace.scoring.throughput import bound, throughput
from streamplace.scoring.throughput_evaluator import ThroughputEvaluator
from streamplace.sim.closed_form.bottleneck import lowest_utilisation, worst_utilisation
from streamplace.util.arrays import Floats, Ints
from tests.support.graphs import chain_graph
from tests.support.placements import every_placement
from tests.support.share import Share

SLACK = 1 + 1e-9
KINDS: dict[str, Callable[[int, Model, int], Problem | None]] = {
    "plain": random_problem,
    "groups": grouped_problem,
    "resources": resource_problem,
    "messages": message_problem,
}
MOST: dict[Model, int] = {"bottleneck": 2_000, "path-average": 600}  # placements of a problem
SHARES = (0.7, 0.95, 1 - 1e-7)  # of the optimum, that placements have to exceed
MANY = range(10_000, 11_250)  # with four kinds and two models: 10,000 problems


class All(NamedTuple):
    """All feasible placements of a problem."""

    scored: ThroughputEvaluator
    units: Ints  # (K, U) the device of each unit
    reached: Floats  # (K,) tuples/s; under bottleneck, at an unlimited source rate


def all_of(problem: Problem) -> All | None:
    """Score all placements; None if some of them have no load at all."""
    scored = throughput_evaluator(problem)
    rows = np.concatenate(list(feasible_placements(problem)))
    reached = scored.throughput(rows)
    if scored.linear:
        worst = worst_utilisation(flow(problem), rows)
        if worst.min() == 0.0:
            return None
        reached = problem.source_rate / worst
    return All(scored, rows[:, problem.feasibility.first_of], reached)


def check(seed: int, kind: str, model: Model) -> float | None:
    """Compare a problem's bounds with its optimum; return the gap, None if there is no problem."""
    problem = KINDS[kind](seed, model, MOST[model])
    every = None if problem is None else all_of(problem)
    if problem is None or every is None:
        return None
    scored, best = every.scored, float(every.reached.max())
    full = scored.ceiling if scored.linear else scored.bound
    least = scored.least_utilisation
    quick = problem.source_rate / (least if scored.linear else max(1.0, least))
    assert best <= full * SLACK, seed
    assert full <= quick * SLACK, seed
    assert scored.bound <= bound(problem, 0.1) * SLACK, seed
    for share in SHARES:
        better = every.units[every.reached > best * share * SLACK]
        for thorough in (False, True):
            groups = scored.together(best * share, thorough=thorough)
            assert groups is not None, seed
            first = np.unique(groups, return_index=True)[1][groups]
            assert (better == better[:, first]).all(), (seed, share, thorough)
    return 1.0 - best / full


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_placement_is_above_a_bound_or_parts_a_group(kind: str, model: Model) -> None:
    gaps = [gap for seed in range(12) if (gap := check(seed, kind, model)) is not None]
    assert len(gaps) > 8
    if model == "bottleneck":
        assert np.mean(gaps) < 5e-3  # up to 0.08 by contraction alone


@pytest.mark.long
@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_placement_is_above_many_bounds(kind: str, model: Model, share: Share) -> None:
    found = [check(seed, kind, model) for seed in share.of(MANY)]
    assert sum(gap is not None for gap in found) > 0.9 * share.least(len(MANY))


@given(
    st.sampled_from(CLOSED_FORMS).flatmap(lambda model: problems(model, max_size=5, shared=True))
)
def test_no_placement_exceeds_the_bound(problem: Problem) -> None:
    rows = every_placement(problem)
    rows = rows[obeying(problem, rows)]
    assert throughput(problem, rows).max() <= bound(problem) * SLACK
    arrays = flow(problem)
    least = compiled(problem).least_utilisation(links_count=True)
    assert least <= worst_utilisation(arrays, rows).min() * SLACK
    if arrays.work.any():
        assert least >= lowest_utilisation(arrays) * (1 - 1e-12)


def test_four_equal_operators_on_three_devices() -> None:
    problem = Problem(chain_graph(5e5, 5e5, 5e5, 5e5), Cluster.equal(3, mips=1000.0))
    assert bound(problem) == pytest.approx(1000.0)
    faster = Problem(problem.graph, problem.cluster, source_rate=2000.0)
    assert bound(faster) == pytest.approx(1000.0)  # total CPU alone would give 1500


def test_streams_too_heavy_for_links_join_their_ends() -> None:
    """If the heavy stream is cut, the link's utilisation is 2; otherwise a device's is 1.6."""
    network = Network(bandwidth_mbps=8.0)
    cluster = Cluster.equal(3, mips=1000.0, network=network)
    graph = chain_graph(8e5, 8e5, payload_bytes=2000.0)
    assert bound(Problem(graph, cluster)) == pytest.approx(1000 / 1.6)
    light = Problem(chain_graph(8e5, 8e5, payload_bytes=1200.0), cluster)
    assert bound(light) == pytest.approx(1000 / 1.2)  # cutting is better, with utilisation 1.2
    under = Problem(graph, cluster, model="path-average")
    assert bound(under) == pytest.approx(1000 / 1.6)  # cut, half of the tuples arrive


def test_messages_that_cost_too_much_cpu_time_join_their_ends() -> None:
    """Cut, the sender's device has the utilisation 0.8 + 0.5; together, theirs has 0.9."""
    network = Network(bandwidth_mbps=1e6, overhead_s=5e-4)
    cluster = Cluster.equal(2, mips=1000.0, network=network)
    problem = Problem(chain_graph(8e5, 1e5), cluster, source_rate=2000.0)
    assert bound(problem) == pytest.approx(1000 / 0.9)
    assert throughput(problem, every_placement(problem)).max() == pytest.approx(1000 / 0.9)
    cheap = Cluster.equal(2, mips=1000.0, network=Network(bandwidth_mbps=1e6, overhead_s=2e-5))
    cut = Problem(problem.graph, cheap, source_rate=2000.0)
    assert bound(cut) == pytest.approx(1000 / 0.82)


def test_colocated_operators_count_as_one_unit() -> None:
    together = Constraints(colocate=[["a", "c"]])
    graph = chain_graph(8e5, 1e5, 8e5)
    problem = Problem(graph, Cluster.equal(3, mips=1000.0), constraints=together)
    assert bound(problem) == pytest.approx(1000 / 1.6)


@pytest.mark.parametrize("rate", [1e4, 2e4])
def test_the_bound_is_tight_on_benchmark_graphs(rate: float) -> None:
    """The mean gap to a search is well below that of the simpler bound."""
    gaps, plain = [], []
    for number in range(40):
        problem = Problem(Recipe("dream", 40, seed=8).graph(number), source_rate=rate)
        found = make_placer("search:evaluations=5000")(problem, np.random.default_rng(0))
        achieved = throughput(problem, found.devices)[0]
        assert achieved <= bound(problem) * (1 + 1e-9)
        gaps.append(1 - achieved / bound(problem))
        plain.append(1 - achieved / min(rate, rate / lowest_utilisation(flow(problem))))
    assert np.mean(gaps) < 0.6 * np.mean(plain)
