"""A device that serves single tuples, without others."""

import json
import os
import random
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks.testbed.latency.devices import PACE
from benchmarks.testbed.latency.job import documents
from benchmarks.testbed.latency.simulated import simulated
from benchmarks.testbed.latency.worker import server, wires
from benchmarks.testbed.latency.worker.__main__ import built
from tests.support.tuple_latencies import two_paths

SECONDS = 1.0
ON_ONE = np.zeros(5, np.int32)


@pytest.fixture(autouse=True)
def _open_stdin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Replace stdin, whose end would end the device, by a pipe that stays open."""
    reading, writing = os.pipe()
    monkeypatch.setattr(wires, "STDIN", reading)
    yield
    os.close(reading)
    os.close(writing)


def served(selectivity: float, *, exponential: bool) -> tuple[list[float], dict[str, Any]]:
    """Return the latencies of a device with all operators, and all of its results."""
    scaled = two_paths(1, selectivity)
    speeds = [PACE * share for share in scaled.shares]
    jobs = documents(scaled, ON_ONE, speeds, 1, SECONDS, exponential=exponential, seed=3)
    found = built(json.loads(json.dumps(jobs[0])), {}).run(time.monotonic() + 0.01, SECONDS)
    return [took_s for _, took_s in found["arrived"]], found


def test_a_device_serves_what_a_simulation_serves() -> None:
    """Whatever else the machine does, the same tuples leave in the same order, and none earlier."""
    latencies_s, found = served(2.0, exponential=False)
    expected = simulated(two_paths(1, 2.0).problem, ON_ONE, "deterministic", 3, 0.0, SECONDS)
    assert 20 < len(latencies_s) <= len(expected)
    assert (latencies_s >= expected[: len(latencies_s)] - 1e-5).all()  # work in small lumps
    assert not found["overloaded"]
    assert 0 < found["busy"] < 1
    middle, high, most = found["late_s"]
    assert middle <= high <= most


def test_fractions_of_tuples_and_services_are_random() -> None:
    latencies_s, found = served(0.5, exponential=True)
    assert len(latencies_s) > 10
    different = {round(one, 6) for one in latencies_s}
    assert len(different) > 0.9 * len(latencies_s)  # two may agree to a microsecond by chance
    assert found["busy"] > 0


def test_too_many_waiting_tuples_end_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_WAITING", 3)
    operator = server.Operator(1e6, [0.0] * 10, [server.Output(0, 1.0, None)])
    sink = server.Operator(1e6, [], [])
    one = server.Server(
        {0: operator, 1: sink}, {0: 1}, [], {}, 1.0, random.Random(0), exponential=False
    )
    assert one.run(time.monotonic(), 60.0)["overloaded"]
