"""The engine, compared with closed forms, by hand, and under renaming."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.changes import renamed
from benchmarks.reference.strategies import Case, cases
from streamplace import Cluster, Device, Network, Operator, Placement, Problem, Stream, StreamGraph
from streamplace.scoring.flow import flow as flow_of
from streamplace.sim.engine import Profile, RunMetrics, Scene, Settings, Speed
from streamplace.ticks import runs as engine
from tests.support.graphs import loaded_chain

SHORT = Settings(duration_s=6.0)
EXPLICIT = Settings(duration_s=61.0)


def test_latency_by_hand() -> None:
    """Latency is the time of work and travel, whatever the tick."""
    problem = loaded_chain(0.1, 0.2, 0.3)
    local = engine.run(Placement(problem, [0, 0, 0])).latency_s()
    assert local == pytest.approx({"mean": 0.0006, "p50": 0.0006, "p99": 0.0006})
    remote = engine.run(Placement(problem, [0, 1, 0])).latency_s()
    assert remote == pytest.approx({"mean": 0.0026016, "p50": 0.0026016, "p99": 0.0026016})


def test_link_latency_beyond_a_tick_takes_no_whole_ticks() -> None:
    problem = loaded_chain(0.1, 0.2)
    far = Problem(
        problem.graph, Cluster.equal(2, network=Network(latency_s=0.35)), source_rate=1000.0
    )
    latency = engine.run(Placement(far, [0, 1])).latency_s()
    assert latency is not None
    assert latency["mean"] == pytest.approx(0.35 + 3e-4 + 8e-7)  # L, work and transfer


def test_link_latency_does_not_limit_throughput() -> None:
    """A stream's queue has room for the tuples on the wire, besides those that wait."""
    network = Network(latency_s=0.25)
    problem = Problem(
        loaded_chain(0.1, 0.1).graph, Cluster.equal(2, network=network), source_rate=1000.0
    )
    placement = Placement(problem, [0, 1])
    for how in (Settings(queue=300), Settings(queue=300, tick_s=0.05), Settings(tick_s=None)):
        assert engine.run(placement, how).throughput == pytest.approx(1000.0)


def test_every_queue_before_the_bottleneck_fills() -> None:
    problem = loaded_chain(0.1, 0.1, 2.0)
    found = engine.run(Placement(problem, [0, 0, 1]))
    assert found.throughput == pytest.approx(500.0, rel=1e-3)
    assert found.settled
    waiting = found.trace.end.streams["waiting"] + found.trace.end.streams["in_flight"]
    assert waiting == pytest.approx([2048.0 - 50, 2048.0], abs=51)
    assert found.device_utilisation[1] == pytest.approx(1.0)
    assert found.device_stalled[0] > 0.4
    assert found.operator_blocked[:2] == pytest.approx([0.9, 0.9], abs=0.02)


def test_unbounded_queues_never_push_back() -> None:
    found = engine.run(Placement(loaded_chain(0.1, 0.1, 2.0), [0, 0, 1]), Settings(queue=0))
    assert found.throughput == pytest.approx(500.0, rel=1e-3)
    assert found.operator_rates[:2] == pytest.approx([1000.0, 1000.0])
    assert found.trace.end.streams["waiting"][1] == pytest.approx(500.0 * 61, rel=0.01)


def test_a_source_drops_tuples_beyond_its_queue() -> None:
    found = engine.run(Placement(loaded_chain(2.0, 0.1), [0, 1]), Settings(source_queue=100))
    sources = found.trace.end.sources
    assert sources["backlog"] == pytest.approx([100.0])
    assert sources["dropped"] == pytest.approx([500.0 * 61], rel=0.01)


def test_an_unused_fixed_share_is_lost() -> None:
    """With equal shares, the first of two operators gets half a device but needs .9."""
    placement = Placement(loaded_chain(0.9, 0.01), [0, 0])
    fixed = engine.run(placement, Settings(allocation="uniform"))
    assert fixed.throughput == pytest.approx(1000 * 0.5 / 0.9, rel=1e-3)
    shared = engine.run(placement, Settings(allocation="uniform", scheduler="dynamic"))
    assert shared.throughput == pytest.approx(1000.0, rel=1e-3)


