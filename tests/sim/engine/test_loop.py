"""Problems that expose the three defects of CEPSim, which the engine must not have."""

from collections import Counter

import numpy as np
import pytest

from streamplace import Cluster, Network, Operator, Placement, Problem, Stream, StreamGraph
from streamplace.sim.engine import Settings, loop
from streamplace.sim.engine.event_sets import NOTHING
from streamplace.sim.engine.loop import run_ticks
from streamplace.sim.engine.records import EngineState
from streamplace.ticks import runs as engine
from tests.support.graphs import lettered_graph

RATE = 1000.0


def even_problem(streams: str, names: str = "", mbps: float | None = 1000.0) -> Problem:
    """Return a problem of one-letter operators that each use a tenth of one of three devices."""
    graph = lettered_graph(streams, 25e4, 1000.0, names=names)
    cluster = Cluster.equal(3, network=Network(bandwidth_mbps=mbps))
    return Problem(graph, cluster, source_rate=RATE)


@pytest.mark.parametrize("scheduler", ["default", "dynamic"])
def test_an_operator_with_local_and_remote_inputs_runs(scheduler: str) -> None:
    problem = even_problem("sa sb am bm", "sabm")
    found = engine.run(Placement(problem, [0, 0, 1, 0]), Settings(scheduler=scheduler))  # type: ignore[arg-type]
    assert found.throughput == pytest.approx(RATE, rel=1e-3)
    assert found.operator_rates[3] == pytest.approx(2 * RATE, rel=1e-3)


@pytest.mark.parametrize("scheduler", ["default", "dynamic"])
def test_simultaneous_arrivals_at_one_operator_all_count(scheduler: str) -> None:
    """Three operators on one device send at the same time."""
    problem = even_problem("sa sb sc am bm cm", "sabcm")
    found = engine.run(Placement(problem, [0, 1, 1, 1, 2]), Settings(scheduler=scheduler))  # type: ignore[arg-type]
    assert found.operator_rates[4] == pytest.approx(3 * RATE, rel=1e-3)
    sent = found.trace.end.streams["sent"][-3:]
    assert np.ptp(sent) == pytest.approx(0.0, abs=1e-6 * sent[0])


@pytest.mark.parametrize("backpressure", [True, False])
def test_a_full_remote_queue_does_not_flood_a_tick(
    backpressure: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sender's device is idle, so it has time for any number of small messages."""

    def refused(*_: object) -> None:
        raise AssertionError("more than a few event sets per stream")

    monkeypatch.setattr(loop, "more_sets", refused)
    graph = StreamGraph(
        [Operator("a", 1000, 1000.0), Operator("b", 1000, 1000.0), Operator("c", 1e7, 0)],
        [Stream("a", "b"), Stream("b", "c")],
    )
    problem = Problem(graph, Cluster.equal(2), source_rate=RATE)
    how = Settings(scheduler="dynamic", allocation="uniform", queue=100, backpressure=backpressure)
    found = engine.run(Placement(problem, [0, 0, 1]), how)
    assert found.throughput == pytest.approx(250.0, rel=0.01)  # 2500 MIPS / 10 million


@pytest.mark.parametrize("backpressure", [True, False])
def test_a_stream_sends_one_set_per_tick(backpressure: bool) -> None:
    """The number of passes that the scheduler grants the sender does not matter."""
    costs = {"a": 2.4e6, "b": 1e7, "c": 1e4}  # a uses what b, limited to half a device, leaves
    graph = StreamGraph(
        [Operator("s", 100, 1000.0), *(Operator(name, cost, 1e4) for name, cost in costs.items())],
        [Stream("s", "a", 0.5), Stream("a", "b"), Stream("a", "c")],
    )
    cluster = Cluster.equal(2, network=Network(bandwidth_mbps=8.0))
    problem = Problem(graph, cluster, source_rate=RATE)
    devices = np.array([int(name == "c") for name in graph.names])
    how = Settings(
        duration_s=3.0, scheduler="dynamic", allocation="uniform", backpressure=backpressure
    )
    state, rules, ticks, _ = engine.simulation(problem, how).ready(devices)
    max_sets = 0
    for tick in range(ticks.ticks):
        assert run_ticks(state, rules, tick, tick + 1) == tick + 1
        sent = sets_sent(state, tick)
        max_sets = max(max_sets, *sent.values(), 0)
        assert len(sent) >= 2
    assert max_sets == 1


def sets_sent(state: EngineState, tick: int) -> Counter[int]:
    """Count the event sets sent in a tick that are still at their destination."""
    streams = len(state.streams)
    first = [e if state.streams["sends"][e] == 0 else 2 * streams for e in range(streams)]
    first = [at + int(state.streams["sends"][e]) for e, at in enumerate(first)]
    found: Counter[int] = Counter()
    for at in set(first):
        i = state.lists["head"][at]
        while i != NOTHING:
            found[int(state.sets["stream"][i])] += int(state.sets["since"][i]) == tick
            i = state.sets["after"][i]
    return found
