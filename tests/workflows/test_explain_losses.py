"""Losses of devices beside brute force."""

from collections.abc import Iterator
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.reference import oracle
from benchmarks.reference.strategies import device_lists, problems
from streamplace import Cluster, Device, Makespan, Operator, Stream, StreamGraph
from streamplace.errors import UsageError
from streamplace.placers.search.nearby import SAME
from streamplace.problem.constraints import Constraints
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.workflows.explain_losses import explain_losses
from streamplace.workflows.loss_explanation import LossEffect
from tests.support.placements import every_placement
from tests.support.strategies import constrained_problems

RATE = 1000.0


def relative(problem: Problem, devices: list[int]) -> float:
    """Return the oracle's relative throughput of a placement."""
    return oracle.throughput(problem, devices) / problem.source_rate


def left_by_hand(placement: Placement, stopped: set[str]) -> float:
    """Return the share of the source rate of a graph without the sources that lead to a loss."""
    problem, graph = placement.problem, placement.problem.graph
    flows: nx.DiGraph[str] = nx.DiGraph()
    flows.add_nodes_from(graph.names)
    flows.add_edges_from((s.source, s.target) for s in graph.streams if s.selectivity > 0)
    rates = {}
    for v in graph.sources.tolist():
        name, share = graph.names[v], float(graph.source_share[v])
        waits = share > 0 and ({name} | nx.descendants(flows, name)) & stopped
        rates[name] = 0.0 if waits else share * problem.source_rate
    rate = sum(rates.values())
    if rate == 0:
        return 0.0
    rest = StreamGraph(graph.operators, graph.streams, source_rates=rates)
    after = Problem(rest, problem.cluster, model=problem.model)
    return relative(after, placement.devices.tolist()) * rate / problem.source_rate


def feasible_rows(problem: Problem, lost: list[int]) -> Iterator[list[int]]:
    """Yield the feasible placements that use none of the lost devices."""
    for row in every_placement(problem):
        if not set(lost) & {*row.tolist()} and problem.feasibility.violation(row) is None:
            yield row.tolist()


def check(placement: Placement, effect: LossEffect) -> None:
    """Compare the effect of a loss with all placements without the lost devices."""
    problem, index = placement.problem, placement.problem.cluster.index
    before, lost = placement.devices.tolist(), [index[name] for name in effect.devices]
    stopped = {v for v, d in zip(problem.graph.names, before, strict=True) if d in lost}
    assert {*effect.stopped} == stopped
    assert effect.left == pytest.approx(left_by_hand(placement, stopped), rel=1e-9)
    rows = [*feasible_rows(problem, lost)]
    now = relative(problem, before)
    best = max((relative(problem, row) for row in rows), default=-1.0)
    if effect.after is None:
        assert not rows
        assert effect.proven
        assert effect.confined or effect.reason
        return
    moved = [sum(a != b for a, b in zip(row, before, strict=True)) for row in rows]
    assert effect.fewest_moves == min(moved)
    row = list(before)
    for move in effect.moves:
        v = problem.graph.index[move.operator]
        assert problem.cluster.names[row[v]] == move.source
        row[v] = index[move.target]
    assert row in rows
    assert effect.after == pytest.approx(relative(problem, row), rel=1e-9)
    assert effect.survived == (best >= now * (1 - SAME))
    assert not (effect.proven and effect.survived)


@given(problems(max_size=4), st.data())
def test_throughput_without_moves(problem: Problem, data: st.DataObject) -> None:
    devices = [
        replace(device, group=data.draw(st.sampled_from(["r", "s", None])))
        for device in problem.cluster.devices
    ]
    cluster = Cluster(devices, problem.cluster.network)
    problem = Problem(problem.graph, cluster, source_rate=problem.source_rate)
    placement = Placement(problem, np.array(data.draw(device_lists(problem)), dtype=np.int32))
    for effect in explain_losses(placement).effects:
        check(placement, effect)


@given(constrained_problems(), st.data())
def test_moves_under_constraints(problem: Problem | None, data: st.DataObject) -> None:
    assume(problem is not None)
    assert problem is not None
    rows = [*feasible_rows(problem, [])]
    assume(rows)
    row = data.draw(st.sampled_from(rows))
    placement = Placement(problem, np.array(row, dtype=np.int32))
    found = explain_losses(placement)
    assert {one.name for one in found.effects} == {problem.cluster.names[d] for d in row}
    for effect in found.effects:
        check(placement, effect)


def two_pipelines(**constraints: object) -> Placement:
    """Return a placement of two pipelines that share only the device of their sinks.

    Each operator needs half of a core, the devices have one core each, and b offers a quarter.
    """
    graph = StreamGraph(
        [Operator(name, 1e6, 0) for name in ("a", "x", "b", "y")],
        [Stream("a", "x"), Stream("b", "y")],
        source_rates={"a": 375.0, "b": 125.0},
    )
    cluster = Cluster([Device(f"d{i}", 1000.0, group="r" if i < 2 else None) for i in range(4)])
    rules = Constraints(**constraints)  # type: ignore[arg-type]  # whatever the test sets
    problem = Problem(graph, cluster, constraints=rules)
    return Placement.of(problem, {"a": "d0", "x": "d1", "b": "d2", "y": "d2"})


def test_a_pipeline_beside_the_loss_goes_on() -> None:
    found = {one.name: one for one in explain_losses(two_pipelines()).effects}
    assert {name: one.left for name, one in found.items()} == pytest.approx(
        {"d0": 0.25, "d1": 0.25, "d2": 0.75, "r": 0.25}
    )
    assert all(one.survived for one in found.values())
    assert [move.operator for move in found["r"].moves] == ["a", "x"]
    assert found["r"].devices == ("d0", "d1")
    assert found["d2"].stopped == ("b", "y")


def test_a_pinned_operator_has_nowhere_to_go() -> None:
    found = explain_losses(two_pipelines(pins={"a": "d0"}))
    assert [one.name for one in found.single_points] == ["d0"]
    assert (found.worst.name, found.worst.confined, found.worst.proven) == ("d0", ("a",), True)
    assert found.effects[-1].confined == ("a",)  # the group of d0


def test_the_loss_of_every_device() -> None:
    placement = two_pipelines()
    problem = placement.problem.with_cluster(Cluster([Device("d0", 4000.0)]))
    (effect,) = explain_losses(Placement(problem, np.zeros(4, dtype=np.int32))).effects
    assert (effect.left, effect.after, effect.reason) == (0.0, None, "no device is left")


def test_a_pass_without_an_operator_never_ends() -> None:
    """Every operator carries a tuple for each tuple of the job, so that both pipelines wait."""
    plain = two_pipelines()
    graph, _ = plain.problem.graph.with_numbers(firing="all")
    placement = Placement(Problem(graph, plain.problem.cluster), plain.devices)
    assert {one.left for one in explain_losses(placement).effects} == {0.0}


def test_the_engine_is_explained_by_the_bottleneck() -> None:
    plain = two_pipelines()
    engine = plain.problem.throughput_objective.with_changes(model="engine")
    found = explain_losses(Placement(plain.problem.with_objective(engine), plain.devices))
    assert found.to_dict() == explain_losses(plain).to_dict()


def test_other_objectives_are_refused() -> None:
    plain = two_pipelines()
    other = Placement(plain.problem.with_objective(Makespan()), plain.devices)
    with pytest.raises(UsageError, match="losses are explained only for throughput, "):
        explain_losses(other)
