"""Graphs described from their sources on."""

from math import isnan
from typing import Any

import pytest

import streamplace as sp
from streamplace.errors import GraphError, ProblemError
from streamplace.problem.steps import Step


def shop() -> sp.StreamGraph:
    """Return a job with two sources, a join and two sinks."""
    clicks = sp.source("clicks", rate=8000, instructions=2e4, payload_bytes=500)
    views = sp.source("views", rate=2000, instructions=1e4, payload_bytes=400)
    parsed = clicks.map("parse", instructions=5e4, payload_bytes=200, parallelism=2)
    parsed.filter("errors", selectivity=0.01, instructions=5e3, payload_bytes=200).sink(
        "alerts", instructions=9e3
    )
    joined = parsed.join("join", views, selectivity=0.3, instructions=9e4, payload_bytes=300)
    return joined.sink("store", instructions=1e4).graph(name="shop")


def test_the_graph_of_a_job() -> None:
    graph = shop()
    assert graph.name == "shop"
    assert graph.names == ("clicks", "views", "parse", "errors", "alerts", "join", "store")
    assert graph.source_rate == 10_000
    assert graph.source_share[:2].tolist() == [0.8, 0.2]
    selectivity = {(s.source, s.target): s.selectivity for s in graph.streams}
    assert selectivity == {
        ("clicks", "parse"): 1,
        ("parse", "errors"): 1,
        ("errors", "alerts"): 0.01,
        ("parse", "join"): 1,
        ("views", "join"): 1,
        ("join", "store"): 0.3,
    }
    assert [each.type for each in graph.operators][2:4] == ["map", "filter"]
    assert graph.operators[2].parallelism == 2
    assert sp.place(graph, "3x2500", placer="greedy").score.relative_throughput == 1


def test_any_step_of_a_job_has_its_graph() -> None:
    first = sp.source("a", instructions=1, payload_bytes=1)
    last = first.map("b", instructions=1).sink("c", instructions=1)
    assert first.graph() == last.graph()
    assert repr(last) == "<Step: sink 'c'>"


def test_partitioning_is_of_the_stream_that_enters() -> None:
    source = sp.source("a", payload_bytes=1)
    graph = source.flat_map("b").aggregate("c", partitioning="hash", parallelism=2).graph()
    assert [stream.partitioning for stream in graph.streams] == ["", "hash"]


def test_numbers_that_are_not_stated_are_unknown() -> None:
    graph = sp.source("a", rate=5).filter("b").sink("c").graph()
    assert isnan(graph.instructions[0])
    assert isnan(graph.selectivity[1])
    with pytest.raises(ProblemError, match="unknown: instructions of 'a', 'b', 'c'; payload_bytes"):
        sp.place(graph)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda a: a.map("b").join("c", a.graph()), "'c': the step before must be Step, not Stre"),
        (lambda a: a.map("a").graph(), "duplicate name 'a'"),
        (lambda a: a.map("c", instructions=-1).graph(), "instructions: must be .*at least 0"),
        (lambda a: a.join("c", sp.source("b")).graph(), "source_rates: .*missing: 'b'"),
        (lambda a: a.map("c", partitioning="x").graph(), "partitioning"),
        (lambda a: a.filter("c", selectivity=50), "selectivity: must be at most 1, .*flat_map"),
    ],
)
def test_bad_steps(make: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        make(sp.source("a", rate=1.0))


def test_a_misspelt_field() -> None:
    with pytest.raises(TypeError, match="instrucions"):
        Step("a", "map", instrucions=3)
