"""Groups that a policy places, and the refinement of placements."""

import numpy as np
import pytest
from hypothesis import given, settings

from streamplace import (
    Cluster,
    Constraints,
    Device,
    Network,
    Operator,
    Placement,
    Problem,
    StreamGraph,
)
from streamplace.errors import UsageError
from streamplace.learning.policy.coarse import parts_of, problem_of_groups, refined
from streamplace.learning.policy.placer import LoadedPolicy
from streamplace.placers.registry import make_placer
from streamplace.problem.grouping import Grouping
from streamplace.problem.network import NetworkKind
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import qualities
from streamplace.sim.closed_form.bottleneck import utilisations
from streamplace.util.arrays import Ints
from tests.support.graphs import chain_graph, preset_graph
from tests.support.placements import some_placement_is_feasible, throughput_of
from tests.support.placers import seeded_rng
from tests.support.rnn import giph_problem, rnn
from tests.support.strategies import constrained_problems


def large_problem(
    operators: int = 400,
    kind: NetworkKind = "pair",
    constraints: Constraints | None = None,
    seed: int = 3,
) -> Problem:
    cluster = Cluster(Cluster.equal(4).devices, Network(kind))
    graph = preset_graph("series-parallel", operators, seed)
    return Problem(graph, cluster, source_rate=1e4, constraints=constraints)


def test_parts_become_smaller_and_no_group_is_too_large() -> None:
    parts = list(parts_of(large_problem(), 150))
    sizes = [len(part.problem.graph.names) for part in parts]
    assert sizes == sorted(sizes, reverse=True)
    assert 12 <= sizes[-1] < sizes[0] <= 150
    assert len(sizes) > 1


def test_the_coarsest_part_is_used_where_all_are_too_large() -> None:
    (part,) = parts_of(large_problem(), 5)
    assert len(part.problem.graph.names) > 5


def test_devices_of_groups_are_those_of_their_operators() -> None:
    problem = large_problem()
    part = next(parts_of(problem, 150))
    assert part.grouping is not None
    rows = np.random.default_rng(0).integers(4, size=(3, part.grouping.count)).astype(np.int32)
    expanded = part.expanded(rows)
    assert expanded.shape == (3, 400)
    for row, whole in zip(rows, expanded, strict=True):
        assert (whole == part.grouping.expand(row)).all()


@pytest.mark.parametrize("kind", ["pair", "nic"])
@pytest.mark.parametrize("changes", [1, 20])
def test_refinement_never_lowers_the_quality(kind: NetworkKind, changes: int) -> None:
    problem, rng = large_problem(kind=kind), seeded_rng()
    *_, part = parts_of(problem, 150)
    assert part.grouping is not None
    of_groups = rng.integers(4, size=(1, part.grouping.count)).astype(np.int32)
    of_operators = rng.integers(4, size=(1, 400)).astype(np.int32)
    for row in (part.expanded(of_groups)[0], of_operators[0]):
        start = Placement(problem, row)
        before, after = qualities(problem, [start, refined(problem, start, rng, changes)])
        assert after > before


def test_large_graphs_are_placed_by_groups() -> None:
    """One pass over the operators cuts heavy streams, which groups keep together."""
    names = "policy:coarsen=0:refine=0", "policy:refine=0", "policy"
    reached = np.zeros(len(names))
    for seed in range(6):
        problem = large_problem(600, seed=seed)
        reached += [
            throughput_of(problem, make_placer(name)(problem, seeded_rng()).devices)
            for name in names
        ]
    by_operators, by_groups, refined = reached / 6e4
    assert by_operators + 0.04 < by_groups
    assert by_groups < refined


def test_small_graphs_without_refinement_are_placed_by_the_network_alone() -> None:
    problem = Problem(preset_graph("layered", 30), "5x2500", source_rate=1e4)
    plain, alone = (
        make_placer(name)(problem, seeded_rng()).devices.tolist()
        for name in ("policy:coarsen=0:refine=0", "policy:refine=0")
    )
    assert plain == alone


@settings(max_examples=30)
@given(constrained_problems())
def test_constraints_are_respected(problem: Problem | None) -> None:
    """Groups of operators are placed from the first sample, whatever the size of the graph."""
    if problem is None or not some_placement_is_feasible(problem):
        return
    placer = make_placer("policy:coarsen=1:samples=4")
    devices = placer(problem, seeded_rng()).devices
    assert problem.feasibility.violation(devices) is None


def test_constraints_of_large_graphs() -> None:
    names = large_problem().graph.names
    rules = Constraints(
        pins={names[5]: "d3", names[300]: "d0"},
        colocate=[[names[10], names[200]]],
        exlocate=[[names[20], names[21]], [names[250], names[260]]],
        allowed={name: ["d1", "d2"] for name in names[100:140]},
    )
    problem = large_problem(constraints=rules)
    for name in ("policy", "policy:refine=0", "policy:samples=4"):
        devices = make_placer(name)(problem, seeded_rng()).devices
        assert problem.feasibility.violation(devices) is None


@pytest.mark.parametrize("option", ["coarsen", "refine"])
def test_negative_numbers_are_refused(option: str) -> None:
    with pytest.raises(UsageError, match=f"{option} must be 0 to "):
        make_placer(f"policy:{option}=-1")


