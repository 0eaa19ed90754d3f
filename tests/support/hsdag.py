"""Small HSDAG policies, and problems for them."""

from typing import Any

import torch

import streamplace as sp
from streamplace.papers.hsdag.policy import Hsdag
from streamplace.papers.hsdag.sizes import HsdagSizes
from tests.support.graphs import preset_graph

SMALL: dict[str, Any] = {"hidden": 8, "degrees": 3, "encoding": 4, "min_groups": 2, "steps": 3}
STREAM: dict[str, Any] = {
    "features": ["degree", "position", "cost", "stream"],
    "edge_traffic": True,
    "capacity": True,
}


def hsdag(seed: int = 0, **sizes: Any) -> Hsdag:
    """Return a small policy with random parameters."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Hsdag(HsdagSizes(**SMALL | sizes)).eval()


def pass_problem(operators: int = 12, seed: int = 0) -> sp.Problem:
    """Return a problem of a makespan on two unequal devices."""
    graph = preset_graph("layered", operators, seed)
    network = sp.Network("pair", bandwidth_mbps=500.0)
    cluster = sp.Cluster([sp.Device("a", 4000.0), sp.Device("b", 1500.0)], network)
    return sp.Problem(graph, cluster, objective=sp.Makespan())


def stream_problem(operators: int = 12, seed: int = 0) -> sp.Problem:
    """Return a problem of throughput on three devices."""
    graph = preset_graph("layered", operators, seed)
    return sp.Problem(graph, sp.Cluster.parse("1x4000,2x1500"), source_rate=1e5)