def test_a_changing_run_has_not_settled() -> None:
    placement = Placement(loaded_chain(0.1, 0.1), [0, 1])
    assert engine.run(placement).settled
    assert not engine.run(placement, EXPLICIT, Scene({0: Profile.ramp(60.0)})).settled
    assert not engine.run(placement, Settings(duration_s=0.1)).settled  # one tick is not enough


def test_a_queue_that_still_fills_has_not_settled() -> None:
    """The sink is saturated, but the source is not throttled yet."""
    placement = Placement(loaded_chain(0.1, 1.5), [0, 1])
    assert engine.run(placement).settled
    found = engine.run(placement, replace(EXPLICIT, queue=100_000))
    assert found.throughput == pytest.approx(1000 / 1.5, rel=1e-3)
    assert not found.settled


def test_a_queue_behind_a_selective_stream_fills_slowly() -> None:
    """Operator slow is offered 10 of 10,000 tuples/s and processes 5: its queue fills in minutes.

    Until then the source is not held back, and throughput is twice its final value.
    """
    placement = selective()
    found = engine.run(placement, EXPLICIT)
    assert found.steady
    assert found.relative_throughput > 0.99
    assert not found.settled
    later = engine.run(placement, Settings(duration_s=3000.0, measure_from_s=2000))
    assert later.relative_throughput == pytest.approx(0.5, rel=0.01)
    assert later.settled


def selective() -> Placement:
    """Return a placement whose bottleneck is offered a thousandth of the tuples."""
    operators = [
        Operator(name, instructions, 100.0)
        for name, instructions in (("s", 1000), ("big", 1000), ("f", 1000), ("slow", 2500e6 / 5))
    ]
    streams = [Stream("s", "big"), Stream("s", "f"), Stream("f", "slow", 0.001)]
    graph = StreamGraph(operators, streams)
    problem = Problem(graph, Cluster.equal(2), source_rate=1e4)
    return Placement(problem, [int(name == "slow") for name in graph.names])


def test_every_sink_must_settle() -> None:
    """One sink gets a ten-thousandth of the tuples, and its rate still rises."""
    operators = [Operator(name, 1.0, 100.0) for name in ("s", "t", "a", "b")]
    graph = StreamGraph(
        operators, [Stream("s", "a"), Stream("t", "b")], source_shares={"s": 0.9999, "t": 0.0001}
    )
    problem = Problem(graph, Cluster.equal(1), source_rate=1e4)
    placement = Placement(problem, [0] * 4)
    assert engine.run(placement).settled
    ramp = Scene({graph.index["t"]: Profile.ramp(60.0)})
    assert not engine.run(placement, EXPLICIT, ramp).settled


@pytest.mark.parametrize("how", [Settings(queue=0), Settings(backpressure=False)])
def test_unbounded_queues_never_settle(how: Settings) -> None:
    """Behind a link with half the required capacity, throughput is steady but latency grows."""
    chain = loaded_chain(0.1, 0.1, payload_bytes=1e5)
    network = Network(bandwidth_mbps=400.0)
    problem = Problem(chain.graph, Cluster.equal(2, network=network), source_rate=1000.0)
    found = engine.run(Placement(problem, [0, 1]), how)
    assert found.throughput == pytest.approx(500.0, rel=1e-2)
    assert found.steady
    assert not found.settled
    assert found.queue_growth == pytest.approx(500.0, rel=1e-2)
    bounded = engine.run(Placement(problem, [0, 1]))
    assert bounded.settled
    assert bounded.queue_growth == pytest.approx(0.0, abs=1e-6)


def test_latency_includes_waiting_at_the_source() -> None:
    """Half of the offered tuples wait at the source, for half the time since the start."""
    placement = Placement(loaded_chain(2.0, 0.1), [0, 1])
    found = engine.run(placement)
    assert found.trace.end.sources["backlog"] == pytest.approx([500.0 * 61], rel=0.01)
    latency = found.latency_s()
    assert latency is not None
    assert latency["mean"] == pytest.approx((20.0 + 61.0) / 4, rel=1e-3)
    assert latency["p99"] == pytest.approx(30.3, rel=1e-3)
    as_in_cepsim = engine.run(placement, Settings(source_wait=False)).latency_s()
    assert as_in_cepsim is not None
    assert as_in_cepsim["p99"] == pytest.approx(0.0031, rel=1e-2)  # work and travel


