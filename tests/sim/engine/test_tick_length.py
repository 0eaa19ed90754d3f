"""Results that must not depend on the length of a tick."""

from typing import Any

import numpy as np
import pytest

from streamplace import (
    Cluster,
    Device,
    LinkOverride,
    Network,
    Operator,
    Placement,
    Problem,
    Stream,
    StreamGraph,
)
from streamplace.sim.engine import EngineError, Profile, Scene, Settings, Speed, Window, loop
from streamplace.sim.engine import simulation as engine
from streamplace.sim.engine.event_sets import NOTHING
from streamplace.ticks import runs
from tests.support.graphs import lettered_graph

FREE = 1e-3  # instructions per tuple, a negligible cost


def light_problem(
    streams: str,
    rate: float,
    network: Network | None = None,
    costs: dict[str, float] | None = None,
    shares: dict[str, float] | None = None,
) -> Problem:
    """Return a problem of one-letter operators on three devices, almost free unless in `costs`."""
    work = dict.fromkeys(streams, FREE) | (costs or {})
    graph = lettered_graph(streams, work, 1000.0, source_shares=shares)
    return Problem(graph, Cluster.equal(3, network=network), source_rate=rate)


@pytest.mark.parametrize("rate", [1e4, 1e5, 3e5])
def test_an_overloaded_branch_does_not_affect_the_other(rate: float) -> None:
    """The link passes 125 tuples/s; without backpressure the other branch is unaffected."""
    problem = light_problem("sl sr", rate, Network(bandwidth_mbps=1.0))
    found = runs.run(Placement(problem, [0, 1, 0]), Settings(backpressure=False))
    assert problem.graph.names == ("l", "r", "s")
    assert found.sink_rates == pytest.approx([rate, 125.0], rel=1e-3)


def test_unconnected_graphs_do_not_affect_each_other() -> None:
    """One graph is behind a slow link, the other on its own device."""
    problem = light_problem("ab cd", 2e5, Network(bandwidth_mbps=1.0))
    found = runs.run(Placement(problem, [0, 1, 2, 2]))
    assert found.sink_rates == pytest.approx([125.0, 1e5], rel=1e-3)


def test_a_burst_passes() -> None:
    """For one second in ten the rate is ten times as high, on devices with enough capacity."""
    problem = light_problem("ab", 1e4)
    scene = Scene({0: Profile.bursts(10.0, 1.0, 10.0)})
    found = runs.run(Placement(problem, [0, 1]), scene=scene, every_s=1.0)
    assert found.series.processed[20, 1] > 9e4
    assert found.relative_throughput == pytest.approx(1.0, rel=1e-6)
    assert found.throughput == pytest.approx(1.9e4, rel=1e-6)
    assert found.settled


def test_a_burst_on_a_minor_input_passes() -> None:
    """One input of a join gets 0.01% of the tuples, and for one second fifty times as many."""
    problem = light_problem("am bm", 1e4, shares={"a": 0.9999, "b": 0.0001})
    scene = Scene({1: Profile((0.0, 30.0, 31.0), (1.0, 50.0, 1.0))})
    found = runs.run(Placement(problem, [0, 1, 2]), scene=scene, every_s=1.0)
    assert found.series.sent[30, 1] > 40.0
    assert found.series.waiting[32, 1] < 5.0


@pytest.mark.parametrize("advance_s", [0.05, 0.15, 0.25, 1.0, 2.0, 5.0])
def test_windows_of_any_length_keep_their_rate(advance_s: float) -> None:
    """The mean rate is right, and the run is settled."""
    problem = light_problem("ab bc", 1000.0)
    scene = Scene(windows={1: Window(advance_s, advance_s, count=100.0)})
    found = runs.run(Placement(problem, [0, 0, 1]), scene=scene)
    assert found.sink_rates[0] == pytest.approx(100.0 / advance_s, rel=2e-2)
    assert found.relative_throughput == pytest.approx(1.0, rel=2e-2)
    assert found.settled


