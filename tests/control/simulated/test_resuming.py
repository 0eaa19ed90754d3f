"""Runs that stop and go on, or are restarted with another placement or other instances."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.control.restarts import resuming
from benchmarks.reference.strategies import Case, cases
from streamplace import Cluster, Network, Operator, Problem, Stream, StreamGraph
from streamplace.sim.engine import Profile, Scene, Settings, Speed, Window
from streamplace.sim.engine.snapshots import Snapshot, check
from streamplace.ticks import runs as engine
from tests.support.graphs import loaded_chain

SHORT = Settings(duration_s=6.0)
ROUNDING = 1e-9


def assert_same(one: Snapshot, other: Snapshot) -> None:
    for name in ("operators", "streams", "devices", "links", "sources"):
        of, to = getattr(one, name), getattr(other, name)
        for column in of:
            assert np.array_equal(of[column], to[column]), (name, column)
    assert np.array_equal(one.reached, other.reached)


def accounted(at: Snapshot) -> dict[str, float]:
    """Return sums over a job that a restart must not change."""
    streams, sources = at.streams, at.sources
    held = streams["waiting"] + streams["in_flight"]
    return {
        "held": float(held.sum()),
        "taken": float(streams["taken"].sum()),
        "processed": float(at.operators["processed"].sum()),
        "gathered": float(at.operators["gathered"].sum()),
        "backlog": float(sources["backlog"].sum()),
        "offered": float(sources["offered"].sum()),
        "busy_s": float(at.operators["busy_s"].sum()),
    }


@given(cases(), st.sampled_from([1.0, 3.0]), st.sampled_from([0, 300]))
def test_going_on_equals_an_uninterrupted_run(case: Case, at_s: float, queue: int) -> None:
    problem, devices = case
    how = replace(SHORT, queue=queue)
    simulation, placement = engine.simulation(problem, how), np.array(devices)
    whole = simulation.run(placement)
    half = resuming.run_until(simulation, placement, at_s)
    for again in (None, placement):
        end = resuming.resume(simulation, half, how.first_duration_s, again)
        assert_same(end.snapshot, whole.end)
        assert np.array_equal(end.state.arrived, whole.arrived)
        assert np.array_equal(end.state.latency, whole.latency)


def test_going_on_with_changing_rates_and_speeds_and_windows() -> None:
    problem = loaded_chain(0.1, 0.4, 0.2)
    scene = Scene({0: Profile.bursts(2.0, 0.5, 3.0)}, {1: Window(1.5, 0.5)}, (Speed(1, 2.5, 0.5),))
    simulation = engine.simulation(problem, SHORT, scene)
    placement = np.array([0, 1, 0])
    whole, at = simulation.run(placement), resuming.run_until(simulation, placement, 0.7)
    for until_s in (2.5, 2.6, 6.0):
        at = resuming.resume(simulation, at, until_s)
    assert_same(at.snapshot, whole.end)
    assert np.array_equal(at.state.arrived, whole.arrived)


@given(cases(), st.data(), st.sampled_from([0, 300]), st.booleans())
def test_a_restart_loses_and_doubles_nothing(
    case: Case, data: st.DataObject, queue: int, backpressure: bool
) -> None:
    problem, first = case
    count = len(problem.cluster.devices)
    then = data.draw(st.lists(st.integers(0, count - 1), min_size=len(first), max_size=len(first)))
    how = replace(SHORT, queue=queue, backpressure=backpressure)
    simulation = engine.simulation(problem, how)
    tick_s = min(simulation.tick_for(np.array(row)) for row in (first, then))
    half = resuming.run_until(simulation, np.array(first), 3.0, tick_s)
    restarted = resuming.resume(simulation, half, 3.0, np.array(then))
    for name, value in accounted(half.snapshot).items():
        assert accounted(restarted.snapshot)[name] == pytest.approx(value, rel=ROUNDING), name
    assert check(restarted.state, simulation.inner.target, simulation.order) < ROUNDING
    end = resuming.resume(simulation, restarted, 6.0)
    assert check(end.state, simulation.inner.target, simulation.order) < ROUNDING


def scaled(problem: Problem, *counts: int) -> tuple[Problem, np.ndarray[Any, Any]]:
    """Return a chain with numbers of instances, and the operator of each instance."""
    operators, streams, number = [], [], []
    for v, (operator, count) in enumerate(zip(problem.graph.operators, counts, strict=True)):
        operators += [replace(operator, name=f"{operator.name}.{i}") for i in range(count)]
        number += [v] * count
    for stream in problem.graph.streams:
        a, b = (problem.graph.index[end] for end in (stream.source, stream.target))
        streams += [
            Stream(f"{stream.source}.{i}", f"{stream.target}.{j}", stream.selectivity / counts[b])
            for i in range(counts[a])
            for j in range(counts[b])
        ]
    graph = StreamGraph(operators, streams)
    more = Problem(graph, problem.cluster, source_rate=problem.source_rate)
    return more, np.array(number, np.int32)


@given(
    st.tuples(*[st.integers(1, 3)] * 3),
    st.tuples(*[st.integers(1, 3)] * 3),
    st.sampled_from([0.3, 1.5]),
    st.data(),
)
def test_another_number_of_instances_loses_and_doubles_nothing(
    before: tuple[int, ...], after: tuple[int, ...], load: float, data: st.DataObject
) -> None:
    chain = loaded_chain(0.1, load, 0.2, selectivity=0.5, devices=3)
    problems = [scaled(chain, *counts) for counts in (before, after)]
    runs = [engine.simulation(problem, SHORT) for problem, _ in problems]
    placed = [
        np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(of), max_size=len(of))))
        for _, of in problems
    ]
    operators = problems[0][1], problems[1][1]
    half = resuming.run_until(runs[0], placed[0], 3.0)
    restarted = resuming.resume(runs[1], half, 3.0, placed[1], operators=operators)
    for name, value in accounted(half.snapshot).items():
        assert accounted(restarted.snapshot)[name] == pytest.approx(value, rel=ROUNDING), name
    end = resuming.resume(runs[1], restarted, 6.0)
    assert check(end.state, runs[1].inner.target, runs[1].order) < ROUNDING
    assert accounted(end.snapshot)["offered"] == pytest.approx(6.0 * 1000.0)


def test_what_waits_is_worked_off_after_an_overload() -> None:
    """The slow operator gets a second instance, and everything offered arrives in the end."""
    chain = loaded_chain(0.1, 1.5, 0.1, devices=4)
    scene = Scene({0: Profile((0.0, 10.0), (1.0, 0.2))})
    how = Settings(duration_s=60.0)
    (one, of_one), (two, of_two) = (scaled(chain, 1, count, 1) for count in (1, 2))
    slow, fast = (engine.simulation(problem, how, scene) for problem in (one, two))
    at = resuming.run_until(slow, np.array([0, 1, 2]), 10.0)
    assert accounted(at.snapshot)["backlog"] > 0.0
    at = resuming.resume(
        fast, at, 60.0, np.array([0, 1, 3, 2]), operators=(of_one, of_two), downtime_s=2.0
    )
    offered = 10.0 * 1000.0 + 50.0 * 200.0
    assert at.snapshot.operators["processed"][-1] == pytest.approx(offered, abs=200.0)
    assert accounted(at.snapshot)["backlog"] < 200.0


def test_a_downtime_only_fills_the_queues_of_sources() -> None:
    simulation = engine.simulation(loaded_chain(0.1, 0.2), SHORT)
    placement = np.array([0, 1])
    half = resuming.run_until(simulation, placement, 3.0)
    down = resuming.resume(simulation, half, 5.0, placement, downtime_s=2.0)
    before, after = accounted(half.snapshot), accounted(down.snapshot)
    assert after["backlog"] == pytest.approx(before["backlog"] + 2.0 * 1000.0)
    assert after["processed"] - before["processed"] == pytest.approx(0.0, abs=1e-6)
    assert not down.state.arrived[30:50].any()
    bounded = engine.simulation(loaded_chain(0.1, 0.2), replace(SHORT, source_queue=500.0))
    half = resuming.run_until(bounded, placement, 3.0)
    down = resuming.resume(bounded, half, 5.0, placement, downtime_s=2.0)
    assert accounted(down.snapshot)["backlog"] == pytest.approx(500.0)
    assert float(down.snapshot.sources["dropped"].sum()) == pytest.approx(1500.0)


def test_latency_includes_the_downtime() -> None:
    """Tuples that are offered while nothing runs for two seconds wait for one, on average."""
    simulation = engine.simulation(loaded_chain(0.01, 0.01), Settings(duration_s=20.0))
    placement = np.array([0, 1])
    half = resuming.run_until(simulation, placement, 3.0)
    end = resuming.resume(simulation, half, 20.0, placement, downtime_s=2.0)
    assert end.state.latency.max() == pytest.approx(2.0, abs=0.1)
    tuple_seconds = float((end.state.latency * end.state.arrived).sum())
    assert 2000.0 <= tuple_seconds <= 2500.0  # some of them also wait for a full queue
    assert end.state.latency[-10:].max() < 0.1


def test_content_of_windows_is_kept() -> None:
    """A window of ten seconds is restarted after five, and emits as if it had gone on."""
    problem = loaded_chain(0.1, 0.1, 0.1)
    scene = Scene(windows={1: Window(10.0, 10.0, ratio=1.0)})
    simulation = engine.simulation(problem, Settings(duration_s=20.0), scene)
    half = resuming.run_until(simulation, np.array([0, 0, 0]), 5.0)
    end = resuming.resume(simulation, half, 20.0, np.array([0, 1, 0]))
    arrived = end.state.arrived.sum()
    assert arrived == pytest.approx(10_000.0, rel=0.03)
    total = accounted(end.snapshot)
    assert total["gathered"] + arrived + total["held"] == pytest.approx(20_000.0, rel=0.02)


def test_the_throughput_after_a_restart_is_that_of_the_new_placement() -> None:
    problem = loaded_chain(0.6, 0.6, 0.6, devices=3)
    how = Settings(duration_s=200.0)
    simulation = engine.simulation(problem, how)
    at = resuming.run_until(simulation, np.array([0, 0, 0]), 100.0)
    at = resuming.resume(simulation, at, 150.0, np.array([0, 1, 2]))
    trace = resuming.trace(simulation, at)
    per_s = (trace.end.operators["processed"] - trace.begin.operators["processed"])[2] / 50.0
    assert per_s > 1000.0  # what waited is worked off, at most 1/.6 times as fast
    assert per_s < 1000.0 / 0.6 * 1.01
    assert trace.lost < ROUNDING
    assert trace.begin.tick == 1000


def test_parallel_streams_stay_apart() -> None:
    """Two streams between the same operators keep their own tuples."""
    graph = StreamGraph(
        [Operator("a", 1e4, 100.0), Operator("b", 2.5e9 / 500, 100.0)],
        [Stream("a", "b", 1.0), Stream("a", "b", 0.25)],
    )
    problem = Problem(graph, Cluster.equal(2), source_rate=1000.0)
    simulation = engine.simulation(problem, replace(SHORT, queue=0))
    half = resuming.run_until(simulation, np.array([0, 0]), 3.0)
    then = resuming.resume(simulation, half, 3.0, np.array([0, 1]))
    for name in ("sent", "taken"):
        assert then.snapshot.streams[name] == pytest.approx(half.snapshot.streams[name])


def test_tuples_between_devices_return_to_their_sender() -> None:
    """A link carries 100 of 1,000 tuples a second; what it held is sent again over another."""
    chain = loaded_chain(0.1, 0.1, payload_bytes=125_000.0, devices=3)
    network = Network(bandwidth_mbps=100.0)
    problem = Problem(chain.graph, Cluster.equal(3, network=network), source_rate=1000.0)
    half = resuming.run_until(engine.simulation(problem, SHORT), np.array([0, 1]), 3.0)
    assert half.snapshot.streams["in_flight"][0] > 1000.0
    moved = resuming.resume(engine.simulation(problem, SHORT), half, 3.0, np.array([0, 2]))
    assert moved.snapshot.streams["in_flight"] == pytest.approx(half.snapshot.streams["in_flight"])
    joined = resuming.resume(engine.simulation(problem, SHORT), half, 3.0, np.array([0, 0]))
    assert joined.snapshot.streams["in_flight"][0] == 0.0
    assert accounted(joined.snapshot)["held"] == pytest.approx(accounted(half.snapshot)["held"])


def test_what_does_not_fit_is_refused() -> None:
    problem = loaded_chain(0.1, 0.1, 0.1)
    simulation, row = engine.simulation(problem, SHORT), np.array([0, 1, 0])
    half = resuming.run_until(simulation, row, 3.0)
    for until_s in (2.0, 7.0, float("nan")):
        with pytest.raises(ValueError, match="time: must be from 3 to 6 s"):
            resuming.resume(simulation, half, until_s)
    with pytest.raises(ValueError, match="downtime_s: must be at least 0"):
        resuming.resume(simulation, half, 6.0, row, downtime_s=-1.0)
    with pytest.raises(ValueError, match="until_s: must be after the downtime"):
        resuming.resume(simulation, half, 6.0, row, downtime_s=1e300)
    with pytest.raises(ValueError, match="nothing was run since"):
        resuming.trace(simulation, resuming.run_until(simulation, row, 0.0))
    two = engine.simulation(loaded_chain(0.1, 0.1), SHORT)
    with pytest.raises(ValueError, match="must be set where numbers of instances change"):
        resuming.resume(two, half, 6.0, np.array([0, 1]))
    numbers = np.arange(3, dtype=np.int32), np.zeros(2, np.int32)
    with pytest.raises(
        ValueError, match=r"operators: the flow has no (stream|source|instance) for number \d"
    ):
        resuming.resume(two, half, 6.0, np.array([0, 1]), operators=numbers)
    more = engine.simulation(loaded_chain(0.1, 0.1, 0.1, devices=3), SHORT)
    with pytest.raises(ValueError, match="must have as many devices"):
        resuming.resume(more, half, 6.0, row)
