"""Tests for explanations of bottlenecks, with improving moves compared with brute force."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.reference import oracle
from benchmarks.reference.changes import as_fast
from benchmarks.reference.oracle_messages import messages
from benchmarks.reference.strategies import cases
from streamplace import Cluster, Constraints, Device, Network, Operator, Stream, StreamGraph
from streamplace.problem.cluster import Uplink
from streamplace.problem.objective import Model
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import CLOSED_FORMS, class_of
from streamplace.scoring.throughput import simulate, throughput
from streamplace.workflows.explain import explain_throughput as explain
from streamplace.workflows.explanation import Explanation
from tests.support.graphs import MBIT, chain_graph
from tests.support.placements import solve
from tests.support.strategies import constrained_problems

models = pytest.mark.parametrize("model", CLOSED_FORMS)


Moves = dict[tuple[tuple[str, ...], str, str], tuple[float, list[int]]]


def oracle_throughput(problem: Problem, devices: list[int]) -> float:
    """Return the oracle's throughput at the highest source rate."""
    cluster = as_fast(problem.cluster, problem.target_utilisation)
    relative = [
        oracle.throughput(
            Problem(problem.graph, cluster, source_rate=rate, model=problem.model), devices
        )
        / rate
        for rate in problem.source_rates
    ]
    return problem.source_rate * min(relative)


def moves_by_brute_force(placement: Placement) -> Moves:
    """Return every feasible move of one unit, with the throughput and placement after it."""
    problem, names = placement.problem, placement.problem.graph.names
    before, found = placement.devices.tolist(), {}
    for v, name in enumerate(names):
        unit = {v}
        for group in problem.constraints.colocate:
            unit |= {names.index(o) for o in group} if name in group else set()
        for d, device in enumerate(problem.cluster.names):
            row = [d if w in unit else old for w, old in enumerate(before)]
            moved = [w for w in range(len(row)) if row[w] != before[w]]
            if moved and problem.feasibility.violation(np.array(row, np.int32)) is None:
                operators = tuple(names[w] for w in moved)
                key = (operators, problem.cluster.names[before[moved[0]]], device)
                found[key] = (oracle_throughput(problem, row), row)
    return found


def check_moves(placement: Placement, found: Explanation) -> None:
    """Check that an explanation's moves are all feasible moves that help."""
    problem, score = placement.problem, simulate(placement)
    scale = score.source_rate / problem.source_rate
    before = oracle_throughput(problem, placement.devices.tolist()) * scale
    every = moves_by_brute_force(placement)
    explained = {(move.operators, move.source, move.target): move for move in found.moves}
    assert len(explained) == len(found.moves)
    assert found.every_move_tried
    for key, (after, _) in every.items():
        assert key in explained or after * scale <= before * (1 + 1e-8)
    for key, move in explained.items():
        after, row = every[key]
        assert move.throughput == pytest.approx(after * scale, rel=1e-9)
        assert move.throughput > before
        assert move.gain == pytest.approx(move.throughput - before, abs=1e-8 * before)
        assert move.bottleneck == simulate(Placement(problem, row)).bottleneck
    order = [move.throughput for move in found.moves]
    assert order == sorted(order, reverse=True)


@pytest.mark.long
@models
@given(data=st.data())
def test_all_moves_that_help_are_listed(model: Model, data: st.DataObject) -> None:
    drawn, devices = data.draw(cases(model))
    rates = data.draw(st.just((drawn.source_rate,)) | st.just((500.0, drawn.source_rate)))
    problem = Problem(
        drawn.graph,
        drawn.cluster,
        source_rate=rates,
        model=model,
        target_utilisation=data.draw(st.sampled_from([1.0, 0.5])),
    )
    placement = Placement(problem, devices)
    found = explain(placement)
    assert found.score == simulate(placement)
    if found.limited:
        check_moves(placement, found)
    else:
        assert found.moves == ()
        assert found.score.relative_throughput == pytest.approx(1.0, rel=1e-9)


@given(constrained_problems(), st.data())
def test_moves_satisfy_constraints(problem: Problem | None, data: st.DataObject) -> None:
    """Explained placements may violate constraints; colocated operators move together."""
    assume(problem is not None)
    assert problem is not None
    count = len(problem.graph.names)
    devices = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    for v, w in enumerate(problem.feasibility.first_of[problem.feasibility.unit_of]):
        devices[v] = devices[w]
    placement = Placement(problem, devices)
    found = explain(placement)
    if found.limited:
        check_moves(placement, found)


