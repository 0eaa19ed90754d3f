"""Arrivals of measurements, which are those of simulations."""

import numpy as np
import pytest

from benchmarks.testbed.latency.arrivals import births_s
from benchmarks.testbed.latency.simulated import simulated
from streamplace import Cluster, Operator, Problem, StreamGraph


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
