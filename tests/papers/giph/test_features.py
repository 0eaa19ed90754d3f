"""Tests of the pairs of operators and devices, and of what they cost."""

import numpy as np
import pytest

import streamplace as sp
from streamplace.learning.policy.costs import DeviceCosts
from streamplace.learning.policy.partial import Costs
from streamplace.papers.giph.features import pairs_of
from streamplace.papers.hsdag.features import MADE, encode
from streamplace.papers.hsdag.sizes import HsdagSizes
from streamplace.scoring.flow import flow


def unreached_problem() -> sp.Problem:
    """Return a problem with an operator that no tuple reaches and that cannot run on a GPU."""
    operators = [
        sp.Operator("source", 1000.0, 100.0),
        sp.Operator("unreached", 1000.0, 100.0, seconds_on={"gpu": None, "cpu": 1e-6}),
        sp.Operator("sink", 1000.0, 100.0, seconds_on={"gpu": 1e-6}),
    ]
    streams = [sp.Stream("source", "unreached", selectivity=0.0), sp.Stream("source", "sink")]
    devices = [
        sp.Device("a", 2000.0, kind="cpu"),
        sp.Device("b", 4000.0, kind="gpu"),
        sp.Device("c", 2000.0, kind="cpu"),
    ]
    cluster = sp.Cluster(devices, sp.Network("pair", bandwidth_mbps=500.0))
    return sp.Problem(sp.StreamGraph(operators, streams), cluster, source_rate=1e4)


@pytest.mark.filterwarnings("error")
def test_an_operator_without_tuples_has_no_pair_where_it_cannot_run() -> None:
    problem = unreached_problem()
    assert DeviceCosts.of(problem).weight[1].tolist() == [0.0, np.inf, 0.0]
    pairs = pairs_of(problem)
    assert pairs.device[pairs.first[1] : pairs.first[2]].tolist() == [0, 2]
    assert np.isfinite(pairs.weight).all()


@pytest.mark.filterwarnings("error")
def test_features_of_an_operator_without_tuples_are_finite() -> None:
    problem = unreached_problem()
    assert Costs.of(problem).seconds[1].tolist() == [0.0, 0.0, 0.0]
    every = HsdagSizes(features=list(MADE), devices=3, chains=False)
    for sizes in (every, every.model_copy(update={"capacity": True, "edge_traffic": True})):
        one = encode(problem, sizes)
        assert np.isfinite(one.features).all()
        assert np.isfinite(one.cost).all()


def test_weights_are_shares_of_devices_in_use() -> None:
    problem = unreached_problem()
    arrays = flow(problem)
    found = DeviceCosts.of(problem).weight
    assert found[0].tolist() == (arrays.operator_tuples[0] * 1000.0 / arrays.capacity).tolist()
    np.testing.assert_allclose(found[2, 1], 1e4 * 1e-6, rtol=1e-12)
