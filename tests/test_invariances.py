"""What must not change a score: names, the order of rows, and units."""

from dataclasses import replace
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.cluster import Cluster, LinkOverride, Network
from streamplace.graph import StreamGraph
from streamplace.models import CLOSED_FORMS, MODELS
from streamplace.problem import Model, Problem
from streamplace.score import bound, throughput
from tests.strategies import Case, cases

Link = TypeVar("Link", Network, LinkOverride)

models = pytest.mark.parametrize("model", MODELS)
closed_forms = pytest.mark.parametrize("model", CLOSED_FORMS)


def shares(graph: StreamGraph) -> dict[str, float]:
    return {graph.names[v]: float(graph.source_share[v]) for v in graph.sources}


def assert_same(one: Case, other: Case, factor: float = 1.0) -> None:
    """Compare throughput and bound; the other problem's rates are `factor` times as high."""
    for value in (lambda c: throughput(c[0], np.array(c[1]))[0], lambda c: bound(c[0])):
        assert value(other) == pytest.approx(factor * value(one), rel=1e-9)


def renamed(problem: Problem, operators: list[int], devices: list[int]) -> Problem:
    """Return the problem with other names for all, rows in the order of these old indices."""
    graph, cluster = problem.graph, problem.cluster
    rows = [replace(graph.operators[v], name=f"new {graph.names[v]}") for v in operators]
    streams = [
        replace(s, source=f"new {s.source}", target=f"new {s.target}") for s in graph.streams
    ]
    other = StreamGraph(
        rows, streams, source_shares={f"new {v}": x for v, x in shares(graph).items()}
    )

    def end(name: str | None) -> str | None:
        return name and f"new {name}"

    overrides = [
        replace(o, source=end(o.source), target=end(o.target)) for o in cluster.network.overrides
    ]
    network = replace(cluster.network, overrides=tuple(overrides))
    hosts = [replace(cluster.devices[d], name=f"new {cluster.devices[d].name}") for d in devices]
    rate, model = problem.source_rate, problem.model
    return Problem(other, Cluster(hosts, network), source_rate=rate, model=model)


@models
@given(data=st.data())
def test_names_and_order_of_operators_and_devices(model: Model, data: st.DataObject) -> None:
    problem, placement = data.draw(cases(model))
    operators = data.draw(st.permutations(range(len(placement))))
    devices = data.draw(st.permutations(range(len(problem.cluster.devices))))
    other = renamed(problem, operators, devices)
    moved = [devices.index(placement[v]) for v in operators]
    assert_same((problem, placement), (other, moved))


@models
@given(data=st.data())
def test_order_of_streams(model: Model, data: st.DataObject) -> None:
    problem, placement = data.draw(cases(model))
    graph = problem.graph
    streams = data.draw(st.permutations(list(graph.streams)))
    other = StreamGraph(graph.operators, streams, source_shares=shares(graph))
    rate = problem.source_rate
    shuffled = Problem(other, problem.cluster, source_rate=rate, model=model)
    assert_same((problem, placement), (shuffled, placement))


@closed_forms  # the engine's queues hold tuples, and its ticks are seconds
@given(data=st.data(), factor=st.sampled_from([0.125, 3.0, 1000.0]))
def test_unit_of_time(model: Model, data: st.DataObject, factor: float) -> None:
    """Where everything is `factor` times as fast, so is the job."""
    problem, placement = data.draw(cases(model))
    cluster = as_fast(problem.cluster, factor)
    quick = Problem(problem.graph, cluster, source_rate=problem.source_rate * factor, model=model)
    assert_same((problem, placement), (quick, placement), factor)


@models
@given(data=st.data(), factor=st.sampled_from([0.125, 3.0, 1000.0]))
def test_units_of_work_and_data(model: Model, data: st.DataObject, factor: float) -> None:
    """Instructions against mips, and bytes against bandwidth."""
    problem, placement = data.draw(cases(model))
    graph, network = problem.graph, problem.cluster.network
    rows = [
        replace(o, instructions=o.instructions * factor, payload_bytes=o.payload_bytes / factor)
        for o in graph.operators
    ]
    streams = [replace(s, payload_bytes=(s.payload_bytes or 0.0) / factor) for s in graph.streams]
    devices = [replace(d, mips=d.mips * factor) for d in problem.cluster.devices]
    overrides = tuple(wider(o, 1 / factor) for o in network.overrides)
    other = Problem(
        StreamGraph(rows, streams, source_shares=shares(graph)),
        Cluster(devices, replace(wider(network, 1 / factor), overrides=overrides)),
        source_rate=problem.source_rate,
        model=model,
    )
    assert_same((problem, placement), (other, placement))


def as_fast(cluster: Cluster, factor: float) -> Cluster:
    """Return the cluster with devices and links `factor` times as fast."""
    devices = [replace(d, mips=d.mips * factor) for d in cluster.devices]
    network = faster(cluster.network, factor)
    overrides = tuple(faster(o, factor) for o in network.overrides)
    return Cluster(devices, replace(network, overrides=overrides))


def wider(link: Link, factor: float) -> Link:
    bandwidth = link.bandwidth_mbps
    return replace(link, bandwidth_mbps=None if bandwidth is None else bandwidth * factor)


def faster(link: Link, factor: float) -> Link:
    """Return the link with its times shortened."""
    overhead, gap = link.overhead_s, link.gap_s
    return replace(
        wider(link, factor),
        overhead_s=None if overhead is None else overhead / factor,
        gap_s=None if gap is None else gap / factor,
    )
