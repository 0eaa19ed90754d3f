"""Simulated annealing: no worse than where it sets out from, optimal on what brute force can do."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reference.strategies import cases, problems
from streamplace import Cluster, Constraints, Device, Network, Placement, Problem, StreamGraph
from streamplace.errors import PlacementError, UsageError
from streamplace.placers import repair
from streamplace.placers.registry import make_placer
from streamplace.placers.repair import feasible
from streamplace.placers.search.search import Search
from streamplace.problem.cluster import NetworkKind
from streamplace.problem.objective import CLOSED_FORMS, Model
from streamplace.scoring.throughput import bound, throughput
from streamplace.util.arrays import Ints
from tests.placers.jobs import pipeline
from tests.placers.test_every_placer import constrained, some_placement_is_feasible

EVEN = 1 - 1e-12
STARTS = ("metis", "metis-recursive", "greedy", "single")


def reached(problem: Problem, placer: Search, seed: int = 0, start: Ints | None = None) -> float:
    """Return the throughput of what a search finds."""
    given = None if start is None else Placement(problem, start)
    found = placer(problem, np.random.default_rng(seed), given)
    assert problem.feasibility.violation(found.devices) is None
    return score(problem, found.devices)


def score(problem: Problem, devices: Ints) -> float:
    return float(throughput(problem, devices)[0])


def every_placement(problem: Problem) -> Ints:
    shape = (len(problem.cluster.devices),) * len(problem.graph.names)
    rows = np.unravel_index(np.arange(np.prod(shape)), shape)
    return np.stack(rows, axis=1).astype(np.int32)


def best(problem: Problem) -> float:
    """Try every feasible placement."""
    rules = problem.feasibility
    rows = [row for row in every_placement(problem) if rules.violation(row) is None]
    return float(throughput(problem, np.stack(rows)).max())


of_any_model = st.sampled_from(CLOSED_FORMS).flatmap(problems)


@given(of_any_model, st.integers(0, 9))
def test_no_worse_than_its_starts(problem: Problem, seed: int) -> None:
    found = reached(problem, Search(evaluations=100), seed)
    rng = np.random.default_rng(0)
    for name in STARTS:
        assert found >= score(problem, make_placer(name)(problem, rng).devices) * EVEN, name
    assert found <= bound(problem) * (1 + 1e-9)


@given(st.sampled_from(CLOSED_FORMS).flatmap(cases))
def test_no_worse_than_the_start_it_is_given(case: tuple[Problem, list[int]]) -> None:
    problem, devices = case
    start = np.array(devices, dtype=np.int32)
    found = reached(problem, Search(evaluations=20), start=start)
    assert found >= score(problem, start) * EVEN


@st.composite
def tight(draw: st.DrawFn) -> Problem:
    """Return five operators that three unequal devices on slow links can hardly keep up with."""
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
def test_finds_the_optimum_of_tiny_problems(problem: Problem) -> None:
    """Of all 243 placements."""
    assert reached(problem, Search(evaluations=4000)) >= best(problem) * (1 - 1e-9)


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("kind", get_args(NetworkKind))
def test_finds_an_optimum_that_its_starts_miss(model: Model, kind: NetworkKind) -> None:
    """Greedy parts a, b and c; the best keeps c, d and e together and a from b."""
    network = Network(kind, bandwidth_mbps=8.0)
    cluster = Cluster([Device("x", 1000), Device("y", 700), Device("z", 400)], network)
    graph = pipeline(4e5, 5e5, 7e5, 8e5, 1e5, payload_bytes=200.0)
    problem = Problem(graph, cluster, model=model)
    rng = np.random.default_rng(0)
    starts = [score(problem, make_placer(name)(problem, rng).devices) for name in STARTS]
    optimum = best(problem)
    assert max(starts) < 0.95 * optimum
    for seed in range(3):
        found = reached(problem, Search(evaluations=6000), seed)
        assert found == pytest.approx(optimum, rel=1e-9)


def test_leaves_what_no_one_change_improves() -> None:
    """At slightly more than half of what can be had: it has to lose first."""
    network = Network(bandwidth_mbps=8.0)
    cluster = Cluster([Device("x", 1000), Device("y", 700), Device("z", 400)], network)
    problem = Problem(pipeline(8e5, 6e5, 6e5, 8e5, 5e5, payload_bytes=700.0), cluster)
    start = np.array([1, 2, 2, 1, 1], dtype=np.int32)
    rows = every_placement(problem)
    changed = (rows != start).sum(axis=1)
    swapped = (changed == 2) & (np.sort(rows, axis=1) == np.sort(start)).all(axis=1)
    near = throughput(problem, rows[(changed == 1) | swapped])
    assert near.max() <= score(problem, start) < 0.6 * best(problem)
    for seed in range(3):
        found = reached(problem, Search(evaluations=2000), seed, start)
        assert found == pytest.approx(best(problem))


@settings(max_examples=40)
@given(constrained(), st.integers(0, 9))
def test_constraints_hold_from_any_start(problem: Problem | None, seed: int) -> None:
    """A start that breaks them is repaired; `reached` looks at what comes out."""
    if problem is None or not some_placement_is_feasible(problem):
        return
    start = np.random.default_rng(seed).integers(3, size=len(problem.graph.names), dtype=np.int32)
    found = reached(problem, Search(evaluations=300), seed, start)
    assert found >= score(problem, feasible(problem, start).devices) * EVEN


def test_finds_the_optimum_where_operators_must_be_apart() -> None:
    apart = Constraints(exlocate=[["a", "b"], ["c", "d"]])
    graph = pipeline(4e5, 5e5, 7e5, 8e5, 1e5, payload_bytes=200.0)
    problem = Problem(graph, Cluster.equal(3, mips=700.0), constraints=apart)
    assert reached(problem, Search(evaluations=4000)) == pytest.approx(best(problem))


@pytest.mark.parametrize("pin", ["x", "y", "z"])
def test_finds_the_optimum_among_the_feasible(pin: str) -> None:
    """a, d and e move together and fit no device quite; b is barred from x unless c is there."""
    rules = Constraints(
        pins={"c": pin}, colocate=[["a", "d"], ["d", "e"]], allowed={"b": ["y", "z", pin]}
    )
    cluster = Cluster([Device("x", 800), Device("y", 700), Device("z", 600)])
    graph = pipeline(2e5, 7e5, 4e5, 4e5, 3e5, payload_bytes=200.0)
    problem = Problem(graph, cluster, constraints=rules)
    optimum = best(problem)
    assert optimum < 0.97 * best(Problem(graph, cluster))
    found = reached(problem, Search(evaluations=3000))
    assert found == pytest.approx(optimum, rel=1e-9)


@given(of_any_model, st.integers(0, 9))
def test_same_seed_same_answer(problem: Problem, seed: int) -> None:
    one, other = (
        Search(evaluations=200)(problem, np.random.default_rng(seed)).devices for _ in range(2)
    )
    assert one.tolist() == other.tolist()


@pytest.mark.parametrize("model", CLOSED_FORMS)
def test_one_operator_on_one_device(model: Model) -> None:
    one = Problem(pipeline(1e9), Cluster.equal(1), model=model)
    assert reached(one, Search()) == bound(one)
    slow_first = Cluster([Device("slow", 10.0), Device("fast", 30.0)])
    problem = Problem(pipeline(1e9), slow_first, model=model)
    found = Search()(problem, np.random.default_rng(0))
    assert found.devices.tolist() == [1]
    crowd = Problem(pipeline(1e9, 1e9), Cluster.equal(1), model=model)
    assert reached(crowd, Search(evaluations=50)) == bound(crowd)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("search:evaluations=0", "evaluations must be at least 1"),
        ("search:seconds=-1", "seconds must be at least 0"),
        ("search:seconds=nan", "seconds must be at least 0"),
        ("search:seconds=inf", "seconds must be at least 0"),
        ("search:seconds=soon", "seconds must be a number"),
        ("search:steps=5", "options are evaluations, seconds"),
    ],
)
def test_bad_options_are_told(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_placer(name)


def test_options_reach_it() -> None:
    assert make_placer("search:evaluations=80") == Search(evaluations=80)
    assert make_placer("search:seconds=0.5") == Search(seconds=0.5)


def test_no_time_at_all_gives_the_best_start() -> None:
    problem = Problem(pipeline(4e5, 5e5, 7e5, 8e5, 1e5), Cluster.equal(3, mips=500.0))
    found = reached(problem, Search(seconds=0.0))
    rng = np.random.default_rng(0)
    starts = [score(problem, make_placer(name)(problem, rng).devices) for name in STARTS]
    assert found == pytest.approx(max(starts), rel=1e-12)


def test_one_draft_that_cannot_be_repaired_does_not_end_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nor the best of several placements by a policy; only where none can, it is told."""
    problem = Problem(pipeline(1.0, 1.0, 1.0, 1.0))
    whole = repair.feasible
    told: list[int] = []

    def sometimes(problem: Problem, draft: Ints) -> Placement:
        told.append(len(told))
        if told[-1] % 3:
            raise PlacementError("found none")
        return whole(problem, draft)

    monkeypatch.setattr(repair, "feasible", sometimes)
    drafts = np.zeros((5, 4), dtype=np.int32)
    assert len(repair.feasible_ones(problem, drafts)) == 2
    with pytest.raises(PlacementError, match="found none"):
        repair.feasible_ones(problem, drafts[:1])
