"""The features of a problem for the published networks."""

import numpy as np
from hypothesis import given

from streamplace import Cluster, Problem
from streamplace.papers.ni2020.features import encoded, logarithms, utilisations
from tests.support.graphs import chain_graph
from tests.support.policies import cluster_of
from tests.support.strategies import closed_form_problems


@given(closed_form_problems)
def test_features_are_finite(problem: Problem) -> None:
    """Cases include graphs without work or streams, and streams without traffic."""
    one = encoded(problem, utilisations(problem), "by-depth")
    assert one.operators.dtype == np.float32
    assert np.isfinite(one.operators).all()
    assert len(one.operators) == one.size == len(problem.graph.names)


def test_features_by_hand() -> None:
    """1,000 tuples/s with 0.5 million instructions each; devices of 1,000 and 3,000 MIPS."""
    cluster = Cluster.parse("1x1000,1x3000")
    slow = Cluster(cluster.devices, cluster_of(2).network)
    graph = chain_graph(5e5, 1e6, payload_bytes=100.0)
    read = utilisations(Problem(graph, slow))
    traffic = 1000 * (3e-6 + 800 / 1500e6)
    np.testing.assert_allclose(read, [[0.25, traffic], [0.5, 0.0]], rtol=1e-6)


@given(closed_form_problems)
def test_logarithms_are_finite(problem: Problem) -> None:
    assert np.isfinite(logarithms(problem)).all()


def test_logarithms_by_hand() -> None:
    """Instructions per source tuple, and Mbit per tuple; a sink emits none."""
    graph = chain_graph(5e5, 1e6, payload_bytes=100.0)
    read = logarithms(Problem(graph, cluster_of(2), source_rate=7.0))
    np.testing.assert_allclose(np.exp(read), [[5e5, 8e-4], [1e6, 0.0]], rtol=1e-4, atol=2e-8)
