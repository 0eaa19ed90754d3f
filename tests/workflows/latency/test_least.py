"""Lower bounds on latency: against light loads, where nothing waits, and by hand."""

from math import log

import numpy as np
import pytest

from benchmarks.reference.grouped_problems import grouped_problem
from benchmarks.reference.random_problems import feasible_placements, random_problem
from sim.tuples import Arrivals, expected_tuples, run
from sim.tuples.errors import quantile
from streamplace import Cluster, Constraints, Device, Network, Problem
from streamplace.problem.problem import Problem as AnyProblem
from streamplace.scoring.tuples import deployed
from streamplace.workflows.latency.least import least_latency
from streamplace.workflows.latency.limit import LatencyLimit
from tests.support.graphs import chain_graph
from tests.support.share import Share

EXPONENTIAL, CONSTANT = (
    {name: LatencyLimit(name, 1.0, service=service) for name in ("mean", "p50", "p99")}
    for service in ("exponential", "deterministic")
)


def two(constraints: Constraints | None = None) -> Problem:
    """Return a chain a -> b of 2 and 3 ms on the faster of two devices."""
    network = Network(bandwidth_mbps=8.0, latency_s=0.01)
    cluster = Cluster([Device("slow", 500.0), Device("fast", 1000.0)], network)
    graph = chain_graph(2e6, 3e6, payload_bytes=1000.0)
    return Problem(graph, cluster, source_rate=1.0, constraints=constraints)


def test_services_on_the_fastest_device() -> None:
    problem = two()
    assert least_latency(problem, CONSTANT["mean"]) == pytest.approx(0.005)
    assert least_latency(problem, CONSTANT["p50"]) == pytest.approx(0.005)
    assert least_latency(problem, EXPONENTIAL["mean"]) == pytest.approx(0.005)
    assert least_latency(problem, EXPONENTIAL["p99"]) == pytest.approx(0.003 * log(100))


def test_ends_that_cannot_share_a_device() -> None:
    """The message takes 1 ms on the link and 10 ms on the wire."""
    apart = two(Constraints(exlocate=(("a", "b"),)))
    assert least_latency(apart, CONSTANT["p99"]) == pytest.approx(0.005 + 0.011)
    pinned = two(Constraints(pins={"a": "slow", "b": "fast"}))
    assert least_latency(pinned, CONSTANT["p99"]) == pytest.approx(0.007 + 0.011)


def check_bound(seed: int) -> None:
    """No placement, with hardly any load, has a latency below the bound."""
    problem: AnyProblem = (random_problem if seed % 2 else grouped_problem)(
        seed, max_placements=2000
    )
    rows = np.concatenate(list(feasible_placements(problem)))
    rng = np.random.default_rng(seed)
    for devices in rows[rng.integers(0, len(rows), 3)]:
        placed = deployed(problem, devices)
        placed = placed._replace(rate=placed.rate * 1e-6)
        seconds = 3e4 / expected_tuples(placed, 1.0)
        for limits in (EXPONENTIAL, CONSTANT):
            found = run(
                placed,
                Arrivals(),
                exponential=limits["mean"].exponential,
                duration_s=seconds,
                measured_from_s=0.0,
                seed=seed,
            ).latencies_s
            for name, limit in limits.items():
                value = found.mean() if name == "mean" else quantile(found, limit.share or 0)
                assert value >= 0.93 * least_latency(problem, limit), (name, limit.service)


@pytest.mark.parametrize("seed", range(4))
def test_no_placement_is_faster(seed: int) -> None:
    check_bound(seed)


@pytest.mark.long
def test_no_placement_of_many_problems_is_faster(share: Share) -> None:
    for seed in share.of(range(10, 110)):
        check_bound(seed)
