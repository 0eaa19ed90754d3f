"""Problems of groups: loads, constraints and limits."""

import numpy as np
import pytest

from sim.closed_form.bottleneck import utilisations
from streamplace import Cluster, Constraints, Device, Network, Operator, Problem, StreamGraph
from streamplace.problem.grouping import Grouping
from streamplace.problem.network import NetworkKind
from streamplace.scoring.flow import flow
from streamplace.scoring.problem_of_groups import problem_of_groups
from streamplace.util.arrays import Ints
from tests.support.graphs import chain_graph, preset_graph


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
