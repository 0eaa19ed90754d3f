"""Small DOPPLER policies with random weights, and problems for them."""

from typing import Any

import torch

import streamplace as sp
from streamplace.papers.doppler.policy import Doppler
from streamplace.papers.doppler.sizes import DopplerSizes
from tests.support.graphs import preset_graph
from tests.support.policies import cluster_of

SMALL: dict[str, Any] = {"length": 6, "rounds": 2, "hidden": 8}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"variant": "sel-only"},
    {"variant": "plc-only"},
    {"per_step": True},
]


def doppler(seed: int = 0, **sizes: Any) -> Doppler:
    """Return a small policy with random parameters, biases included."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        policy = Doppler(DopplerSizes(**{**SMALL, **sizes}))
        with torch.no_grad():
            for parameter in policy.parameters():
                parameter.normal_(0.0, 0.4)
    return policy.eval()


def pass_problem(operators: int = 9, seed: int = 0, devices: int = 3) -> sp.Problem:
    """Return a layered graph on unequal devices, for makespans."""
    graph, cluster = preset_graph("layered", operators, seed), cluster_of(devices, seed=seed + 1)
    return sp.Problem(graph, cluster, objective=sp.Makespan())


def flow_problem(operators: int = 9, seed: int = 0, devices: int = 3) -> sp.Problem:
    """Return the same for throughput."""
    one = pass_problem(operators, seed, devices)
    return sp.Problem(one.graph, one.cluster, source_rate=1e4)