@given(cases(shared=True))
def test_contributions_add_up(case: tuple[Problem, list[int]]) -> None:
    """Operators contribute work and overheads, streams their seconds on the link."""
    problem, devices = case
    placement = Placement(problem, devices)
    found, names = explain(placement), problem.graph.names
    top, where = found.score.bottleneck, placement.assignment
    expected: dict[tuple[str, ...], Fraction] = {}
    rates = oracle.operator_rates(problem)
    device = next((d for d in problem.cluster.devices if d.name == top.name), None)
    if top.kind == "operator":
        expected[top.name,] = oracle.own_utilisations(problem, devices)[top.name]
    if device is not None:
        for operator in problem.graph.operators:
            if where[operator.name] == device.name:
                used = Fraction(min(operator.cores, device.cores), device.cores)
                busy = rates[operator.name] * oracle.seconds_of(operator, device) * used
                expected[operator.name,] = busy
    place = {v: problem.cluster.devices[d] for v, d in zip(names, devices, strict=True)}
    for message in messages(problem, oracle.flowing(problem, place)):
        paying = [problem.graph.streams[each.streams[0].index] for each in message.deliveries]
        for stream, delivery in zip(paying, message.deliveries, strict=True):
            for link in delivery.path:
                if link.name == top.name and link.busy:
                    ends = (stream.source, stream.target)
                    expected[ends] = expected.get(ends, Fraction(0)) + link.busy
        charged = [paying[0].source, *(stream.target for stream in paying)]
        for operator_name, (name, busy) in zip(charged, message.cpu, strict=True):
            if device is not None and name == device.name:
                before = expected.get((operator_name,), Fraction(0))
                expected[operator_name,] = before + busy / device.cores
    explained: dict[tuple[str, ...], float] = {}
    for one in found.contributions:
        explained[one.names] = explained.get(one.names, 0.0) + one.utilisation
    assert explained == pytest.approx({k: float(x) for k, x in expected.items() if x}, rel=1e-9)
    total = sum(one.utilisation for one in found.contributions)
    assert total == pytest.approx(top.utilisation, rel=1e-9)
    if found.contributions:
        assert sum(one.share for one in found.contributions) == pytest.approx(1.0)
    each = [one.utilisation for one in found.contributions]
    assert each == sorted(each, reverse=True)
    assert min(each, default=1.0) > 0


def test_by_hand_under_nic_with_overhead() -> None:
    """Device d0 has a utilisation of 1.0 by work and 1.6 by overhead: 2,000 tuples/s at 0.8 ms.

    With both operators on d0 there is no overhead and its utilisation is 1.4. With both on the
    slower d1, its utilisation is 1.56.
    """
    graph = StreamGraph(
        [Operator("a", 5e5, 0.4 * MBIT), Operator("b", 2e5, 0)], [Stream("a", "b")], source_rate=2e3
    )
    network = Network("nic", overhead_s=8e-4)
    cluster = Cluster([Device("d0", 1000.0), Device("d1", 900.0)], network)
    found = explain(Placement(Problem(graph, cluster), [0, 1]))
    assert found.score.bottleneck.name == "d0"
    assert found.score.bottleneck.utilisation == pytest.approx(2.6)
    assert found.rate_factor == pytest.approx(1 / 2.6)
    (only,) = found.contributions
    assert (only.names, only.share) == (("a",), 1.0)
    assert only.utilisation == pytest.approx(2.6)
    assert [(move.operators, move.source, move.target) for move in found.moves] == [
        (("b",), "d1", "d0"),
        (("a",), "d0", "d1"),
    ]
    assert found.moves[0].throughput == pytest.approx(2000 / 1.4)
    assert found.moves[0].gain == pytest.approx(2000 / 1.4 - 2000 / 2.6)
    assert found.moves[1].bottleneck.utilisation == pytest.approx(1.4 / 0.9)


def test_nothing_limits_throughput() -> None:
    """At 0.4 of a target of 0.8, twice the rate is possible; without work, any rate is."""
    problem = Problem(chain_graph(1e6), target_utilisation=0.8)
    found = explain(Placement(problem, [0]))
    assert not found.limited
    assert found.rate_factor == pytest.approx(2.0)
    assert found.moves == ()
    assert [one.share for one in found.contributions] == [1.0]
    exact = explain(Placement(Problem(chain_graph(1e6), target_utilisation=0.4), [0]))
    assert not exact.limited
    assert exact.rate_factor == pytest.approx(1.0)
    idle = explain(Placement(Problem(chain_graph(0.0)), [0]))
    assert (idle.rate_factor, idle.contributions, idle.limited) == (None, (), False)
    nearly = Placement(Problem(chain_graph(1e-305), source_rate=10.0), [0])  # utilisation 4e-314
    assert explain(nearly).rate_factor is None  # JSON has no number for infinity


def test_no_single_move_helps() -> None:
    """With two equally full devices a move only overloads the other."""
    problem = Problem(chain_graph(4e6, 4e6), Cluster.equal(2))
    found = explain(Placement(problem, [0, 1]))
    assert found.limited
    assert found.moves == ()
    assert found.every_move_tried


def test_only_repairing_moves_are_listed_for_an_infeasible_placement() -> None:
    graph = chain_graph(4e6, 1e6, 1e6)
    apart = Problem(graph, Cluster.equal(3), constraints=Constraints(colocate=[["b", "c"]]))
    found = explain(Placement(apart, [0, 0, 1]))
    assert [(move.operators, move.source, move.target) for move in found.moves] == [
        (("b",), "d0", "d1"),
        (("b", "c"), "d0", "d2"),
    ]
    other = Problem(graph, Cluster.equal(3), constraints=Constraints(exlocate=[["b", "c"]]))
    assert explain(Placement(other, [0, 0, 0])).moves[0].operators != ("a",)


