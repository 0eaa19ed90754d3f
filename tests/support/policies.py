"""Small policies with random weights, and problems for them."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from streamplace import Cluster, Constraints, Device, Problem, StreamGraph
from streamplace import Network as Links
from streamplace.learning.policy.base import AnyPolicy, Constructive
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.device_scorer import features
from streamplace.learning.policy.registry import make_policy, policy_section
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.problem.cluster import NetworkKind
from streamplace.problem.objective import Model
from streamplace.util.arrays import Ints
from tests.support.graphs import preset_graph
from tests.support.placements import every_placement

SCORER: dict[str, Any] = {"hidden": 16, "hops": 2}
PUBLISHED: dict[str, Any] = {"length": 16, "hops": 2, "device_length": 8, "devices": 3}
SIZES: dict[str, tuple[str, dict[str, Any]]] = {
    "device-scorer": ("device-scorer", SCORER),
    "device-scorer, two orders": ("device-scorer", {**SCORER, "orders": [0, 1]}),
    "device-scorer, backward": ("device-scorer", {**SCORER, "orders": ["dfs-postorder"]}),
    "b": ("encoder-decoder", {**PUBLISHED, "encoder": "sequence", "upstream": False}),
    "b+f1": ("encoder-decoder", {**PUBLISHED, "upstream": False}),
    "b+f1&f2": ("encoder-decoder", PUBLISHED),
    "b+f1&f2, backward": ("encoder-decoder", {**PUBLISHED, "order": "reversed-topo-lifo"}),
    "released": ("encoder-decoder-released", {"length": 16, "devices": 3}),
    "b+f1&f2, one name": ("encoder-decoder", {**PUBLISHED, "breaks_symmetry": True}),
}
KINDS = {name: policy_section({"kind": kind, "sizes": own}) for name, (kind, own) in SIZES.items()}
"""A policy of every kind; the published ones place on three devices."""

SCORER_KINDS = [name for name in KINDS if name.startswith("device-scorer")]
PUBLISHED_KINDS = [name for name in KINDS if name not in SCORER_KINDS]
BREAKING_SYMMETRY = [*SCORER_KINDS, "b+f1&f2, one name"]
"""Policies that offer only the first of several equal devices that run nothing."""
ONE_ORDER_KINDS = [name for name in KINDS if "orders" not in name]

of_every_kind = pytest.mark.parametrize("name", KINDS)
of_scorers = pytest.mark.parametrize("name", SCORER_KINDS)
of_published = pytest.mark.parametrize("name", PUBLISHED_KINDS)

SEEDS = {
    "device-scorer": 13,
    "encoder-decoder": 2,
    "encoder-decoder-released": 2,
    "b+f1&f2, backward": 4,
}
"""Seeds whose weights use more than one device for the problems below."""

"""A warning of torch-geometric when it is first imported."""


def policy_of(name: str, seed: int | None = None) -> Constructive[Any, Any]:
    """Return a policy with weights so large that its inputs, not its biases, decide."""
    with torch.random.fork_rng():
        torch.manual_seed(SEEDS.get(name, SEEDS[KINDS[name].kind]) if seed is None else seed)
        policy = Constructive.of(make_policy(KINDS[name]))
    with torch.no_grad():
        for key, parameter in policy.named_parameters():
            parameter.mul_(0.0 if key.endswith("bias") else 2.5)
    return policy.eval()


def cluster_of(devices: int, kind: NetworkKind = "pair", seed: int | None = None) -> Cluster:
    """Return equal devices on slow links with overheads and gaps, or unequal ones by a seed."""
    network = Links(kind, bandwidth_mbps=1500.0, overhead_s=2e-6, gap_s=3e-6)
    if seed is None:
        return Cluster.equal(devices, network=network)
    speeds = np.random.default_rng(seed).uniform(1000, 4000, devices)
    return Cluster([Device(f"d{i}", mips) for i, mips in enumerate(speeds)], network)


def layered_problem(
    operators: int,
    cluster: Cluster,
    seed: int = 0,
    model: Model = "bottleneck",
    constraints: Constraints | None = None,
) -> Problem:
    """Return a layered graph of at least four operators on the cluster."""
    graph = preset_graph("layered", operators, seed)
    return Problem(graph, cluster, source_rate=10_000.0, model=model, constraints=constraints)


def fork_problem(cluster: Cluster, operators: int = 3) -> Problem:
    """Return unequal operators joined as a -> b, a -> c, …."""
    graph = StreamGraph.from_columns(
        list("abcdefgh")[:operators],
        np.linspace(1e5, 3e5, operators),
        np.linspace(900.0, 300.0, operators),
        [(0, v) for v in range(1, operators)],
    )
    return Problem(graph, cluster, source_rate=10_000.0)


def batch_of(policy: Constructive[Any, Any], *problems: Problem) -> Any:
    """Return the problems as one batch of a policy."""
    return policy.batch([policy.encode(problem) for problem in problems])


def greedy_placement(policy: AnyPolicy, problem: Problem) -> Ints:
    """Return the placement with the most probable device for every operator."""
    builder = Constructive.of(policy)
    devices: Ints = builder.sample(batch_of(builder, problem), 1, Sampler())[0, 0]
    return devices


def assert_same_likelihood(one: Tensor, other: Tensor) -> None:
    """Compare log-probabilities in single precision."""
    torch.testing.assert_close(one.detach(), other.detach(), rtol=1e-4, atol=1e-4)


def seeded_generator(seed: int = 0) -> torch.Generator:
    """Return a generator of torch."""
    return torch.Generator().manual_seed(seed)


def rollout_of(policy: Constructive[Any, Any], problem: Problem, rows: Ints) -> Trajectories:
    """Return the trajectories of fixed placements, one per row, with their probabilities."""
    with torch.no_grad():
        return policy.rollout(batch_of(policy, problem), len(rows), Sampler(), rows[None])


def choosable_placements(policy: Constructive[Any, Any], problem: Problem) -> Ints:
    """Return every placement that a policy of one decoding order can choose."""
    encoded = policy.encode(problem)
    return np.unique(
        [policy.canonical(encoded, row, 0) for row in every_placement(problem)], axis=0
    )


def mixed_problems(name: str) -> list[Problem]:
    """Return problems of unequal sizes, largest first; the second and third are equally large.

    Device scorers get clusters of different sizes; the published networks place on three devices.
    """
    clusters = [cluster_of(3), cluster_of(3, "nic", seed=1), cluster_of(3, seed=2), cluster_of(3)]
    if name in SCORER_KINDS:
        clusters = [cluster_of(2, "nic"), cluster_of(5), cluster_of(8, seed=1), cluster_of(1)]
    large = [layered_problem(n, c, seed=n) for n, c in zip((15, 12, 12, 9), clusters, strict=True)]
    return [*large, fork_problem(clusters[1], 1)]


SMALL_CLUSTERS: dict[str, Cluster] = {
    "equal": cluster_of(3),
    "unequal": cluster_of(3, seed=4),
    "interfaces": cluster_of(3, "nic"),
}


def scorer_features(problem: Problem) -> list[np.ndarray]:
    """Return the features that a device scorer reads before it places anything."""
    one = features.encode(problem)
    return [one.operators, one.streams, one.totals]
