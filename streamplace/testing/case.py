"""The policy under test, and the problems that checks place with it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch

from streamplace.generate import Recipe
from streamplace.policy.base import AnyPolicy
from streamplace.policy.encoded import Batch
from streamplace.policy.registry import PolicySection, make_policy, policy_section
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph import StreamGraph
from streamplace.problem.problem import Problem

OPERATORS = (12, 9, 9, 6)
SOURCE_RATE = 1e4


@dataclass(frozen=True)
class PolicyCase:
    """A kind of policy with sizes, as a config names them.

    Parameters
    ----------
    kind
        The name of a registered kind; see `policy.registry`.
    sizes
        Small ones keep the checks quick.
    devices
        The number of devices of the problems, for policies with a fixed number.
    ordered_devices
        Whether the policy may tell devices apart by their position in the cluster, as one with an
        output for each device does. Otherwise listing them in another order must change nothing.
    repaired
        Whether the policy leaves constraints to the placer's repair. Otherwise its samples must
        keep to pins and allowed devices by themselves.
    scale
        A factor for the random parameters: small ones leave decisions near chance.
    seed
        The seed of the parameters.
    """

    kind: str
    sizes: dict[str, Any] = field(default_factory=dict)
    devices: int = 3
    ordered_devices: bool = False
    repaired: bool = False
    scale: float = 2.0
    seed: int = 0

    @cached_property
    def section(self) -> PolicySection:
        """The policy's section of a config.

        Raises
        ------
        ValueError
            If the kind is not registered, or its sizes are refused.
        """
        return policy_section({"kind": self.kind, "sizes": self.sizes})

    def policy(self) -> AnyPolicy:
        """Return the policy with random parameters, the same at every call."""
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            policy = make_policy(self.section)
        with torch.no_grad():
            for parameter in policy.parameters():
                parameter.mul_(self.scale)
        return policy.eval()

    def cluster(self, seed: int | None = None) -> Cluster:
        """Return equal devices on slow links, or unequal ones by a seed."""
        network = Network("pair", bandwidth_mbps=500.0, overhead_s=2e-6)
        if seed is None:
            return Cluster.equal(self.devices, network=network)
        speeds = np.random.default_rng(seed).uniform(1000.0, 4000.0, self.devices)
        return Cluster([Device(f"d{i}", mips) for i, mips in enumerate(speeds)], network)

    def problems(self) -> list[Problem]:
        """Return problems of different sizes, largest first, on equal and unequal devices."""
        seeds = (None, 1, 2, None)
        return [
            Problem(graph_of(operators, number), self.cluster(seed), source_rate=SOURCE_RATE)
            for number, (operators, seed) in enumerate(zip(OPERATORS, seeds, strict=True))
        ]

    def require(self, condition: bool, check: str, fault: str) -> None:
        """Raise AssertionError unless a condition holds."""
        if not condition:
            raise AssertionError(f"{self.kind}: {check}: {fault}")


def graph_of(operators: int, seed: int) -> StreamGraph:
    """Return a generated graph."""
    return Recipe("layered", 1, range(operators, operators + 1), seed).graph(0)


def batch_of(policy: AnyPolicy, *problems: Problem) -> Batch:
    """Return problems, largest first, as a batch of a policy."""
    batch: Batch = policy.batch([policy.encode(problem) for problem in problems])
    return batch


def copies_of(policy: AnyPolicy, problem: Problem, count: int) -> Batch:
    """Return the same problem several times as a batch of a policy."""
    batch: Batch = policy.batch([policy.encode(problem)] * count)
    return batch


def generator(seed: int = 0) -> torch.Generator:
    """Return a random generator of torch."""
    return torch.Generator().manual_seed(seed)