@pytest.mark.parametrize(("backpressure", "rate"), [(True, 1e5), (False, 1e5), (True, 4e4)])
def test_a_faster_device(backpressure: bool, rate: float) -> None:
    """The work needs fifty devices, and the device is a hundred times as fast."""
    problem = light_problem("ab bc", rate, Network(bandwidth_mbps=None), {"b": 50 * 2500e6 / rate})
    scene = Scene(speeds=(Speed(1, 0.0, 100.0),))
    for tick_s in (0.1, 0.01):
        how = Settings(tick_s=tick_s, backpressure=backpressure)
        found = runs.run(Placement(problem, [0, 1, 2]), how, scene)
        assert found.relative_throughput == pytest.approx(1.0, rel=1e-3)
        assert found.settled


@pytest.mark.parametrize("tick_s", [0.1, 0.01])
def test_sources_with_idle_devices_drop_nothing(tick_s: float) -> None:
    """Each tick brings 1,000 tuples and only 100 may wait, but an idle device takes all of them."""
    problem = light_problem("ab", 1e4)
    found = runs.run(Placement(problem, [0, 1]), Settings(tick_s=tick_s, source_queue=100))
    assert found.dropped == 0.0
    assert found.throughput == pytest.approx(1e4, rel=1e-6)


def test_a_window_sends_immediately() -> None:
    problem = light_problem("am bw wm", 1000.0, shares={"a": 0.999, "b": 0.001})
    window = problem.graph.index["w"]
    scene = Scene(windows={window: Window(10.0, 10.0, count=1.0)})
    found = runs.run(Placement(problem, [0, 0, 0, 1]), scene=scene, every_s=1.0)
    into = [s.source for s in problem.graph.streams].index("w")
    sent = found.series.sent[:, into]
    assert np.count_nonzero(sent) == 6
    assert sent[sent > 0] == pytest.approx([1.0] * 6)
    assert found.trace.end.operators["gathered"][window] == pytest.approx(1.0, abs=0.11)


@pytest.mark.parametrize("scheduler", ["default", "dynamic"])
def test_a_windowed_operator_has_time_to_send(scheduler: Any) -> None:
    """The overhead of sending counts for an operator's share of the device."""
    network = Network(overhead_s=1e-6)
    problem = light_problem("aw wc", 1000.0, network, {"w": 0.0})
    scene = Scene(windows={2: Window(1.0, 1.0)})
    assert problem.graph.names == ("a", "c", "w")
    found = runs.run(Placement(problem, [0, 1, 0]), Settings(scheduler=scheduler), scene)
    assert found.throughput == pytest.approx(1000.0, rel=1e-3)


@pytest.mark.parametrize("kind", ["pair", "nic"])
@pytest.mark.parametrize("latency_s", [0.2, 0.3, 0.6, 0.7, 0.75])
@pytest.mark.parametrize("tick_s", [None, 0.1, 0.03])
def test_link_latency_is_exact(kind: Any, latency_s: float, tick_s: float | None) -> None:
    """It is not rounded to ticks, and counts once even if a tuple passes two interfaces."""
    network = Network(kind, latency_s=latency_s)
    placement = Placement(light_problem("ab", 100.0, network), [0, 1])
    latency = runs.run(placement, Settings(tick_s=tick_s)).latency_s()
    assert latency is not None
    assert latency["mean"] == pytest.approx(latency_s, abs=2e-5)


def test_a_link_latency_of_years() -> None:
    placement = Placement(light_problem("ab", 100.0, Network(latency_s=1e12)), [0, 1])
    found = runs.run(placement, Settings(duration_s=61.0))
    assert found.throughput == 0.0
    assert found.in_flight == pytest.approx(6100.0)  # L alone does not hold tuples back
    assert not found.settled


def test_a_single_slow_link_keeps_its_latency() -> None:
    """If the latency of the network is an integer, those of its links must not be rounded."""
    slow = LinkOverride("d0", "d1", latency_s=0.95)
    network = Network(latency_s=0, overrides=(slow,))
    latency = runs.run(Placement(light_problem("ab", 100.0, network), [0, 1])).latency_s()
    assert latency is not None
    assert latency["mean"] == pytest.approx(0.95, abs=2e-5)


