"""Random problems whose devices are in groups, with uplinks, group overrides and `apart_groups`."""

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.reference.random_problems import feasible_change, random_problem
from streamplace import Cluster, Constraints, Device, Network, Problem
from streamplace.problem.cluster import LinkOverride, Uplink
from streamplace.problem.objective import Model

GROUPS = ("a", "b", "c")
STREAM = 25  # separates these random numbers from those of `random_problem`


def grouped_problem(seed: int, model: Model = "bottleneck", max_placements: int = 10**6) -> Problem:
    """Return the `random_problem` of a seed with groups; some placement of it is feasible."""
    base = random_problem(seed, model, max_placements)
    return feasible_change(base, with_groups, (seed, STREAM))


def with_groups(problem: Problem, rng: np.random.Generator) -> Problem:
    """Return a problem whose devices are in random groups, some of them with uplinks."""
    cluster = grouped_cluster(problem.cluster, rng)
    return Problem(
        problem.graph,
        cluster,
        objective=problem.objective,
        constraints=_kept_apart(problem.constraints, problem.graph.names, rng),
    )


def grouped_cluster(cluster: Cluster, rng: np.random.Generator) -> Cluster:
    """Return a cluster whose devices are in random groups, some of them with uplinks."""
    chosen = rng.choice([*GROUPS, ""], size=len(cluster.devices)).tolist()
    devices = [replace(d, group=g or None) for d, g in zip(cluster.devices, chosen, strict=True)]
    groups = sorted({group for group in chosen if group})
    return Cluster(devices, _network(cluster.network, devices, groups, rng))


def _network(
    network: Network, devices: list[Device], groups: list[str], rng: np.random.Generator
) -> Network:
    def mbps() -> float | None:
        return None if rng.random() < 0.2 else float(rng.integers(2, 80))

    uplinks = [Uplink(group, mbps(), mbps()) for group in groups if rng.random() < 0.8]
    overrides = list(network.overrides)
    for _ in range(int(rng.choice([0, 0, 1, 2])) if groups else 0):
        override = _override(network, devices, groups, rng)
        if override.ends not in (other.ends for other in overrides):
            overrides.insert(int(rng.integers(len(overrides) + 1)), override)
    return replace(network, uplinks=tuple(uplinks), overrides=tuple(overrides))


def _override(
    network: Network, devices: list[Device], groups: list[str], rng: np.random.Generator
) -> LinkOverride:
    """Return an override of the links of a group, or between a group and a device."""
    values: dict[str, Any] = {
        "bandwidth_mbps": float(rng.integers(5, 100)) if rng.random() < 0.8 else None,
        "overhead_s": rng.choice([0.0, 2e-5]) if rng.random() < 0.3 else None,
        "gap_s": rng.choice([0.0, 2e-5]) if rng.random() < 0.3 else None,
    }
    group, other, device = (
        rng.choice(groups),
        rng.choice(groups),
        devices[int(rng.integers(len(devices)))].name,
    )
    kind = int(rng.integers(3)) if network.kind == "pair" else int(rng.integers(2))
    ends: dict[str, Any]
    if network.kind == "nic":
        ends = ({"source_group": group}, {"target_group": group})[kind]
    else:
        ends = (
            {"source_group": group, "target_group": other},
            {"source_group": group, "target": device},
            {"source": device, "target_group": group},
        )[kind]
    return LinkOverride(**ends, **values)


def _kept_apart(
    rules: Constraints, operators: tuple[str, ...], rng: np.random.Generator
) -> Constraints:
    """Return constraints that keep two or three operators in different groups, or the same ones."""
    if rng.random() < 0.6 or len(operators) < 2:
        return rules
    size = min(int(rng.integers(2, 4)), len(operators))
    apart = [str(name) for name in rng.choice(operators, size=size, replace=False)]
    return replace(rules, apart_groups=[apart])
