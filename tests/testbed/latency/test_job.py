"""Jobs of devices that serve single tuples."""

import numpy as np
import pytest

from benchmarks.testbed.latency.job import documents
from benchmarks.testbed.latency.worker.frames import HEADER
from tests.support.tuple_latencies import SERVICE_S, two_paths


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
