"""The features of a problem for the device scorer."""

import numpy as np
from hypothesis import given

from streamplace import Cluster, Problem
from streamplace.learning.policy.device_scorer.features import encode
from tests.support.graphs import chain_graph
from tests.support.policies import (
    scorer_features,
)
from tests.support.strategies import closed_form_problems


def test_under_bottleneck_features_do_not_depend_on_the_source_rate() -> None:
    """At 1,000 tuples/s, the operator's utilisation of the device is exactly 1."""
    problems = [
        Problem(chain_graph(1e6), Cluster.equal(1, 1000.0), source_rate=r) for r in (1e3, 2e3)
    ]
    for one, other in zip(*map(scorer_features, problems), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_under_path_average_features_show_overload() -> None:
    problem, faster = (
        Problem(
            chain_graph(1e6, 1e6), Cluster.equal(2, 1000.0), source_rate=r, model="path-average"
        )
        for r in (300.0, 3000.0)
    )
    assert (encode(problem).totals != encode(faster).totals).any()
    assert encode(problem).lookahead.unit == encode(faster).lookahead.unit == 1.0


@given(closed_form_problems)
def test_features_are_finite_and_of_moderate_size(problem: Problem) -> None:
    """Cases include graphs without work or streams, and streams without traffic."""
    one = encode(problem)
    for column in scorer_features(problem):
        assert column.dtype == np.float32
        assert np.isfinite(column).all()
    for column in scorer_features(problem):
        assert np.abs(column).max(initial=0.0) < 60
    assert len(one.operators) == one.size == len(problem.graph.names)
