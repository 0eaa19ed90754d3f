"""The tuples of a state, read off and put back."""

import numpy as np
import pytest

from streamplace import Cluster, Network, Placement, Problem
from streamplace.sim.engine import Settings, Simulation
from streamplace.sim.engine.contents import LINKS, QUEUE, WIRE, contents_of, with_contents
from streamplace.sim.engine.loop import advance
from streamplace.sim.engine.snapshots import check
from streamplace.sim.flow import Ints
from streamplace.ticks import runs as engine
from tests.support.graphs import loaded_chain


def overloaded(network: Network) -> tuple[Simulation, Ints]:
    """Return a simulation of a chain whose second link carries half of what is offered."""
    graph = loaded_chain(0.1, 0.1, 0.1, payload_bytes=1e5).graph
    problem = Problem(graph, Cluster.equal(3, network=network), source_rate=1000.0)
    placement = Placement(problem, [0, 1, 2])
    return engine.simulation(problem, Settings(duration_s=30.0)), placement.devices


@pytest.mark.parametrize("kind", ["pair", "nic"])
def test_what_is_put_back_is_read_off(kind: str) -> None:
    network = Network(kind, bandwidth_mbps=400.0, latency_s=0.35)  # type: ignore[arg-type]
    simulation, devices = overloaded(network)
    state, rules, _, _ = simulation.ready(devices)
    state = advance(state, rules, 0, 200)
    before = contents_of(state)
    waiting, in_flight = state.streams["waiting"].copy(), state.streams["in_flight"].copy()
    np.testing.assert_allclose(before.tuples[QUEUE], waiting, atol=1e-6)
    np.testing.assert_allclose(before.tuples[WIRE:].sum(axis=0), in_flight, rtol=1e-9)
    assert before.tuples[LINKS, 0] > 1000
    again = with_contents(state, before, 200)
    after = contents_of(again)
    np.testing.assert_allclose(after.tuples, before.tuples, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(after.totals, before.totals, rtol=1e-9, atol=1e-6)
    again = advance(again, rules, 200, 300)
    assert check(again, simulation.inner.target, simulation.order) < 1e-9
    assert again.arrived[200:].sum() == pytest.approx(500.0 * 10, rel=0.02)


def test_a_state_can_begin_with_other_contents() -> None:
    simulation, devices = overloaded(Network(bandwidth_mbps=400.0))
    state, rules, _, _ = simulation.ready(devices)
    contents = contents_of(state)
    assert not contents.tuples.any()
    contents.tuples[QUEUE] = 7.0
    begun = with_contents(state, contents, 0)
    assert begun.streams["waiting"].tolist() == [7.0, 7.0]
    begun = advance(begun, rules, 0, 20)
    assert check(begun, simulation.inner.target, simulation.order) < 1e-9