def test_quantiles_distinguish_slow_and_fast_paths() -> None:
    """A tenth of the tuples take a link with a latency of 2 s."""
    slow = LinkOverride("d0", "d1", latency_s=2.0)
    graph = StreamGraph(
        [Operator(name, FREE, 10.0) for name in "sqwm"],
        [Stream("s", "q", 0.9), Stream("s", "w", 0.1), Stream("q", "m"), Stream("w", "m")],
    )
    cluster = Cluster.equal(2, network=Network(overrides=(slow,)))
    problem = Problem(graph, cluster, source_rate=1000.0)
    latency = runs.run(Placement(problem, [0, 0, 1, 0])).latency_s()
    assert latency is not None
    assert latency["p50"] < 0.01
    assert latency["p99"] == pytest.approx(2.001, abs=1e-4)  # there, and 1 ms back
    assert latency["mean"] == pytest.approx(0.2001, abs=1e-4)


@pytest.mark.parametrize("backpressure", [True, False])
def test_an_unconnected_graph_changes_nothing(backpressure: bool) -> None:
    """With the dynamic scheduler, the second graph needs many passes on its device."""
    costs = {"b": 5e6, "x": 1e6, "y": 1e6, "z": 2e6}
    how = Settings(scheduler="dynamic", allocation="uniform", queue=300, backpressure=backpressure)
    single = light_problem("ab", 1000.0, costs=costs)
    both = light_problem("ab xy yz", 2000.0, costs=costs)
    one = runs.run(Placement(single, [0, 1]), how)
    two = runs.run(Placement(both, [0, 1, 2, 2, 2]), how)
    assert two.operator_rates[:2] == pytest.approx(one.operator_rates, rel=1e-9)
    assert two.operator_blocked[:2] == pytest.approx(one.operator_blocked, rel=1e-9)
    assert two.device_stalled[:2] == pytest.approx(one.device_stalled[:2], rel=1e-9)
    assert one.operator_utilisation[1] == pytest.approx(1.0, rel=1e-6)


def test_too_many_ticks_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamplace.sim.engine.tick_length.MOST_TICKS", 1000)
    simulation = runs.simulation(light_problem("ab", 1e7))
    with pytest.raises(EngineError, match="1,000 ticks"):
        simulation.run(np.array([0, 0]))


def test_too_many_event_sets_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "MOST_BYTES", 50_000)
    problem = light_problem("ab", 1e4, Network(bandwidth_mbps=1.0))
    simulation = runs.simulation(problem, Settings(queue=0, duration_s=600.0))
    with pytest.raises(EngineError, match="event sets wait at tick"):
        simulation.run(np.array([0, 1]))


@pytest.mark.parametrize("lost", ["queue", "link", "counter"])
def test_a_lost_event_set_is_an_error(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tuples vanish from a list, or a counter is wrong."""
    problem = light_problem("ab bc", 1e4, Network(bandwidth_mbps=1.0), {"c": 1e6})
    simulation = runs.simulation(problem)
    original = loop.advance

    def lossy(*arguments: Any) -> Any:
        state = original(*arguments)
        if lost == "counter":
            state.streams["taken"] *= 0.999
        else:
            lists = state.lists if lost == "queue" else state.lists[2 * len(state.streams) :]
            filled = [i for i in range(len(lists) - 1) if lists[i]["head"] != NOTHING]
            lists[filled[0]] = (NOTHING, NOTHING)
        return state

    monkeypatch.setattr(engine, "advance", lossy)
    for go in (simulation.run, simulation.throughput):
        with pytest.raises(EngineError, match=r"stream \d: .* tuples went in"):
            go(np.array([0, 1, 1]))


def test_unequal_devices_and_cores() -> None:
    cluster = Cluster([Device("big", 1000, cores=4), Device("small", 500)])
    graph = StreamGraph([Operator("a", 3e6, 1.0), Operator("b", 1e6, 0)], [Stream("a", "b")])
    found = runs.run(Placement(Problem(graph, cluster, source_rate=1e4), [0, 1]))
    assert found.throughput == pytest.approx(1000 / 3, rel=1e-3)  # a has one core
    assert found.device_utilisation == pytest.approx([1 / 4, 2 / 3], rel=1e-3)
    graph, _ = graph.with_numbers(cores=[3, 1])
    found = runs.run(Placement(Problem(graph, cluster, source_rate=1e4), [0, 1]))
    assert found.throughput == pytest.approx(500.0, rel=1e-3)
    assert found.device_utilisation == pytest.approx([500 * 3e6 / 4e9, 1.0], rel=1e-3)
