"""Runs whose tick is chosen."""

import pytest

from streamplace import Cluster, Network, Operator, Placement, Problem, Stream, StreamGraph
from streamplace.scoring.throughput import simulate
from streamplace.sim.engine import Settings
from streamplace.ticks import runs as engine
from tests.support.graphs import loaded_chain

AUTO = Settings(tick_s=None)


def two_sources_and_a_join() -> Placement:
    """Return a placement whose heavier source fills an interface of 54 Mbit/s."""
    graph = StreamGraph(
        [Operator("a", 0, 4000.0), Operator("b", 0, 0), Operator("join", 0, 0)],
        [Stream("a", "join"), Stream("b", "join", 3.2)],
        source_rate=7000.0,
        source_shares={"a": 0.4, "b": 0.6},
    )
    network = Network("nic", bandwidth_mbps=54.0, latency_s=0.0)
    return Placement(Problem(graph, Cluster.equal(2, network=network)), [1, 1, 0])


def test_the_tick_is_halved_until_throughput_stands() -> None:
    placement = two_sources_and_a_join()
    expected = simulate(placement).relative_throughput
    assert expected == pytest.approx(0.6027, abs=1e-4)
    coarse = engine.run(placement, Settings(tick_s=0.1))
    assert coarse.relative_throughput < expected - 0.1
    found = engine.run(placement, AUTO)
    assert found.relative_throughput == pytest.approx(expected, abs=1e-3)
    assert found.trace.tick_s < 0.05
    assert found.settled


def test_a_stated_tick_runs_once() -> None:
    placement = two_sources_and_a_join()
    for tick_s in (0.1, 0.2):
        found = engine.run(placement, Settings(tick_s=tick_s))
        assert found.coarser is None
        assert found.relative_throughput == pytest.approx(0.484, abs=1e-3)


def test_a_run_that_takes_too_long_has_not_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    placement = two_sources_and_a_join()
    monkeypatch.setattr("streamplace.sim.engine.metrics.MAX_STEPS", 5 * 61 / 0.03)
    assert not engine.run(placement, AUTO).settled


def test_digits_of_latencies() -> None:
    """Without waiting, all digits hold; a chosen tick confirms two."""
    placement = Placement(loaded_chain(0.1, 0.1), [0, 1])
    assert engine.run(placement, AUTO).latency_digits == 4
    assert engine.run(placement, Settings()).latency_digits == 2
