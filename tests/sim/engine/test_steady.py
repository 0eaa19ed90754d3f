"""The steady state of overloaded jobs, whose queues take long to fill."""

from typing import Any

import numpy as np
import pytest

from streamplace import Cluster, Device, Network, Operator, Placement, Problem, Stream, StreamGraph
from streamplace.display.view import Line
from streamplace.scoring.registry import throughput_evaluator
from streamplace.scoring.throughput import simulate
from streamplace.sim.engine import Profile, RunMetrics, Scene, Settings, Speed, metrics
from streamplace.ticks import runs as engine
from streamplace.ticks.runs import EngineScore
from tests.support.placements import solve
from tests.support.share import Share

AUTO = Settings(tick_s=None)
FAMILIES = ("chain", "tree", "acyclic")


def slow_job(seed: int) -> Placement:
    """Return an overloaded job with one source, at rates at which queues take minutes or hours."""
    rng = np.random.default_rng([seed, 7])
    family, count = FAMILIES[seed % 3], int(rng.integers(3, 10))
    inputs = {"chain": (1,), "tree": (1,), "acyclic": (1, 1, 2, 3)}[family]
    streams = [
        Stream(f"o{u}", f"o{v}", float(rng.choice([0.02, 0.1, 0.25, 0.5, 1.0, 1.0, 3.0])))
        for v in range(1, count)
        for u in (
            [v - 1]
            if family == "chain"
            else rng.choice(v, size=min(v, int(rng.choice(inputs))), replace=False)
        )
    ]
    rate = float(rng.choice([20.0, 100.0, 500.0]))
    tuples = {"o0": rate} | {f"o{v}": 0.0 for v in range(1, count)}
    for stream in sorted(streams, key=lambda one: int(one.source[1:])):
        tuples[stream.target] += tuples[stream.source] * stream.selectivity
    busy = rng.uniform(0.05, 0.9, count)
    busy[rng.integers(count // 2, count)] = rng.uniform(1.1, 4.0)
    operators = [
        Operator(name, busy[v] * 1e9 / tuples[name], float(rng.integers(1, 50)) * 200)
        for v, name in enumerate(tuples)
    ]
    hosts = [Device(f"d{d}", 1000.0 * rng.uniform(0.7, 1.5)) for d in range(3)]
    graph, devices = StreamGraph(operators, streams), rng.integers(0, 3, count)
    kind: Any = "nic" if rng.random() < 0.5 else "pair"
    wide = Network(kind, bandwidth_mbps=1.0, latency_s=float(rng.choice([0.0, 0.001, 0.2])))
    placed = Placement(Problem(graph, Cluster(hosts, wide), source_rate=rate), devices)
    busiest = max([link.utilisation for link in simulate(placed).links], default=0.0)
    network = Network(
        kind,
        bandwidth_mbps=max(busiest, 1e-3) / rng.uniform(0.3, 3.0),
        latency_s=wide.latency_s,
    )
    return Placement(Problem(graph, Cluster(hosts, network), source_rate=rate), devices)


def test_slow_queues_reach_the_closed_form(share: Share) -> None:
    began_full = 0
    for seed in share.of(range(60)):
        placement = slow_job(seed)
        found = engine.run(placement, AUTO)
        closed = simulate(placement)
        assert found.relative_throughput == pytest.approx(closed.relative_throughput, abs=0.01)
        began_full += found.trace.starts_full
        quick = metrics.throughput(found.simulation, placement.devices)[0] / found.throughput
        assert quick == pytest.approx(1.0, abs=0.02)
    assert began_full >= share.least(10)


def behind_a_slow_link() -> Placement:
    """Return a job with a link that carries 55% and a device that three quarters reach before."""
    operators = [
        Operator("source", 1e6, 1000.0),
        Operator("first", 1e9 / 75.0, 1000.0),
        Operator("filter", 1e5, 1e5),
        Operator("sink", 1e5, 0.0),
    ]
    streams = [
        Stream("source", "first"),
        Stream("first", "filter", 0.02),
        Stream("filter", "sink", 1.0),
    ]
    hosts = [Device(f"d{d}", 1000.0) for d in range(4)]
    network = Network(bandwidth_mbps=1.1 * 8 * 1e5 / 1e6)
    problem = Problem(StreamGraph(operators, streams), Cluster(hosts, network), source_rate=100.0)
    return Placement(problem, [0, 1, 2, 3])


def test_the_bottleneck_of_the_steady_state() -> None:
    """The queue before the link fills in hours, and until then a device is the busiest."""
    placement = behind_a_slow_link()
    closed = simulate(placement)
    found = engine.score_of_run(placement, engine.run(placement, AUTO))
    assert found.settled
    assert found.steady is None
    assert found.starts_full
    assert found.relative_throughput == pytest.approx(closed.relative_throughput, abs=0.005)
    assert found.bottleneck.name == closed.bottleneck.name == "d2->d3"


def test_an_explicit_duration_has_the_steady_state_beside_it() -> None:
    placement = behind_a_slow_link()
    run = engine.run(placement, Settings(duration_s=61.0))
    found = engine.score_of_run(placement, run)
    assert found.duration_s == pytest.approx(61.0)
    assert not found.settled
    assert found.steady is not None
    assert found.steady.throughput == pytest.approx(simulate(placement).throughput, rel=0.01)
    assert found.steady.bottleneck.name == "d2->d3"
    assert "not settled; steady state" in found.headline
    lines = [line.text for line in found.view_with(placement).body if isinstance(line, Line)]
    assert any(
        line.startswith("steady state: 55 tuples/s, 55.0%; bottleneck link") for line in lines
    )


def test_latencies_of_full_queues() -> None:
    """A tuple waits in every queue for its tuples over their rate."""
    placement = behind_a_slow_link()
    found = engine.run(placement, Settings(source_wait=False))
    assert found.trace.starts_full
    latency, end = found.latency_s(), found.trace.end.streams
    assert latency is not None
    rates = np.array([55.0, 1.1, 1.1])
    expected = float(((end["waiting"] + end["in_flight"]) / rates).sum())
    assert latency["mean"] == pytest.approx(expected, rel=0.05)
    assert latency["p99"] == pytest.approx(latency["p50"], rel=0.05)


def test_a_scene_that_changes_is_followed_with_the_steady_state_beside_it() -> None:
    placement = behind_a_slow_link()
    scene = Scene({0: Profile.ramp(60.0)}, speeds=(Speed(1, 30.0, 0.2),))
    found = engine.run(placement, scene=scene)
    assert not found.trace.starts_full
    steady = engine.steady_state(placement, found)
    assert steady is not None
    assert steady.throughput == pytest.approx(15.0, rel=0.01)
    gone = Scene({0: Profile((0.0, 40.0), (1.0, 0.0))})
    assert engine.steady_state(placement, engine.run(placement, scene=gone)) is None


def test_growth_without_limit_does_not_prolong_a_run() -> None:
    placement = behind_a_slow_link()
    found: RunMetrics = engine.run(placement, Settings(queue=0))
    assert found.holds
    assert not found.settled
    assert found.steady_run is found
    assert found.trace.end.tick * found.trace.tick_s == pytest.approx(61.0)


def test_place_is_never_below_the_placement_by_the_closed_form() -> None:
    for seed in range(4):
        problem = slow_job(seed).problem
        aim = problem.throughput_objective.with_changes(model="engine")
        by_engine = problem.with_objective(aim)
        closed = solve(problem, "auto:evaluations=500").placement.devices
        found = solve(by_engine, "auto:evaluations=500")
        least = throughput_evaluator(by_engine).score(closed)
        assert isinstance(least, EngineScore)
        assert found.score.quality >= least.quality
