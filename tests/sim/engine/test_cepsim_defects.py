"""CEPSim's three defects, each with a problem that shows it."""

from collections import Counter

import numpy as np
import pytest

from sim.engine import Settings, simulation
from sim.engine.event_sets import NOTHING
from sim.engine.loop import run_ticks
from sim.engine.state import EngineState
from streamplace import Cluster, Network, Operator, Placement, Problem, Stream, StreamGraph
from streamplace.scoring import engine
from tests.support.graphs import lettered_graph

RATE = 1000.0


def even_problem(streams: str, names: str = "", mbps: float | None = 1000.0) -> Problem:
    """Return operators of one letter each, each a tenth of one of three devices."""
    graph = lettered_graph(streams, 25e4, 1000.0, names=names)
    cluster = Cluster.equal(3, network=Network(bandwidth_mbps=mbps))
    return Problem(graph, cluster, source_rate=RATE)


@pytest.mark.parametrize("scheduler", ["default", "dynamic"])
def test_a_merge_of_inputs_from_here_and_elsewhere_runs(scheduler: str) -> None:
    problem = even_problem("sa sb am bm", "sabm")
    found = engine.run(Placement(problem, [0, 0, 1, 0]), Settings(scheduler=scheduler))  # type: ignore[arg-type]
    assert found.throughput == pytest.approx(RATE, rel=1e-3)
    assert found.operator_rates[3] == pytest.approx(2 * RATE, rel=1e-3)


@pytest.mark.parametrize("scheduler", ["default", "dynamic"])
def test_arrivals_at_one_operator_at_one_time_all_count(scheduler: str) -> None:
    """Three operators of one device send at the same moment."""
    problem = even_problem("sa sb sc am bm cm", "sabcm")
    found = engine.run(Placement(problem, [0, 1, 1, 1, 2]), Settings(scheduler=scheduler))  # type: ignore[arg-type]
    assert found.operator_rates[4] == pytest.approx(3 * RATE, rel=1e-3)
    sent = found.trace.end.streams["sent"][-3:]
    assert np.ptp(sent) == pytest.approx(0.0, abs=1e-6 * sent[0])


@pytest.mark.parametrize("backpressure", [True, False])
def test_a_full_queue_elsewhere_does_not_flood_a_tick(
    backpressure: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sender's device is idle, so it has time for any number of small messages."""

    def refused(*_: object) -> None:
        raise AssertionError("more event sets than a few a stream")

    monkeypatch.setattr(simulation, "more_sets", refused)
    graph = StreamGraph(
        [Operator("a", 1000, 1000.0), Operator("b", 1000, 1000.0), Operator("c", 1e7, 0)],
        [Stream("a", "b"), Stream("b", "c")],
    )
    problem = Problem(graph, Cluster.equal(2), source_rate=RATE)
    how = Settings(scheduler="dynamic", allocation="uniform", queue=100, backpressure=backpressure)
    found = engine.run(Placement(problem, [0, 0, 1]), how)
    assert found.throughput == pytest.approx(250.0, rel=0.01)  # 2500 MIPS / 10 million


@pytest.mark.parametrize("backpressure", [True, False])
def test_what_is_sent_in_a_tick_is_sent_once(backpressure: bool) -> None:
    """This holds however often the device returns to the sender."""
    costs = {"a": 2.4e6, "b": 1e7, "c": 1e4}  # a uses what b, held to a half, leaves it
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
    world, rules, ticks, _ = engine.simulation(problem, how)._ready(devices)
    most = 0
    for tick in range(ticks.ticks):
        assert run_ticks(world, rules, tick, tick + 1) == tick + 1
        sent = sets_sent(world, tick)
        most = max(most, *sent.values(), 0)
        assert len(sent) >= 2
    assert most == 1


def sets_sent(world: EngineState, tick: int) -> Counter[int]:
    """Count the event sets sent in a tick that are still at their destination."""
    streams = len(world.streams)
    first = [e if world.streams["sends"][e] == 0 else 2 * streams for e in range(streams)]
    first = [at + int(world.streams["sends"][e]) for e, at in enumerate(first)]
    found: Counter[int] = Counter()
    for at in set(first):
        i = world.lists["head"][at]
        while i != NOTHING:
            found[int(world.sets["stream"][i])] += int(world.sets["since"][i]) == tick
            i = world.sets["after"][i]
    return found