@pytest.mark.parametrize("option", ["coarsen", "refine"])
def test_groups_and_refinement_are_refused_under_makespans(
    option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = LoadedPolicy("", rnn(), "rnn", {})
    monkeypatch.setattr("streamplace.learning.policy.placer.loaded", lambda file, untrained: made)
    with pytest.raises(UsageError, match=f"{option}: the makespan objective has neither"):
        make_placer(f"policy:{option}=9")(giph_problem(0), seeded_rng())


def grouping_of(problem: Problem, groups: int, rng: np.random.Generator) -> Grouping:
    """Return groups of operators that follow each other in topological order."""
    count = len(problem.graph.names)
    ends = np.sort(rng.choice(np.arange(1, count), groups - 1, replace=False))
    group = np.empty(count, np.int32)
    group[problem.graph.order] = np.searchsorted(ends, np.arange(count), side="right")
    return Grouping(problem.graph, rng.permutation(groups).astype(np.int32)[group])


@pytest.mark.parametrize("kind", ["pair", "nic"])
@pytest.mark.parametrize("preset", ["layered", "series-parallel"])
@pytest.mark.parametrize("target", [1.0, 0.7])
def test_placements_of_groups_cause_the_same_loads(
    preset: str, kind: NetworkKind, target: float
) -> None:
    rng = np.random.default_rng(5)
    cluster = Cluster(Cluster.parse("3x2500,2x1000").devices, Network(kind))
    for seed in range(10):
        graph = preset_graph(preset, 60, seed)
        problem = Problem(graph, cluster, source_rate=2e4, target_utilisation=target)
        small = problem_of_groups(problem, grouping_of(problem, 12, rng))
        assert small is not None
        row = rng.integers(5, size=12).astype(np.int32)
        loads = utilisations(flow(small.problem), row)
        expected = utilisations(flow(problem), np.asarray(small.grouping.expand(row), np.int32))
        for found, wanted in zip(loads, expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_groups_without_streams_between_them_keep_their_work() -> None:
    streams = [("a", "b"), ("c", "d")]
    graph = StreamGraph([(name, 1e5, 10.0) for name in "abcd"], streams)
    problem = Problem(graph, "2x2500", source_rate=1)
    small = problem_of_groups(problem, Grouping(graph, [0, 0, 1, 1]))
    assert small is not None
    loads = utilisations(flow(small.problem), np.array([0, 1], np.int32))
    expected = utilisations(flow(problem), np.array([0, 0, 1, 1], np.int32))
    for found, wanted in zip(loads, expected, strict=True):
        np.testing.assert_allclose(found, wanted)


def test_streams_that_lead_back_are_counted() -> None:
    """The groups {a, c} and {b} exchange both streams, and all of their CPU work is kept."""
    problem = Problem(chain_graph(1e5, 2e5, 3e5), "2x2500", source_rate=1e3)
    small = problem_of_groups(problem, Grouping(problem.graph, [0, 1, 0]))
    assert small is not None
    assert len(small.problem.graph.stream_source) == 1
    arrays = flow(small.problem)
    assert arrays.stream_bits.sum() == pytest.approx(flow(problem).stream_bits.sum())
    assert sorted(arrays.work) == pytest.approx([2e8, 4e8])


def test_operators_without_tuples_are_kept() -> None:
    graph = StreamGraph(
        [Operator("a", 1e5, 10), Operator("b", 1e5, 10), Operator("c", 1e5, 10)],
        [("a", "b", 0.0), ("a", "c", 1.0)],
    )
    problem = Problem(graph, "2x2500", source_rate=1e3)
    small = problem_of_groups(problem, Grouping(graph, [0, 1, 2]))
    assert small is not None
    assert flow(small.problem).work[small.grouping.group_of].tolist() == pytest.approx(
        [1e8, 0, 1e8]
    )


def rule_problem() -> Problem:
    operators = [
        Operator(name, 1e5, 10, memory_bytes=size, requires=labels, resources={"gpu": gpus})
        for name, size, labels, gpus in (
            ("a", 3.0, (), 0.5),
            ("b", 4.0, (), 0.25),
            ("c", 5.0, ("ssd",), 0.0),
            ("d", 1.0, (), 0.0),
        )
    ]
    graph = StreamGraph(operators, [("a", "b"), ("b", "c"), ("c", "d")])
    devices = [
        Device("d0", 2500, memory_bytes=8, labels=("ssd",), resources={"gpu": 1}, group="r1"),
        Device("d1", 2500, memory_bytes=7, resources={"gpu": 1}, group="r1"),
        Device("d2", 2500, memory_bytes=9, resources={"gpu": 1}, group="r2"),
    ]
    rules = Constraints(exlocate=[["a", "c"]], apart_groups=[["c", "d"]])
    return Problem(graph, Cluster(devices), source_rate=1e3, constraints=rules)


def feasible_rows(problem: Problem) -> set[tuple[int, ...]]:
    """Return all feasible placements, by trying every one."""
    shape = (len(problem.cluster.devices),) * len(problem.graph.names)
    rows: list[Ints] = [np.array(index, np.int32) for index in np.ndindex(shape)]
    return {tuple(row.tolist()) for row in rows if problem.feasibility.violation(row) is None}


def test_constraints_and_limits_hold_between_groups() -> None:
    """A placement of groups is feasible exactly if that of their operators is."""
    problem = rule_problem()
    small = problem_of_groups(problem, Grouping(problem.graph, [0, 0, 1, 2]))
    assert small is not None
    expanded = {
        tuple(np.asarray(small.grouping.expand(np.array(row))).tolist())
        for row in feasible_rows(small.problem)
    }
    together = {row for row in feasible_rows(problem) if row[0] == row[1]}
    assert expanded == together
    assert 0 < len(together) < 27


def test_groups_that_fit_nowhere() -> None:
    problem = rule_problem()
    assert problem_of_groups(problem, Grouping(problem.graph, [0, 1, 0, 0])) is None