@pytest.mark.parametrize("queue", [1, 10, 100, 1000, 10_000])
def test_a_smaller_queue_never_looks_faster(queue: int) -> None:
    """What does not wait in the queue of an overloaded operator waits at the source."""
    placement = Placement(loaded_chain(0.1, 2.0), [0, 1])
    latency = engine.run(placement, Settings(queue=queue, tick_s=None)).latency_s()
    assert latency is not None
    assert latency["mean"] == pytest.approx((20.0 + 61.0) / 4, rel=0.02)


def test_dropped_tuples_do_not_wait() -> None:
    """Behind a queue of 100 tuples, a source that takes 500 tuples/s waits 0.2 s."""
    placement = Placement(loaded_chain(2.0, 0.1), [0, 1])
    latency = engine.run(placement, Settings(source_queue=100, tick_s=0.001)).latency_s()
    assert latency is not None
    assert latency["mean"] == pytest.approx(0.2 + 0.0031, rel=0.01)


def test_full_and_stalled_links() -> None:
    """A link is full because of its own capacity, and stalled because of the device behind it."""
    graph = loaded_chain(0.1, 0.1, payload_bytes=1e5).graph
    slow = Cluster.equal(2, network=Network(bandwidth_mbps=400.0))
    problem = Problem(graph, slow, source_rate=1000.0)
    found = engine.run(Placement(problem, [0, 1]))
    assert found.link_utilisation[1] == pytest.approx(1.0)
    assert found.link_full[1] == pytest.approx(1.0)
    assert found.link_stalled[1] == pytest.approx(0.0)
    held = engine.run(Placement(loaded_chain(0.1, 4.0), [0, 1]))
    assert held.link_full[1] == 0.0
    assert held.link_stalled[1] == pytest.approx(held.operator_blocked[0], rel=1e-2)
    assert held.link_stalled[1] > 0.9
    idle = engine.run(Placement(loaded_chain(0.1, 0.1), [0, 1]))
    assert not idle.link_full.any()
    assert not idle.link_stalled.any()


def test_runs_without_arrivals() -> None:
    """Without arrivals, the run has no latency and is not settled."""
    found = engine.run(Placement(loaded_chain(0.1, 1e9), [0, 1]), Settings(duration_s=1.0))
    assert found.throughput < 1e-3
    scene = Scene(speeds=(Speed(1, 0.0, 0.0),))
    stopped = engine.run(Placement(loaded_chain(0.1, 0.1), [0, 1]), scene=scene)
    assert stopped.throughput == 0.0
    assert stopped.latency_s() is None
    assert not stopped.settled


@given(cases(), st.booleans(), st.sampled_from(["default", "dynamic"]))
def test_tuples_are_conserved(case: Case, pushes: bool, scheduler: Any) -> None:
    """Tuples are conserved on streams, at sources and in operators."""
    problem, devices = case
    how = replace(SHORT, backpressure=pushes, scheduler=scheduler)
    found = engine.run(Placement(problem, devices), how)
    end, flow = found.trace.end, flow_of(problem)
    sent = end.streams["sent"]
    accounted = end.streams["taken"] + end.streams["waiting"] + end.streams["in_flight"]
    np.testing.assert_allclose(sent, accounted, rtol=1e-9, atol=1e-6)
    processed = end.operators["processed"]
    np.testing.assert_allclose(
        sent, processed[flow.source] * flow.selectivity, rtol=1e-9, atol=1e-6
    )
    taken = np.zeros(flow.operators)
    np.add.at(taken, flow.target, end.streams["taken"])
    sources = np.setdiff1d(np.arange(flow.operators), flow.target)
    taken[sources] += end.sources["offered"] - end.sources["backlog"]
    np.testing.assert_allclose(processed, taken, rtol=1e-9, atol=1e-6)
    assert found.device_utilisation.max() <= 1 + 1e-9
    assert found.link_utilisation.max(initial=0.0) <= 1 + 1e-9
    if pushes:
        on_the_way = flow.stream_tuples * problem.cluster.network.latency_s
        most = how.queue + on_the_way
        assert (end.streams["waiting"] + end.streams["in_flight"] <= most * (1 + 1e-9)).all()


