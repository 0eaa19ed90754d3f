"""Interchangeable devices, and the canonical form of placements."""

import numpy as np
import pytest

from streamplace.problem.cluster import Cluster, Device, LinkOverride, Network
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import Operator, StreamGraph
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable, relabel

GRAPH = StreamGraph([Operator(name, 1, 1) for name in "abc"], [], source_rate=1)


def test_relabelled_by_hand() -> None:
    """Devices 0, 2 and 3 are equal: in reverse order 3 comes first, then 0."""
    kind = np.array([0, 1, 0, 0], dtype=np.int32)
    devices = np.array([0, 1, 3, 0, 3], dtype=np.int32)
    for order, expected in (
        ([0, 1, 2, 3, 4], [0, 1, 2, 0, 2]),
        ([4, 3, 2, 1, 0], [2, 1, 0, 2, 0]),
        ([1, 3, 4, 0, 2], [0, 1, 2, 0, 2]),
    ):
        renumbered = relabel(devices, kind, np.array(order, dtype=np.int32))
        assert renumbered.tolist() == expected


@pytest.mark.parametrize(
    ("cluster", "rules", "kind"),
    [
        (Cluster.equal(3), Constraints(), [0, 0, 0]),
        (Cluster.parse("2x500,1x1000,1x500"), Constraints(), [0, 0, 1, 0]),
        (Cluster.equal(3), Constraints(pins={"a": "d1"}), [0, 1, 0]),
        (Cluster.equal(3), Constraints(allowed={"a": ["d0", "d2"]}), [0, 1, 2]),
        (Cluster.equal(3), Constraints(exlocate=[["a", "b"]], colocate=[["b", "c"]]), [0, 0, 0]),
        (
            Cluster([Device("x", 1, labels=("g", "h")), Device("y", 1, labels=("h", "g"))]),
            Constraints(),
            [0, 0],
        ),
        (
            Cluster([Device("x", 1), Device("y", 1, cores=2), Device("z", 2)]),
            Constraints(),
            [0, 1, 2],
        ),
        (
            Cluster.equal(
                4, network=Network(overrides=(LinkOverride("d1", "d3", bandwidth_mbps=9.0),))
            ),
            Constraints(),
            [0, 1, 0, 2],
        ),
    ],
    ids=["equal", "speeds", "pin", "allowed", "groups", "labels", "cores", "link"],
)
def test_interchangeable(cluster: Cluster, rules: Constraints, kind: list[int]) -> None:
    """Kinds are numbered in order; a device that a constraint or override names is its own kind."""
    assert interchangeable(Problem(GRAPH, cluster, constraints=rules)).tolist() == kind
