"""Numbers of parts, and the devices that they go to."""

import numpy as np

from streamplace import Cluster, Device, Problem
from streamplace.placers.partition.metis import Metis, MetisRecursive
from tests.support.graphs import chain_graph

RNG = np.random.default_rng(0)


def test_heavier_parts_go_to_faster_devices_in_proportion() -> None:
    graph = chain_graph(*[1000.0] * 40)
    cluster = Cluster([Device("slow", 1000.0), Device("fast", 3000.0)])
    for placer in (Metis(), MetisRecursive()):
        placement = placer(Problem(graph, cluster), RNG)
        assert 27 <= len(placement.pes["fast"]) <= 33  # 30 is three quarters


def test_the_number_of_devices_limits_the_number_of_parts() -> None:
    problem = Problem(chain_graph(*[5.0] * 20))
    assert len(MetisRecursive(parts=3)(problem, RNG).pes) == 3
    assert len(MetisRecursive()(problem, RNG).pes) == 5
    assert len(MetisRecursive(parts=50)(problem, RNG).pes) == 5
    assert len(Metis()(Problem(chain_graph(5.0)), RNG).pes) == 1
