"""Tests for properties of every placer: constraints, bounds, repeatability."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reference.changes import as_fast
from benchmarks.reference.strategies import problems
from streamplace import Cluster, Constraints, Device, Problem
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.registry import make_placer
from streamplace.scoring.throughput import bound, throughput
from tests.support.graphs import chain_graph
from tests.support.placements import some_placement_is_feasible
from tests.support.placers import SOME_LONG
from tests.support.strategies import constrained_problems


@pytest.mark.parametrize("name", SOME_LONG)
@given(problem=problems(), seed=st.integers(0, 9))
def test_no_placement_exceeds_the_bound_and_seeds_repeat(
    name: str, problem: Problem, seed: int
) -> None:
    first, second = (make_placer(name)(problem, np.random.default_rng(seed)) for _ in range(2))
    assert first.devices.shape == (len(problem.graph.names),)
    achieved = throughput(problem, first.devices)[0]
    assert 0 < achieved <= bound(problem) * (1 + 1e-9)
    assert (first.devices == second.devices).all()


@pytest.mark.parametrize("name", SOME_LONG)
@settings(max_examples=10)
@given(problem=problems())
def test_a_target_of_one_half_has_the_effect_of_a_slower_cluster(
    name: str, problem: Problem
) -> None:
    """Halving is exact in floating point, so a placer must choose the same placement."""
    graph, cluster, rate = problem.graph, problem.cluster, problem.source_rate
    half = Problem(graph, cluster, source_rate=rate, target_utilisation=0.5)
    smaller = Problem(graph, as_fast(cluster, 0.5), source_rate=rate)
    first, second = (make_placer(name)(one, np.random.default_rng(0)) for one in (half, smaller))
    assert first.devices.tolist() == second.devices.tolist()


@pytest.mark.parametrize("name", [each for each in SOME_LONG if each.values != ("single",)])
@given(problem=constrained_problems())
def test_constraints_are_satisfied_wherever_possible(name: str, problem: Problem | None) -> None:
    if problem is None:
        return
    try:
        placement = make_placer(name)(problem, np.random.default_rng(0))
    except InfeasibleError:
        assert not some_placement_is_feasible(problem)
    else:
        assert problem.feasibility.violation(placement.devices) is None


def test_single_takes_the_fastest_device_that_may_run_everything() -> None:
    cluster = Cluster([Device("slow", 10.0), Device("fast", 30.0), Device("middle", 20.0)])
    graph = chain_graph(1.0, 1.0)
    rng = np.random.default_rng(0)
    single = make_placer("single")
    assert set(single(Problem(graph, cluster), rng).assignment.values()) == {"fast"}
    not_fast = Constraints(allowed={"a": ["slow", "middle"]})
    barred = Problem(graph, cluster, constraints=not_fast)
    assert set(single(barred, rng).assignment.values()) == {"middle"}
    apart = Problem(graph, cluster, constraints=Constraints(exlocate=[["a", "b"]]))
    with pytest.raises(PlacementError, match="no single device may run every operator"):
        single(apart, rng)
