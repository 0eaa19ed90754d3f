"""What holds for every placer: it obeys constraints or raises, and repeats itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reference.changes import as_fast
from benchmarks.reference.strategies import problems
from streamplace import Cluster, Constraints, Device, Problem, StreamGraph
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.registry import NAMES, make_placer
from streamplace.scoring.throughput import bound, throughput
from tests.placers.jobs import pipeline

QUICK = {"auto": "auto:evaluations=300"}
"""By a count, in place of a second each."""
QUICK_NAMES = tuple(QUICK.get(name, name) for name in NAMES)


@pytest.mark.parametrize("name", QUICK_NAMES)
@given(problem=problems())
def test_places_every_operator_within_the_bound(name: str, problem: Problem) -> None:
    placement = make_placer(name)(problem, np.random.default_rng(0))
    assert placement.devices.shape == (len(problem.graph.names),)
    reached = throughput(problem, placement.devices)[0]
    assert 0 < reached <= bound(problem) * (1 + 1e-9)


@pytest.mark.parametrize("name", QUICK_NAMES)
@given(problem=problems(), seed=st.integers(0, 9))
def test_same_seed_same_placement(name: str, problem: Problem, seed: int) -> None:
    first, second = (make_placer(name)(problem, np.random.default_rng(seed)) for _ in range(2))
    assert (first.devices == second.devices).all()


@pytest.mark.parametrize("name", QUICK_NAMES)
@settings(max_examples=10)
@given(problem=problems())
def test_headroom_is_as_a_smaller_cluster(name: str, problem: Problem) -> None:
    """Halves lose no bit: whatever a placer weighs, it weighs the same."""
    graph, cluster, rate = problem.graph, problem.cluster, problem.source_rate
    half = Problem(graph, cluster, source_rate=rate, target_utilisation=0.5)
    smaller = Problem(graph, as_fast(cluster, 0.5), source_rate=rate)
    first, second = (make_placer(name)(one, np.random.default_rng(0)) for one in (half, smaller))
    assert first.devices.tolist() == second.devices.tolist()


@st.composite
def constrained(draw: st.DrawFn) -> Problem | None:
    """Return a problem with constraints and memory limits drawn; None if proven infeasible."""
    count = draw(st.integers(3, 7))
    names = [chr(ord("a") + i) for i in range(count)]
    some = st.lists(st.sampled_from(names), min_size=2, max_size=3, unique=True)
    where = st.lists(st.sampled_from(["d0", "d1", "d2"]), min_size=1, max_size=2, unique=True)
    base = pipeline(*draw(st.lists(st.integers(0, 2_000_000), min_size=count, max_size=count)))
    graph = StreamGraph.from_columns(
        names,
        base.instructions,
        base.payload_bytes,
        np.stack([base.stream_source, base.stream_target], axis=1),
        memory_bytes=draw(st.lists(st.integers(0, 4), min_size=count, max_size=count)),
        requires={0: ("ssd",)} if draw(st.booleans()) else {},
        source_rate=1000.0,
    )
    limits = draw(st.lists(st.sampled_from([None, 4.0, 9.0]), min_size=3, max_size=3))
    labels = draw(st.lists(st.sampled_from([(), ("ssd",)]), min_size=3, max_size=3))
    devices = [Device(f"d{i}", 1000.0, memory_bytes=limits[i], labels=labels[i]) for i in range(3)]
    rules = Constraints(
        pins={draw(st.sampled_from(names)): "d1"} if draw(st.booleans()) else {},
        colocate=[draw(some)] if draw(st.booleans()) else [],
        exlocate=[draw(some)] if draw(st.booleans()) else [],
        allowed={draw(st.sampled_from(names)): draw(where)} if draw(st.booleans()) else {},
    )
    try:
        return Problem(graph, Cluster(devices), constraints=rules)
    except InfeasibleError:
        return None


def some_placement_is_feasible(problem: Problem) -> bool:
    """Try every placement."""
    shape = (3,) * len(problem.graph.names)
    rows = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=1).astype(np.int32)
    return any(problem.feasibility.violation(row) is None for row in rows)


@pytest.mark.parametrize("name", [name for name in QUICK_NAMES if name != "single"])
@given(problem=constrained())
def test_obeys_constraints_wherever_that_is_possible(name: str, problem: Problem | None) -> None:
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
    graph = pipeline(1.0, 1.0)
    rng = np.random.default_rng(0)
    single = make_placer("single")
    assert set(single(Problem(graph, cluster), rng).assignment.values()) == {"fast"}
    not_fast = Constraints(allowed={"a": ["slow", "middle"]})
    barred = Problem(graph, cluster, constraints=not_fast)
    assert set(single(barred, rng).assignment.values()) == {"middle"}
    apart = Problem(graph, cluster, constraints=Constraints(exlocate=[["a", "b"]]))
    with pytest.raises(PlacementError, match="no one device may run every operator"):
        single(apart, rng)
