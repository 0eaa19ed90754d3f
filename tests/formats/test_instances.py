"""Cores that exports request for operators and their instances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.formats.instances import operator_cores
from streamplace.problem.cluster import Cluster
from streamplace.problem.network import Network
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.throughput import simulate
from tests.support.instance_placements import (
    instance_placements,
)


@given(instance_placements(whole=False), st.sampled_from([1.0, 0.5]), st.sampled_from([0.0, 1e-5]))
def test_cores_of_operators(placement: Placement, target: float, overhead_s: float) -> None:
    """Those of a device are its utilisation times its cores, whatever the target utilisation is."""
    own = placement.problem
    cluster = Cluster(own.cluster.devices, network=Network(overhead_s=overhead_s))
    problem = Problem(own.graph, cluster, source_rate=1000.0, target_utilisation=target)
    found = operator_cores(Placement(problem, placement.devices), "kubernetes")
    scored = simulate(Placement(problem, placement.devices))
    sums = np.bincount(placement.devices, found, len(cluster.devices))
    assert sums == pytest.approx([device.utilisation * 2 for device in scored.devices])
