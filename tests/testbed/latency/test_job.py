"""Problems, arrivals and documents of measured latencies."""

import numpy as np
import pytest

from benchmarks.testbed.latency import lengths
from benchmarks.testbed.latency.arrivals import births_s
from benchmarks.testbed.latency.devices import MACHINE
from benchmarks.testbed.latency.job import documents
from benchmarks.testbed.latency.lengths import LONGEST_S, RUNS, SHORTEST_S, TRIED_S, length_for
from benchmarks.testbed.latency.problems import LOADS, MOST_LOAD, SIZES, cases
from benchmarks.testbed.latency.simulated import simulated
from benchmarks.testbed.latency.worker.frames import HEADER
from benchmarks.testbed.scaling import scale
from streamplace import Cluster, Operator, Problem, StreamGraph
from streamplace.latency.tuples import busiest, deployment_of
from tests.support.tuple_latencies import SERVICE_S, two_paths


@pytest.mark.long
def test_cases_have_the_loads_that_they_should_have() -> None:
    made = cases(8)
    assert [case.name for case in made] == [case.name for case in cases(8)]
    assert len({case.name for case in made}) == 8
    assert {case.service for case in made} == {"exponential", "deterministic"}
    assert len({len(case.problem.cluster.devices) for case in made}) == 3
    for i, case in enumerate(made):
        assert len(case.problem.graph.names) in SIZES
        problem = scale(case.problem, MACHINE).problem
        own, other = (
            busiest(problem, deployment_of(problem, devices)).utilisation
            for devices in (case.starts["auto"], case.starts["other"])
        )
        assert own == pytest.approx(LOADS[i // 3 % 4], abs=0.05)
        assert other <= MOST_LOAD
        assert (case.starts["auto"] != case.starts["other"]).any()
        assert np.array(problem.source_rate) <= MACHINE.tuples_s


@pytest.mark.parametrize("seed", range(5))
def test_a_simulation_has_the_same_arrivals(seed: int) -> None:
    """Sources that need no time pass on every tuple at its arrival, so it can be counted."""
    graph = StreamGraph(
        [Operator("a", 0, 0), Operator("b", 0, 0)],
        [],
        source_rate=50.0,
        source_shares={"a": 0.8, "b": 0.2},
    )
    problem = Problem(graph, Cluster.equal(1))
    moments = np.concatenate(list(births_s(problem, seed, 8.0).values()))
    for begin_s in (0.0, 1.0, 2.5, 7.0):
        counted = simulated(
            problem, np.zeros(2, np.int32), "deterministic", seed, begin_s, 8.0 - begin_s
        )
        assert len(counted) == np.count_nonzero(moments >= begin_s)


def test_shares_of_sources_and_seeds_matter() -> None:
    graph = StreamGraph([Operator("a", 0, 0), Operator("b", 0, 0)], [], source_rate=100.0)
    problem = Problem(graph, Cluster.equal(1))
    first, second = births_s(problem, 1, 20.0).values()
    assert first != second
    assert first == sorted(first)
    assert len(first) == pytest.approx(1000, abs=150)  # 50 per second
    assert births_s(problem, 2, 20.0)[0] != first


@pytest.mark.parametrize("seed", range(4))
def test_devices_agree_about_streams_and_connections(seed: int) -> None:
    """A stream between devices has a sender and a receiver, and so has their connection."""
    scaled = two_paths(3)
    graph = scaled.problem.graph
    devices = np.random.default_rng(seed).integers(3, size=5).astype(np.int32)
    jobs = documents(scaled, devices, [0.1] * 3, 1, 5.0, exponential=False, seed=seed)
    assert sorted(v for job in jobs for v, *_ in job["operators"]) == list(range(5))
    ways = {
        stream: (d, d if device is None else device)
        for d, job in enumerate(jobs)
        for _, _, _, outputs in job["operators"]
        for stream, _, device in outputs
    }
    for e, v, w in zip(range(4), graph.stream_source, graph.stream_target, strict=True):
        assert ways[e] == (devices[v], devices[w])
        assert jobs[devices[w]]["target"][e] == w
    sent = {
        (d, s["device"], s["number"])
        for d, job in enumerate(jobs)
        for s in job["streams"]
        if "to" in s
    }
    received = {
        (d, s["number"]) for d, job in enumerate(jobs) for s in job["streams"] if "to" not in s
    }
    assert {(to, number) for _, to, number in sent} == received
    assert {(a, b) for a, b, _ in sent} == {(a, b) for a, b in ways.values() if a != b}


def test_sources_have_births_and_all_operators_costs() -> None:
    scaled = two_paths(2)
    on_one = np.zeros(5, np.int32)
    jobs = documents(scaled, on_one, [0.1, 0.1], 1, 5.0, exponential=True, seed=0)
    assert {v for v, _, births, _ in jobs[0]["operators"] if births} == {0, 4}
    assert not jobs[1]["operators"]
    speed = scaled.problem.cluster.capacity[0]
    services_s = [cost / speed for _, cost, *_ in jobs[0]["operators"]]
    assert services_s == pytest.approx([SERVICE_S] * 5)
    assert min(scaled.tuple_bytes) >= HEADER.size


ON_ONE = np.zeros(5, np.int32)


def test_random_services_need_longer_measurements() -> None:
    problem = two_paths(1).problem.with_source_rate(80.0)
    constant = length_for(problem, ON_ONE, "deterministic", 1.0)
    varying = length_for(problem, ON_ONE, "exponential", 1.0)
    assert SHORTEST_S <= constant.seconds <= varying.seconds <= LONGEST_S
    assert {len(values) for values in varying.short_s.values()} == {RUNS}
    assert np.std(varying.short_s["p99"]) > np.std(constant.short_s["p99"])


def test_the_length_grows_with_the_square_of_the_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = two_paths(1).problem
    monkeypatch.setattr(lengths, "SHORTEST_S", TRIED_S)
    monkeypatch.setattr(lengths, "LONGEST_S", TRIED_S)
    p99_s = length_for(problem, ON_ONE, "exponential", 1.0).short_s["p99"]
    monkeypatch.setattr(lengths, "LONGEST_S", 1e3)
    monkeypatch.setattr(lengths, "SPREAD", float(np.std(p99_s) / np.mean(p99_s)) / 2)
    found = length_for(problem, ON_ONE, "exponential", 1.0)
    assert found.seconds == pytest.approx(4 * TRIED_S)
