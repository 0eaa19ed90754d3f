"""Lengths of measurements."""

import numpy as np
import pytest

from benchmarks.testbed.latency import lengths
from benchmarks.testbed.latency.lengths import LONGEST_S, RUNS, SHORTEST_S, TRIED_S, length_for
from tests.support.tuple_latencies import two_paths

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
