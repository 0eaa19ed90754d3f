"""Bounds on throughput: no placement exceeds them, and they are tight in known cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.rules import obeying
from benchmarks.reference.strategies import problems
from sim.closed_form.bottleneck import lowest_utilisation, worst_utilisation
from sim.closed_form.bounds import least_utilisation
from streamplace.generate import Recipe
from streamplace.placers.registry import make_placer
from streamplace.problem.cluster import Cluster, Network
from streamplace.problem.constraints import Constraints
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import bound, throughput
from tests.support.graphs import chain_graph
from tests.support.placements import every_placement


@given(
    st.sampled_from(CLOSED_FORMS).flatmap(lambda model: problems(model, max_size=5, shared=True))
)
def test_no_placement_exceeds_the_bound(problem: Problem) -> None:
    rows = every_placement(problem)
    rows = rows[obeying(problem, rows)]
    assert throughput(problem, rows).max() <= bound(problem) * (1 + 1e-9)
    arrays = flow(problem)
    apart = problem.feasibility.kept_apart(arrays.source, arrays.target)
    least = least_utilisation(arrays, problem.feasibility.unit_of, apart)
    assert least <= worst_utilisation(arrays, rows).min() * (1 + 1e-9)
    if arrays.work.any():
        assert least >= lowest_utilisation(arrays) * (1 - 1e-12)


def test_four_equal_operators_on_three_devices() -> None:
    problem = Problem(chain_graph(5e5, 5e5, 5e5, 5e5), Cluster.equal(3, mips=1000.0))
    assert bound(problem) == pytest.approx(1000.0)
    faster = Problem(problem.graph, problem.cluster, source_rate=2000.0)
    assert bound(faster) == pytest.approx(1000.0)  # total CPU alone would give 1500


def test_streams_too_heavy_for_links_join_their_ends() -> None:
    """If the heavy stream is cut, the link's utilisation is 2; otherwise a device's is 1.6."""
    network = Network(bandwidth_mbps=8.0)
    cluster = Cluster.equal(3, mips=1000.0, network=network)
    graph = chain_graph(8e5, 8e5, payload_bytes=2000.0)
    assert bound(Problem(graph, cluster)) == pytest.approx(1000 / 1.6)
    light = Problem(chain_graph(8e5, 8e5, payload_bytes=1200.0), cluster)
    assert bound(light) == pytest.approx(1000 / 1.2)  # cutting is better, with utilisation 1.2
    under = Problem(graph, cluster, model="path-average")
    assert bound(under) == pytest.approx(1000.0)


def test_messages_that_cost_too_much_cpu_time_join_their_ends() -> None:
    """Cut, the sender's device has the utilisation 0.8 + 0.5; together, theirs has 0.9."""
    network = Network(bandwidth_mbps=1e6, overhead_s=5e-4)
    cluster = Cluster.equal(2, mips=1000.0, network=network)
    problem = Problem(chain_graph(8e5, 1e5), cluster, source_rate=2000.0)
    assert bound(problem) == pytest.approx(1000 / 0.9)
    assert throughput(problem, every_placement(problem)).max() == pytest.approx(1000 / 0.9)
    cheap = Cluster.equal(2, mips=1000.0, network=Network(bandwidth_mbps=1e6, overhead_s=2e-5))
    cut = Problem(problem.graph, cheap, source_rate=2000.0)
    assert bound(cut) == pytest.approx(1000 / 0.82)


def test_colocated_operators_count_as_one_unit() -> None:
    together = Constraints(colocate=[["a", "c"]])
    graph = chain_graph(8e5, 1e5, 8e5)
    problem = Problem(graph, Cluster.equal(3, mips=1000.0), constraints=together)
    assert bound(problem) == pytest.approx(1000 / 1.6)


@pytest.mark.parametrize("rate", [1e4, 2e4])
def test_the_bound_is_tight_on_benchmark_graphs(rate: float) -> None:
    """The mean gap to a search is well below that of the simpler bound."""
    gaps, plain = [], []
    for number in range(40):
        problem = Problem(Recipe("dream", 40, seed=8).graph(number), source_rate=rate)
        found = make_placer("search:evaluations=5000")(problem, np.random.default_rng(0))
        achieved = throughput(problem, found.devices)[0]
        assert achieved <= bound(problem) * (1 + 1e-9)
        gaps.append(1 - achieved / bound(problem))
        plain.append(1 - achieved / min(rate, rate / lowest_utilisation(flow(problem))))
    assert np.mean(gaps) < 0.6 * np.mean(plain)
