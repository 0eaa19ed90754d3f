"""Counts of evaluations by placement."""

import numpy as np

from streamplace.scoring.throughput import throughput
from streamplace.testing import PolicyCase
from streamplace.testing.evaluations import counted_evaluations


def test_evaluations_are_counted_by_placement() -> None:
    problem = PolicyCase("device-scorer").problems()[0]
    rows = np.zeros((5, len(problem.graph.names)), dtype=np.int32)
    with counted_evaluations() as counted:
        throughput(problem, rows)
        throughput(problem, rows[0])
    throughput(problem, rows)
    assert counted.placements == 6
