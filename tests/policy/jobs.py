"""Small networks with random weights, and jobs for them, that policy tests share."""

from typing import Any

import numpy as np
import torch

from streamplace import Cluster, Constraints, Device, Problem, Recipe, StreamGraph
from streamplace import Network as Links
from streamplace.policy.batch import Batch
from streamplace.policy.config import check_kind
from streamplace.policy.features import encode
from streamplace.policy.registry import Network, make_network
from streamplace.problem.cluster import NetworkKind
from streamplace.problem.objective import Model

SCORER: dict[str, Any] = {"hidden": 16, "hops": 2}
PUBLISHED: dict[str, Any] = {"length": 16, "hops": 2, "device_length": 8, "devices": 3}
SIZES: dict[str, tuple[str, dict[str, Any]]] = {
    "device-scorer": ("device-scorer", SCORER),
    "device-scorer, two orders": ("device-scorer", {**SCORER, "orders": [0, 1]}),
    "b": ("encoder-decoder", {**PUBLISHED, "encoder": "sequence", "upstream": False}),
    "b+f1": ("encoder-decoder", {**PUBLISHED, "upstream": False}),
    "b+f1&f2": ("encoder-decoder", PUBLISHED),
    "b+f1&f2, one name": ("encoder-decoder", {**PUBLISHED, "breaks_symmetry": True}),
}
KINDS = {name: check_kind({"kind": kind, "sizes": own}) for name, (kind, own) in SIZES.items()}
"""Networks of every kind; the published ones place on three devices."""

SEEDS = {"device-scorer": 13, "encoder-decoder": 2}
"""Of weights that put the jobs of these tests on more than one device."""

SCRIPTING = "ignore:.torch.jit.script. is deprecated:DeprecationWarning"
"""What torch-geometric does when it is first loaded is not ours to mend."""


def network_of(name: str, seed: int | None = None) -> Network:
    """Return a network of random weights, so large that what it reads decides, not its biases."""
    with torch.random.fork_rng():
        torch.manual_seed(SEEDS[KINDS[name].kind] if seed is None else seed)
        made = make_network(KINDS[name])
    with torch.no_grad():
        for key, parameter in made.named_parameters():
            parameter.mul_(0.0 if key.endswith("bias") else 2.5)
    return made.eval()


def cluster_of(devices: int, kind: NetworkKind = "pair", seed: int | None = None) -> Cluster:
    """Return devices on slow links with all that costs: equal ones, or unlike by a seed."""
    network = Links(kind, bandwidth_mbps=1500.0, overhead_s=2e-6, gap_s=3e-6)
    if seed is None:
        return Cluster.equal(devices, network=network)
    speeds = np.random.default_rng(seed).uniform(1000, 4000, devices)
    return Cluster([Device(f"d{i}", mips) for i, mips in enumerate(speeds)], network)


def job(
    operators: int,
    cluster: Cluster,
    seed: int = 0,
    model: Model = "bottleneck",
    constraints: Constraints | None = None,
) -> Problem:
    """Return a graph of four operators or more, with sources, sinks and streams as they come."""
    graph = Recipe("layered", 1, range(operators, operators + 1), seed).graph(0)
    return Problem(graph, cluster, source_rate=10_000.0, model=model, constraints=constraints)


def tiny(cluster: Cluster, operators: int = 3) -> Problem:
    """Return a fork of unlike operators a -> b, a -> c, …."""
    graph = StreamGraph.from_columns(
        list("abcdefgh")[:operators],
        np.linspace(1e5, 3e5, operators),
        np.linspace(900.0, 300.0, operators),
        [(0, v) for v in range(1, operators)],
    )
    return Problem(graph, cluster, source_rate=10_000.0)


def batch_of(*problems: Problem) -> Batch:
    return Batch.of([encode(problem) for problem in problems])
