"""The features of a problem for the published networks."""

import numpy as np
from hypothesis import given

from streamplace import Cluster, Problem
from streamplace.policy.ni2020.network import encode
from tests.support.graphs import chain_graph
from tests.support.policies import cluster_of
from tests.support.strategies import closed_form_problems


@given(closed_form_problems)
def test_features_are_finite(problem: Problem) -> None:
    """Cases include graphs without work or streams, and streams without traffic."""
    one = encode(problem)
    assert one.operators.dtype == np.float32
    assert np.isfinite(one.operators).all()
    assert len(one.operators) == one.size == len(problem.graph.names)


def test_features_by_hand() -> None:
    """1,000 tuples/s with 0.5 million instructions each; devices of 1,000 and 3,000 MIPS."""
    cluster = Cluster.parse("1x1000,1x3000")
    slow = Cluster(cluster.devices, cluster_of(2).network)
    graph = chain_graph(5e5, 1e6, payload_bytes=100.0)
    read = encode(Problem(graph, slow)).operators
    traffic = 1000 * (3e-6 + 800 / 1500e6)
    np.testing.assert_allclose(read, [[0.25, traffic], [0.5, 0.0]], rtol=1e-6)