@given(st.data(), cases(), st.booleans(), st.sampled_from(["default", "dynamic"]))
def test_names_and_orders_do_not_matter(
    data: Any, case: Case, pushes: bool, scheduler: Any
) -> None:
    problem, devices = case
    operators = data.draw(st.permutations(range(len(devices))))
    hosts = data.draw(st.permutations(range(len(problem.cluster.devices))))
    other = renamed(problem, operators, hosts)
    moved = [hosts.index(devices[v]) for v in operators]
    how = replace(SHORT, backpressure=pushes, scheduler=scheduler)
    one, two = (
        engine.run(Placement(problem, devices), how),
        engine.run(Placement(other, moved), how),
    )
    slack = 1e-9 * problem.source_rate
    assert two.throughput == pytest.approx(one.throughput, rel=1e-9, abs=slack)
    rates = one.operator_rates[operators]
    np.testing.assert_allclose(two.operator_rates, rates, rtol=1e-9, atol=slack)
    busy = one.device_utilisation[hosts]
    np.testing.assert_allclose(two.device_utilisation, busy, rtol=1e-9, atol=1e-9)
    assert two.settled == one.settled
    first, second = one.latency_s(), two.latency_s()
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        assert second["mean"] == pytest.approx(first["mean"], rel=1e-9, abs=1e-9)


def test_up_to_16_sources_are_tracked() -> None:
    """Each of two sources offers half of the rate on its own path."""

    def fan_in(sources: int) -> RunMetrics:
        names = [f"s{i}" for i in range(sources)]
        operators = [Operator(name, 1000, 100.0) for name in [*names, "sink"]]
        graph = StreamGraph(operators, [Stream(name, "sink") for name in names])
        problem = Problem(graph, Cluster.equal(1), source_rate=1000.0)
        return engine.run(Placement(problem, [0] * (sources + 1)), SHORT)

    assert fan_in(2).path_mean_throughput == pytest.approx(1000.0)
    assert fan_in(16).path_mean_throughput == pytest.approx(1000.0)
    assert fan_in(17).path_mean_throughput is None
    assert fan_in(17).throughput == pytest.approx(1000.0)


def test_paths_too_many_to_count() -> None:
    """1,200 diamonds in a row have more paths than a float can represent."""
    names = ["n0"]
    streams = []
    for i in range(1200):
        top, left, right, join = names[-1], f"l{i}", f"r{i}", f"n{i + 1}"
        names += [left, right, join]
        streams += [Stream(top, left, 0.5), Stream(top, right, 0.5)]
        streams += [Stream(left, join), Stream(right, join)]
    graph = StreamGraph([Operator(name, 100, 10.0) for name in names], streams)
    problem = Problem(graph, Cluster.equal(1), source_rate=1000.0)
    found = engine.run(Placement(problem, [0] * len(names)), SHORT)
    assert found.path_mean_throughput == pytest.approx(1000.0)
    assert found.throughput == pytest.approx(1000.0)


@pytest.mark.parametrize("settings", [SHORT, replace(SHORT, queue=1.0)])
def test_tuples_are_accounted_for_at_the_highest_source_rates(settings: Settings) -> None:
    """What a source emitted is then a small difference of large numbers."""
    problem = loaded_chain(0.1, 0.2)
    for rate in (1e9, 1e12, 1e15):
        run = engine.run(Placement(problem.with_source_rate(rate), [0, 1]), settings=settings)
        assert run.throughput == pytest.approx(5000.0, rel=1e-3)


def test_operators_without_streams_may_be_overloaded_by_far() -> None:
    """What a source emits is a difference of large numbers, without any stream to check."""
    graph = StreamGraph([Operator("a", 1e5, 0), Operator("b", 1e5, 0)], [])
    cluster = Cluster([Device("slow", 1e-6, cores=2), Device("fast", 2500, cores=64)])
    placement = Placement(Problem(graph, cluster, source_rate=1e9), [0, 1])
    found = engine.run(placement, Settings(duration_s=5.0))
    assert 0 < found.throughput < 1e9
