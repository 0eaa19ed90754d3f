"""What gets no tuples: its unknown numbers are not asked for, and change no answer.

The rule: load is rate times cost, so where the rate is 0, no cost can change an answer.
"""

from math import nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamplace as sp
from streamplace.capacity.sizing.factored import Instances, loads_of
from streamplace.errors import GraphError, InfeasibleError, ProblemError
from streamplace.problem.assumptions import assumptions

CLUSTER = sp.Cluster([sp.Device(f"d{i}", 1000.0, cores=2) for i in range(3)])


def branched(cost: float = nan, **others: Any) -> sp.StreamGraph:
    """Return a job of read, parse and store, and of three operators that get no tuples.

    Parameters
    ----------
    cost
        Every number of what gets no tuples.
    """
    operators = [
        sp.Operator("read", 1e5, 100.0),
        sp.Operator("idle read", cost, cost),
        sp.Operator("parse", 8e5, 50.0),
        sp.Operator("store", 2e5, 0.0),
        sp.Operator("rejected", cost, cost),
        sp.Operator("audit", cost, 0.0),
    ]
    streams = [
        sp.Stream("read", "parse"),
        sp.Stream("idle read", "parse", cost),
        sp.Stream("parse", "store", 0.5),
        sp.Stream("parse", "rejected", 0.0, payload_bytes=None if np.isnan(cost) else cost),
        sp.Stream("rejected", "audit", cost),
    ]
    shares = {"read": 1.0, "idle read": 0.0}
    settings: dict[str, Any] = {"source_rate": 1000.0, "source_shares": shares, **others}
    return sp.StreamGraph(operators, streams, **settings)


def test_streams_that_are_listed_twice_are_named() -> None:
    """Others between the same operators have other numbers, such as a side output."""
    numbers = [("a", 1e3, 10.0), ("b", 1e3, 0.0)]
    for second, noted in ((1.0, True), (0.01, False)):
        streams = [("a", "b", 1.0), ("a", "b", second)]
        graph = sp.StreamGraph(numbers, streams, source_rate=10.0)
        found = assumptions(sp.place(graph, CLUSTER, placer="greedy").placement)
        text = "listed several times, and counted each time: streams 'a->b'"
        assert found == [text] * noted


def test_only_numbers_that_matter_are_asked_for() -> None:
    graph = branched()
    assert graph.flowing.tolist() == [True, False, True, True, False, False]
    assert graph.carrying.tolist() == [True, False, True, False, False]
    assert graph.unknown == {}
    assert graph.unknown_without_tuples == ["idle read", "rejected", "audit"]
    sinks, note = assumptions(sp.place(graph, CLUSTER, placer="greedy").placement)
    assert sinks.startswith(f"{len(graph.sinks)} sinks: ")
    assert note == (
        "no tuples get to 'idle read', 'rejected', 'audit', so unknown numbers there count as no "
        "load"
    )


@pytest.mark.parametrize(
    ("change", "unknown"),
    [
        (
            {"source_shares": {"read": 0.5, "idle read": 0.5}},
            {
                "instructions": ["idle read"],
                "payload_bytes": ["idle read"],
                "selectivity": ["idle read->parse"],
            },
        ),
        (
            {"selectivity": [1.0, 1.0, 0.5, 1e-30, 1.0]},
            {"instructions": ["rejected", "audit"], "payload_bytes": ["rejected"]},
        ),
        (
            {"selectivity": [1.0, 1.0, 0.5, nan, 0.0]},
            {"instructions": ["rejected"], "selectivity": ["parse->rejected"]},
        ),
    ],
)
def test_numbers_are_asked_for_where_tuples_may_get(
    change: dict[str, Any], unknown: dict[str, list[str]]
) -> None:
    graph = branched().with_numbers(**change)[0]
    assert graph.unknown == unknown
    with pytest.raises(ProblemError, match="unknown: instructions of"):
        sp.Problem(graph, CLUSTER)


