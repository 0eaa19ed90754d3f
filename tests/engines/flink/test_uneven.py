"""Measured shares of instances, in graphs whose true shares are known.

Flink counts the tuples of every subtask (``GET /jobs/ID/vertices/ID``); keys decide which subtask
receives a tuple, so that no rule of the plan says how many each gets.
"""

import numpy as np
import pytest

from streamplace import Cluster, Device, Problem, StreamGraph
from streamplace.engines.flink.plan import RunningPlan, running
from streamplace.engines.flink.uneven import with_shares
from streamplace.formats.profiling.counters import Counters
from streamplace.formats.profiling.shares import Row, shares_of
from streamplace.problem.counts import expanded, uneven_notes, with_counts
from streamplace.problem.expansion import to_instances
from streamplace.problem.logical import LogicalGraph
from streamplace.scoring.throughput import max_source_rate

Inputs = list[tuple[str, str]]


def plan_of(vertices: dict[str, tuple[int, Inputs]]) -> RunningPlan:
    """Return a plan; `vertices` is name -> (parallelism, [(source, ship strategy), …])."""
    nodes = [
        {
            "id": name,
            "description": f"{name}<br/>",
            "parallelism": count,
            "inputs": [{"id": source, "ship_strategy": ship} for source, ship in inputs],
        }
        for name, (count, inputs) in vertices.items()
    ]
    return running({"name": "x", "nodes": nodes}, "x")


def row(tuples: list[float], *, sent: bool = False) -> Row:
    name = "records_out" if sent else "records_in"
    empty = {"records_in": 0.0, "records_out": 0.0}
    return [("tm", Counters(**{**empty, name: each})) for each in tuples]


def filled(plan: RunningPlan) -> LogicalGraph:
    graph = plan.logical.graph
    known = graph.with_numbers(
        instructions=[1e6] * len(graph.names),
        payload_bytes=[10.0] * len(graph.names),
        source_rate=1.0,
        selectivity=[1.0] * len(graph.streams),
        stream_payload_bytes=[10.0] * len(graph.streams),
    )
    return plan.logical.with_graph(*known)


def rates(graph: StreamGraph, operator: str) -> list[float]:
    """Return the tuples of each instance of an operator per tuple of all sources."""
    found = np.zeros(len(graph.names))
    for v in graph.order.tolist():
        into = np.flatnonzero(graph.stream_target == v)
        found[v] = graph.source_share[v] + (
            found[graph.stream_source[into]] @ graph.selectivity[into]
        )
    return [
        float(found[v])
        for v, owner in enumerate(graph.owners)
        if owner == operator or graph.names[v] == operator
    ]


KEYED = {"src": (1, []), "count": (4, [("src", "HASH")])}


def test_streams_by_key_have_the_measured_shares() -> None:
    plan = plan_of(KEYED)
    first, last = row([7, 7, 7, 7]), row([7, 7, 557, 457])
    graph = to_instances(with_shares(filled(plan), plan, {"count": first}, {"count": last}))
    assert graph.selectivity.tolist() == pytest.approx([0.0, 0.0, 0.55, 0.45])
    cluster = Cluster([Device(f"d{i}", 1.0) for i in range(5)])  # a tuple takes a second
    names = [graph.index[f"count[{i}]"] for i in range(4)]
    devices = np.zeros(len(graph.names), np.int32)
    devices[names] = [0, 1, 2, 3]
    devices[graph.index["src"]] = 4
    alone, _ = graph.with_numbers(instructions=[0.0 if n == "src" else 1e6 for n in graph.names])
    assert max_source_rate(Problem(alone, cluster), devices) == pytest.approx(1 / 0.55)


@pytest.mark.parametrize("ship", ["CUSTOM", "REBALANCE", "HASH"])
@pytest.mark.parametrize("last", [{}, {"count": row([850, 50, 50, 50])}])
def test_shares_since_the_start_where_nothing_grew(ship: str, last: dict[str, Row]) -> None:
    plan = plan_of({"src": (1, []), "count": (4, [("src", ship)])})
    found = with_shares(filled(plan), plan, {"count": row([850, 50, 50, 50])}, last)
    assert rates(to_instances(found), "count") == pytest.approx([0.85, 0.05, 0.05, 0.05])


def test_partitions_of_a_source_and_what_follows_it_one_to_one() -> None:
    vertices: dict[str, tuple[int, Inputs]] = {
        "src": (4, []),
        "map": (4, [("src", "FORWARD")]),
        "sink": (2, [("map", "REBALANCE")]),
    }
    plan = plan_of(vertices)
    tuples = {
        "src": row([850, 50, 50, 50], sent=True),
        "map": row([850, 50, 50, 50]),
        "sink": row([500, 500]),
    }
    graph = to_instances(with_shares(filled(plan), plan, tuples, {}))
    for name in ("src", "map"):
        assert rates(graph, name) == pytest.approx([0.85, 0.05, 0.05, 0.05])
    assert rates(graph, "sink") == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("ship", ["REBALANCE", "FORWARD", "BROADCAST", "GLOBAL"])
def test_only_streams_by_key_are_uneven_beside_others(ship: str) -> None:
    """Half of the tuples come by key, and all to one instance; the rule says where others go."""
    plan = plan_of(
        {"a": (2, []), "b": (2, []), "join": (2, [("a", "HASH"), ("b", ship)])},
    )
    other = {"BROADCAST": [0.5, 0.5], "GLOBAL": [0.5, 0.0]}.get(ship, [0.25, 0.25])
    tuples = {"join": row([1000 * (0.5 + other[0]), 1000 * other[1]])}
    found = to_instances(with_shares(filled(plan), plan, tuples, {}))
    assert rates(found, "join") == pytest.approx([0.5 + other[0], other[1]])


@pytest.mark.parametrize(
    "tuples",
    [[250, 251, 249, 250], [5, 1, 2, 0], [0, 0, 0, 0], [9, 12, 11, 14], [1040, 1000, 990, 980]],
)
def test_instances_that_differ_by_chance_are_equal(tuples: list[float]) -> None:
    plan = plan_of(KEYED)
    assert shares_of(tuples) == ()
    found = with_shares(filled(plan), plan, {"count": row(tuples)}, {})
    assert to_instances(found).selectivity.tolist() == [0.25] * 4


def test_forms_that_keep_operators_say_what_they_lose() -> None:
    plan = plan_of(KEYED)
    found = with_shares(filled(plan), plan, {"count": row([850, 50, 50, 50])}, {})
    graph, notes = with_counts(found)
    assert notes == uneven_notes(found)
    assert notes[0].startswith("operator 'count': one of its 4 instances has 85% of its tuples")
    assert graph.partitioning == {0: "hash"}
    assert expanded(graph).selectivity.tolist() == [0.25] * 4
