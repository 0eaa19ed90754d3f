"""Partial placements: earliest starts equal the engine's times where its order is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamplace as sp
from streamplace.learning.policy.partial import Costs
from streamplace.makespan.compiled_pass import compiled_pass
from streamplace.sim.schedule.passes import timetable
from streamplace.util.arrays import Ints
from tests.support.doppler import pass_problem
from tests.support.graphs import preset_graph


def check_times(problem: sp.Problem, seed: int) -> None:
    """Require times of placements in the order of the engine's starts to equal the engine's."""
    compiled, costs = compiled_pass(problem), Costs.of(problem)
    operators, devices = costs.seconds.shape
    placed: Ints = np.random.default_rng(seed).integers(devices, size=(operators,), dtype=np.int32)
    table = timetable(compiled.tasks, compiled.order("fifo"), placed)
    partial = costs.nothing_placed(1)
    for v in np.argsort(table.start, kind="stable"):
        assert partial.candidate[0, v]
        chosen = np.array([v], np.int32), placed[[v]]
        partial.put(costs, *chosen)
    assert np.allclose(partial.start[0], table.start, rtol=1e-9)
    assert np.allclose(partial.end[0], table.end, rtol=1e-9)
    assert not partial.candidate.any()


@given(st.integers(0, 40))
def test_times_equal_the_engine_on_free_links(seed: int) -> None:
    one = pass_problem(12, seed)
    cluster = sp.Cluster(one.cluster.devices, sp.Network("free", bandwidth_mbps=100.0))
    check_times(sp.Problem(one.graph, cluster, objective=sp.Makespan()), seed)


@given(st.integers(0, 20))
def test_times_equal_the_engine_on_several_cores(seed: int) -> None:
    """Operators use one core each."""
    devices = [sp.Device(f"d{i}", 1000.0 * (i + 1), cores=i + 1) for i in range(3)]
    cluster = sp.Cluster(devices, sp.Network("free", bandwidth_mbps=50.0))
    problem = sp.Problem(preset_graph("layered", 14, seed), cluster, objective=sp.Makespan())
    check_times(problem, seed)


@given(st.integers(0, 20))
def test_a_message_without_bytes_takes_the_latency(seed: int) -> None:
    one = pass_problem(12, seed)
    nothing = np.zeros(len(one.graph.stream_source))
    bare = one.graph.with_numbers(stream_payload_bytes=nothing)[0]
    network = sp.Network("free", bandwidth_mbps=100.0, latency_s=0.5)
    problem = sp.Problem(bare, sp.Cluster(one.cluster.devices, network), objective=sp.Makespan())
    check_times(problem, seed)
    costs = Costs.of(problem)
    assert costs.mean_messages == pytest.approx(np.full(len(costs.source), 0.5))


def test_a_stream_without_message_takes_no_time() -> None:
    operators = [sp.Operator("a", 1e6, 100.0), sp.Operator("b", 1e6, 100.0)]
    graph = sp.StreamGraph(operators, [sp.Stream("a", "b", selectivity=0.0)])
    cluster = sp.Cluster([sp.Device("d0", 1.0), sp.Device("d1", 1.0)], sp.Network("free", 1.0, 0.5))
    costs = Costs.of(sp.Problem(graph, cluster, objective=sp.Makespan()))
    assert costs.silent.tolist() == [True]
    assert costs.mean_messages.tolist() == [0.0]
