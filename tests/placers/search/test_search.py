"""Tests for simulated annealing: no worse than its starts, and optimal on tiny problems."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reference.random_problems import optimum
from benchmarks.reference.strategies import cases
from streamplace import Cluster, Constraints, Device, Network, Placement, Problem, StreamGraph
from streamplace.placers.registry import make_placer
from streamplace.placers.repair import feasible
from streamplace.placers.search.search import Search
from streamplace.problem.cluster import NetworkKind
from streamplace.problem.objective import Model
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import bound, throughput
from streamplace.util.arrays import Ints
from tests.support.graphs import chain_graph
from tests.support.placements import every_placement, some_placement_is_feasible, throughput_of
from tests.support.strategies import closed_form_problems, constrained_problems

ROUNDING = 1 - 1e-12


STARTS = ("metis", "metis-recursive", "greedy", "single")


def throughput_of_search(
    problem: Problem, placer: Search, seed: int = 0, start: Ints | None = None
) -> float:
    """Return the throughput of the placement that a search finds, in tuples/s."""
    initial = None if start is None else Placement(problem, start)
    found = placer(problem, np.random.default_rng(seed), initial)
    assert problem.feasibility.violation(found.devices) is None
    return throughput_of(problem, found.devices)


@given(closed_form_problems, st.integers(0, 9))
def test_search_is_no_worse_than_its_starts(problem: Problem, seed: int) -> None:
    found = throughput_of_search(problem, Search(evaluations=100), seed)
    rng = np.random.default_rng(0)
    for name in STARTS:
        assert (
            found >= throughput_of(problem, make_placer(name)(problem, rng).devices) * ROUNDING
        ), name
    assert found <= bound(problem) * (1 + 1e-9)


@given(st.sampled_from(CLOSED_FORMS).flatmap(cases))
def test_search_is_no_worse_than_the_initial_placement(case: tuple[Problem, list[int]]) -> None:
    problem, devices = case
    start = np.array(devices, dtype=np.int32)
    found = throughput_of_search(problem, Search(evaluations=20), start=start)
    assert found >= throughput_of(problem, start) * ROUNDING


@st.composite
def tight(draw: st.DrawFn) -> Problem:
    """Return a problem of five operators that overload three unequal devices on slow links."""
    costs = [draw(st.integers(1, 9)) * 1e5 for _ in range(5)]
    payload = draw(st.integers(1, 9)) * 100.0
    parents = [draw(st.integers(0, v)) for v in range(4)]
    graph = StreamGraph.from_columns(
        list("abcde"), costs, [payload] * 5, [(u, v + 1) for v, u in enumerate(parents)]
    )
    mips = [draw(st.integers(2, 9)) * 100.0 for _ in range(3)]
    kind, model = draw(st.sampled_from(get_args(NetworkKind))), draw(st.sampled_from(CLOSED_FORMS))
    cluster = Cluster(
        [Device(f"d{i}", m) for i, m in enumerate(mips)], Network(kind, bandwidth_mbps=8.0)
    )
    return Problem(graph, cluster, source_rate=1000.0, model=model)


@settings(max_examples=30)
@given(tight())
def test_search_finds_the_optimum_of_tiny_problems(problem: Problem) -> None:
    """The optimum is the best of all 243 placements."""
    assert throughput_of_search(problem, Search(evaluations=4000)) >= optimum(problem) * (1 - 1e-9)


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("kind", get_args(NetworkKind))
def test_search_finds_an_optimum_that_its_starts_miss(model: Model, kind: NetworkKind) -> None:
    """Greedy separates a, b and c; the optimum keeps c, d and e together and a from b."""
    network = Network(kind, bandwidth_mbps=8.0)
    cluster = Cluster([Device("x", 1000), Device("y", 700), Device("z", 400)], network)
    graph = chain_graph(4e5, 5e5, 7e5, 8e5, 1e5, payload_bytes=200.0)
    problem = Problem(graph, cluster, model=model)
    rng = np.random.default_rng(0)
    starts = [throughput_of(problem, make_placer(name)(problem, rng).devices) for name in STARTS]
    highest = optimum(problem)
    assert max(starts) < 0.95 * highest
    for seed in range(3):
        found = throughput_of_search(problem, Search(evaluations=6000), seed)
        assert found == pytest.approx(highest, rel=1e-9)


def test_search_leaves_a_local_optimum() -> None:
    """The start has less than 0.6 of the optimum, and no single move or swap improves it."""
    network = Network(bandwidth_mbps=8.0)
    cluster = Cluster([Device("x", 1000), Device("y", 700), Device("z", 400)], network)
    problem = Problem(chain_graph(8e5, 6e5, 6e5, 8e5, 5e5, payload_bytes=700.0), cluster)
    start = np.array([1, 2, 2, 1, 1], dtype=np.int32)
    rows = every_placement(problem)
    changed = (rows != start).sum(axis=1)
    swapped = (changed == 2) & (np.sort(rows, axis=1) == np.sort(start)).all(axis=1)
    near = throughput(problem, rows[(changed == 1) | swapped])
    assert near.max() <= throughput_of(problem, start) < 0.6 * optimum(problem)
    for seed in range(3):
        found = throughput_of_search(problem, Search(evaluations=2000), seed, start)
        assert found == pytest.approx(optimum(problem))


@given(constrained_problems(), st.integers(0, 9))
def test_constraints_hold_from_any_start(problem: Problem | None, seed: int) -> None:
    """A start that violates constraints is repaired; the helper checks the result."""
    if problem is None or not some_placement_is_feasible(problem):
        return
    start = np.random.default_rng(seed).integers(3, size=len(problem.graph.names), dtype=np.int32)
    found = throughput_of_search(problem, Search(evaluations=300), seed, start)
    assert found >= throughput_of(problem, feasible(problem, start).devices) * ROUNDING


def test_search_finds_the_optimum_where_operators_must_be_apart() -> None:
    apart = Constraints(exlocate=[["a", "b"], ["c", "d"]])
    graph = chain_graph(4e5, 5e5, 7e5, 8e5, 1e5, payload_bytes=200.0)
    problem = Problem(graph, Cluster.equal(3, mips=700.0), constraints=apart)
    assert throughput_of_search(problem, Search(evaluations=4000)) == pytest.approx(
        optimum(problem)
    )


@pytest.mark.parametrize("pin", ["x", "y", "z"])
def test_search_finds_the_optimum_under_constraints(pin: str) -> None:
    """The unit of a, d and e overloads every device; b may use x only if c is pinned to x."""
    rules = Constraints(
        pins={"c": pin}, colocate=[["a", "d"], ["d", "e"]], allowed={"b": ["y", "z", pin]}
    )
    cluster = Cluster([Device("x", 800), Device("y", 700), Device("z", 600)])
    graph = chain_graph(2e5, 7e5, 4e5, 4e5, 3e5, payload_bytes=200.0)
    problem = Problem(graph, cluster, constraints=rules)
    highest = optimum(problem)
    assert highest < 0.97 * optimum(Problem(graph, cluster))
    found = throughput_of_search(problem, Search(evaluations=3000))
    assert found == pytest.approx(highest, rel=1e-9)


@given(closed_form_problems, st.integers(0, 9))
def test_the_same_seed_gives_the_same_placement(problem: Problem, seed: int) -> None:
    one, other = (
        Search(evaluations=200)(problem, np.random.default_rng(seed)).devices for _ in range(2)
    )
    assert one.tolist() == other.tolist()


@pytest.mark.parametrize("model", CLOSED_FORMS)
def test_one_operator_on_one_device(model: Model) -> None:
    one = Problem(chain_graph(1e9), Cluster.equal(1), model=model)
    assert throughput_of_search(one, Search()) == bound(one)
    slow_first = Cluster([Device("slow", 10.0), Device("fast", 30.0)])
    problem = Problem(chain_graph(1e9), slow_first, model=model)
    found = Search()(problem, np.random.default_rng(0))
    assert found.devices.tolist() == [1]
    crowd = Problem(chain_graph(1e9, 1e9), Cluster.equal(1), model=model)
    assert throughput_of_search(crowd, Search(evaluations=50)) == bound(crowd)


def test_without_time_the_result_is_the_best_start() -> None:
    problem = Problem(chain_graph(4e5, 5e5, 7e5, 8e5, 1e5), Cluster.equal(3, mips=500.0))
    found = throughput_of_search(problem, Search(seconds=0.0))
    rng = np.random.default_rng(0)
    starts = [throughput_of(problem, make_placer(name)(problem, rng).devices) for name in STARTS]
    assert found == pytest.approx(max(starts), rel=1e-12)