def test_selectivities_are_not_asked_for_where_operators_join_their_inputs() -> None:
    streams = [sp.Stream("a", "b", nan)]
    graph = sp.StreamGraph([("a", 1e5, 10.0), ("b", 1e5, 0.0)], streams, firing="all")
    assert graph.unknown == {}
    known = sp.StreamGraph([("a", 1e5, 10.0), ("b", 1e5, 0.0)], [("a", "b")], firing="all")
    found, expected = (
        sp.place(each, CLUSTER, objective=sp.Makespan(), placer="exact") for each in (graph, known)
    )
    assert found.score.makespan_s == expected.score.makespan_s


@given(st.floats(0.0, 1e9), st.sampled_from(["bottleneck", "path-average", "engine"]))
def test_numbers_without_tuples_change_no_score(cost: float, model: Any) -> None:
    placed = [[0, 1, 0, 1, 2, 2], [0, 0, 1, 2, 2, 1]]
    unknown, known = (
        sp.Problem(graph, CLUSTER, model=model) for graph in (branched(), branched(cost))
    )
    for devices in placed:
        found, expected = (
            sp.simulate(sp.Placement(problem, devices)).to_dict() for problem in (unknown, known)
        )
        assert found == expected


@pytest.mark.parametrize("objective", [sp.Throughput.of(1500.0), sp.Makespan()])
@pytest.mark.parametrize("placer", ["exact", "metis", "auto"])
def test_numbers_without_tuples_change_no_placement(objective: Any, placer: str) -> None:
    if placer == "metis" and isinstance(objective, sp.Makespan):
        pytest.skip("a partitioner of loads")
    found, expected = (
        sp.place(graph, CLUSTER, objective=objective, placer=placer)
        for graph in (branched(), branched(7.0))
    )
    assert found.placement.assignment == expected.placement.assignment
    assert found.score.to_dict() == expected.score.to_dict()


def test_numbers_without_tuples_change_no_size() -> None:
    counts = {2: "free", 3: "free", 4: 2}
    found, expected = (
        sp.size(graph.with_numbers(parallelism=counts)[0], CLUSTER, source_rate=3000.0)
        for graph in (branched(), branched(7.0))
    )
    assert found.parallelism == expected.parallelism
    assert found.parallelism["rejected"] == 2
    assert found.assignment == expected.assignment


def test_numbers_without_tuples_change_no_load_of_many_instances() -> None:
    counts = {"read": 2, "idle read": 1, "parse": 3, "store": 1, "rejected": 2, "audit": 1}
    on = [np.arange(count, dtype=np.int32) % 3 for count in counts.values()]
    found, expected = (
        loads_of(Instances(graph, counts, 1000.0), CLUSTER, on)
        for graph in (branched(), branched(7.0))
    )
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_operator_without_tuples_needs_no_time_on_a_kind_of_device() -> None:
    """One that gets tuples cannot run on a device for which it has neither time nor work."""
    devices = sp.Cluster([sp.Device("plain", 1000.0)])
    for selectivity in (0.0, 0.5):
        graph = sp.StreamGraph(
            [sp.Operator("a", 1e5, 10.0), sp.Operator("b", nan, 0.0, seconds_on={"gpu": 0.1})],
            [sp.Stream("a", "b", selectivity)],
            source_rate=10.0,
        )
        if selectivity:
            with pytest.raises(InfeasibleError, match="has no instructions"):
                sp.place(graph, devices)
        else:
            assert sp.place(graph, devices).score.throughput == 10.0


def test_a_job_whose_sinks_get_no_tuples_can_be_placed() -> None:
    """Throughput is counted in source tuples; path-average counts at the sinks and refuses."""
    graph = sp.StreamGraph(
        [("read", 1e5, 10.0), ("filter", 1e6, 10.0), ("alert", nan, 0.0)],
        [("read", "filter"), ("filter", "alert", 0.0)],
        source_rate=10.0,
    )
    assert sp.place(graph, CLUSTER).score.throughput == 10.0
    with pytest.raises(GraphError, match="no tuple ever reaches a sink"):
        sp.place(graph, CLUSTER, model="path-average")