def test_the_engine_is_explained_by_a_closed_form() -> None:
    graph = chain_graph(4e6, 4e6, 1e6)
    engine, closed = (
        Placement(Problem(graph, Cluster.equal(2), model=model, target_utilisation=0.5), [0, 0, 0])
        for model in ("engine", "bottleneck")
    )
    assert explain(engine) == replace(explain(closed), bound=None)
    assert explain(engine).score.model == "bottleneck"


def test_the_bound_of_an_explanation_is_that_of_place() -> None:
    problem = Problem(chain_graph(4e6, 4e6, 1e6), Cluster.equal(2), source_rate=1000.0)
    found, placed = explain(Placement(problem, [0, 0, 0])), solve(problem, "auto")
    assert found.bound == placed.bound == pytest.approx(500.0)  # 5e9 instructions/s on one device
    assert (found.to_dict()["gap"], found.to_dict()["proven"]) == (pytest.approx(4 / 9), False)
    assert (placed.gap, placed.to_dict()["proven"]) == (0.0, True)
    lines = [str(line) for line in found._view().body]
    assert any("no placement exceeds 500, so the gap is at most 44.5%" in line for line in lines)
    assert found.with_proven(400.0).bound == 400.0
    assert found.with_proven(200.0) == found.with_proven(None) == found  # it carries 277.8


def test_the_text_says_where_a_bound_is_loose() -> None:
    """Uplinks are not part of the proofs by cuts."""
    devices = [Device(f"d{i}", 2500.0, group=g) for i, g in enumerate("ab")]
    uplinks = (Uplink("a", 1.0, 1.0), Uplink("b", 1.0, 1.0))
    cluster = Cluster(devices, Network(uplinks=uplinks))
    problem = Problem(chain_graph(4e6, 4e6, 1e6, payload_bytes=1.0), cluster, source_rate=1000.0)
    worse, best = explain(Placement(problem, [0, 0, 0])), solve(problem, "auto")
    loose = [any("(the bound is loose)" in str(x) for x in r._view().body) for r in (worse, best)]
    assert loose == [True, False]


@models
def test_too_large_to_try_everything(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the units that load the bottleneck most are tried, and the result records that."""
    problem = Problem(chain_graph(1e6, 3e6, 2e6, 1e5), Cluster.equal(2), model=model)
    placement = Placement(problem, [0, 0, 0, 1])
    complete = explain(placement)
    assert complete.every_move_tried
    monkeypatch.setattr(class_of(model), "quick_score_elements", 1)
    partial = explain(placement)
    assert not partial.every_move_tried
    assert partial.moves == tuple(move for move in complete.moves if move.operators == ("b",))
    assert len(partial.moves) == 1


def test_moves_reach_their_predicted_throughput() -> None:
    """Repeating the best move ends when no move helps."""
    rng = np.random.default_rng(0)
    problem = Problem(chain_graph(*rng.uniform(0, 4e6, 12)), Cluster.equal(3))
    placement = Placement(problem, np.zeros(12, np.int32))
    while (found := explain(placement)).moves:
        best = found.moves[0]
        moved = placement.assignment | dict.fromkeys(best.operators, best.target)
        placement = Placement.of(problem, moved)
        assert throughput(problem, placement.devices)[0] == pytest.approx(best.throughput)
    assert len(placement.pes) == 3


def test_an_operator_that_is_too_slow_on_every_kind_of_device() -> None:
    """At 2,000 tuples/s, 1 ms per tuple takes twice the time of the card; the host takes longer."""
    graph = StreamGraph(
        [Operator("a", 2e7, 0.0, seconds_on={"gpu": 1e-3})], source_rate=2e3, firing="all"
    )
    cluster = Cluster([Device("host", 1000.0), Device("card", 5.0, kind="gpu")])
    found = explain(Placement(Problem(graph, cluster), [1]))
    assert found.cause is not None
    text, names = found.cause.text()
    assert text.format(*names) == (
        "a needs 200.0% of the time of card at this rate: use a kind of device with shorter times"
    )


def test_a_message_for_all_counts_once_at_its_sender() -> None:
    """One message of 0.4 Mbit, at 1,000 per second: the sender needs 40% of 1,000 Mbit/s, once."""
    graph = StreamGraph(
        [Operator(name, 0.0, 0.4 * MBIT) for name in "abc"],
        [Stream("a", "b"), Stream("a", "c")],
        source_rate=1e3,
        multicast="all",
    )
    cluster = Cluster.equal(3, 1000.0, network=Network("egress"))
    found = explain(Placement(Problem(graph, cluster), [0, 1, 2]))
    assert found.score.bottleneck.name == "d0->"
    assert found.score.bottleneck.utilisation == pytest.approx(0.4)
    assert [one.names for one in found.contributions] == [("a", "b")]
