"""Simulated annealing: no worse than where it sets out from, and the optimum where all are tried."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamplace import Cluster, Constraints, Device, Network, Placement, Problem
from streamplace.arrays import Ints
from streamplace.errors import PlacementError, UsageError
from streamplace.models import MODELS
from streamplace.placers.registry import make_placer
from streamplace.placers.search import Search
from streamplace.score import bound, throughput
from tests.placers.jobs import pipeline
from tests.placers.test_every_placer import constrained
from tests.strategies import cases, problems

EVEN = 1 - 1e-12
STARTS = ("greedy", "single", "round-robin")


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


of_any_model = st.sampled_from(MODELS).flatmap(lambda model: problems(model))


@given(of_any_model, st.integers(0, 9))
def test_no_worse_than_its_starts(problem: Problem, seed: int) -> None:
    found = reached(problem, Search(evaluations=100), seed)
    rng = np.random.default_rng(0)
    for name in STARTS:
        assert found >= score(problem, make_placer(name)(problem, rng).devices) * EVEN, name
    assert found <= bound(problem) * (1 + 1e-9)


@given(of_any_model)
def test_fewer_chains_set_out_from_the_first_of_them(problem: Problem) -> None:
    rng = np.random.default_rng(0)
    starts = [score(problem, make_placer(name)(problem, rng).devices) for name in STARTS]
    for chains in (1, 2, 3):
        found = reached(problem, Search(evaluations=chains, chains=chains))
        assert found >= max(starts[:chains]) * EVEN


@pytest.mark.parametrize("chains", [1, 10])
@given(case=st.sampled_from(MODELS).flatmap(lambda model: cases(model)))
def test_no_worse_than_the_start_it_is_given(
    chains: int, case: tuple[Problem, list[int]]
) -> None:
    problem, devices = case
    start = np.array(devices, dtype=np.int32)
    found = reached(problem, Search(evaluations=2 * chains, chains=chains), start=start)
    assert found >= score(problem, start) * EVEN


@given(cases(), st.integers(0, 99))
def test_one_evaluation_is_one_change_of_the_start(
    case: tuple[Problem, list[int]], seed: int
) -> None:
    """One operator moved, or two swapped; every change there is gets tried sooner or later."""
    problem, devices = case
    start = Placement(problem, devices)
    found = Search(evaluations=1, chains=1)(problem, np.random.default_rng(seed), start)
    changed = np.flatnonzero(found.devices != start.devices)
    assert len(changed) <= 2
    if len(changed) == 2:
        assert found.devices[changed].tolist() == start.devices[changed[::-1]].tolist()


def improving_start(better: list[int]) -> Iterator[list[int]]:
    """Yield what one evaluation makes of a, b, c on devices 0, 0, 1, where that is better."""
    problem = Problem(pipeline(6e5, 3e5, 6e5), Cluster.equal(2, mips=1000.0), source_rate=1000)
    start = Placement(problem, [0, 0, 0])
    for seed in range(200):
        found = Search(evaluations=1, chains=1)(problem, np.random.default_rng(seed), start)
        if found.devices.tolist() == better:
            yield better


@pytest.mark.parametrize("better", [[1, 0, 0], [0, 0, 1], [0, 1, 0]])
def test_every_operator_gets_moved(better: list[int]) -> None:
    assert any(improving_start(better))


@settings(max_examples=25)
@given(st.sampled_from(MODELS).flatmap(lambda model: problems(model, max_size=5)))
def test_finds_the_optimum_of_tiny_problems(problem: Problem) -> None:
    """Up to 5 operators on up to 4 devices: 1,024 placements."""
    found = reached(problem, Search(evaluations=5000))
    assert found >= best(problem) * (1 - 1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", ["pair", "nic"])
def test_finds_an_optimum_that_its_starts_miss(model: str, kind: str) -> None:
    """Two heavy operators fill a device each, and a fat stream joins what greedy parts."""
    network = Network(kind=kind, bandwidth_mbps=8.0)  # type: ignore[arg-type]
    cluster = Cluster([Device("x", 1000), Device("y", 700), Device("z", 400)], network)
    graph = pipeline(2e5, 7e5, 4e5, 4e5, 3e5, payload_bytes=700.0)
    problem = Problem(graph, cluster, model=model)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    starts = [score(problem, make_placer(name)(problem, rng).devices) for name in STARTS]
    optimum = best(problem)
    assert max(starts) < optimum * 0.999
    for seed in range(3):
        assert reached(problem, Search(), seed) == pytest.approx(optimum, rel=1e-9)


@settings(max_examples=40)
@given(constrained(), st.integers(0, 9))
def test_constraints_hold_from_any_start(problem: Problem | None, seed: int) -> None:
    """A start that breaks them is repaired; `reached` looks at what comes out."""
    if problem is None or problem.constraints.exlocate:
        return
    devices = np.random.default_rng(seed).integers(3, size=len(problem.graph.names))
    try:
        feasible = best(problem)
    except ValueError:  # there is no feasible placement to stack
        return
    try:
        found = reached(problem, Search(evaluations=300), seed, devices.astype(np.int32))
    except PlacementError as error:  # Single has no answer: see the next test
        assert "no one device" in str(error)
        return
    assert found <= feasible * (1 + 1e-9)
    assert feasible == 0 or found > 0


@pytest.mark.xfail(
    strict=True, raises=PlacementError, reason="search gives up where `single` has no answer"
)
def test_operators_that_may_not_be_on_one_device() -> None:
    apart = Constraints(exlocate=[["a", "b"]])
    problem = Problem(pipeline(1e6, 1e6, 1e6), Cluster.equal(2), constraints=apart)
    assert reached(problem, Search(evaluations=100)) == pytest.approx(best(problem))


def test_finds_the_optimum_among_the_feasible() -> None:
    """Pins, colocation, memory: a, d and e are one unit of three that fill two devices."""
    rules = Constraints(colocate=[["a", "d"], ["d", "e"]], allowed={"b": ["y", "z"]})
    devices = [Device("x", 2000), Device("y", 700), Device("z", 500)]
    graph = pipeline(2e5, 7e5, 4e5, 4e5, 3e5, payload_bytes=700.0)
    for pin in ("x", "y", "z"):
        pinned = Constraints(pins={"c": pin}, colocate=rules.colocate, allowed=rules.allowed)
        problem = Problem(graph, Cluster(devices), constraints=pinned, source_rate=3000)
        found = Search(evaluations=2000)
        try:
            assert reached(problem, found) == pytest.approx(best(problem), rel=1e-9)
        except PlacementError as error:  # as above
            assert "no one device" in str(error)


@given(of_any_model, st.integers(0, 9))
def test_same_seed_same_answer(problem: Problem, seed: int) -> None:
    one, other = (
        Search(evaluations=200)(problem, np.random.default_rng(seed)).devices for _ in range(2)
    )
    assert one.tolist() == other.tolist()


@pytest.mark.parametrize("model", MODELS)
def test_one_operator_on_one_device(model: str) -> None:
    one = Problem(pipeline(1e9), Cluster.equal(1), model=model)  # type: ignore[arg-type]
    assert reached(one, Search()) == bound(one)
    slow_first = Cluster([Device("slow", 10.0), Device("fast", 30.0)])
    problem = Problem(pipeline(1e9), slow_first, model=model)  # type: ignore[arg-type]
    found = Search()(problem, np.random.default_rng(0))
    assert found.devices.tolist() == [1]
    crowd = Problem(pipeline(1e9, 1e9), Cluster.equal(1), model=model)  # type: ignore[arg-type]
    assert reached(crowd, Search(evaluations=50)) == bound(crowd)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("search:chains=0", "at least one chain"),
        ("search:chains=-3", "at least one chain"),
        ("search:evaluations=0", "an evaluation for each"),
        ("search:chains=5:evaluations=4", "an evaluation for each"),
        ("search:chains=many", "chains must be a number"),
        ("search:steps=5", "options are evaluations, chains"),
    ],
)
def test_bad_options_are_told(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_placer(name)


def test_options_reach_it() -> None:
    assert make_placer("search:chains=4:evaluations=80") == Search(evaluations=80, chains=4)
