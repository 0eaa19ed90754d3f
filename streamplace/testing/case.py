"""The policy under test, and the problems that the checks use."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import torch

from streamplace.errors import UsageError
from streamplace.families import Recipe
from streamplace.learning.policy.base import AnyPolicy, Constructive, Refiner
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.registry import PolicySection, policy_section
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.learning.policy.weights import new_policy
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objectives import make_objective
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Evaluator
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Ints

OPERATORS = (12, 9, 9, 6)
SOURCE_RATE = 1e4
Scored: TypeAlias = Callable[[], torch.Tensor]


@dataclass(frozen=True)
class PolicyCase:
    """A policy under test: its kind and sizes, as in a config, and what it supports.

    Parameters
    ----------
    kind
        The name of a registered kind; see `learning.policy.registry`.
    sizes
        The sizes of the policy; small ones keep the checks fast.
    devices
        The number of devices of all problems, at least 2, for policies that require a fixed number.
    ordered_devices
        Whether the policy may depend on the order of devices in the cluster, as a network with one
        output per device does. Otherwise the order must not matter.
    repaired
        Whether the policy relies on the placer's repair for constraints. Otherwise its samples
        must respect pins and allowed devices themselves.
    scale
        A factor for the random parameters; with small parameters, all choices are about equally
        likely.
    seed
        The seed of the random parameters.
    objective
        The objective of all problems, as in a config: ``throughput``, or ``makespan`` for policies
        that place problems of makespans.

    Raises
    ------
    UsageError
        If there are fewer than 2 devices.
    """

    kind: str
    sizes: dict[str, Any] = field(default_factory=dict)
    devices: int = 3
    ordered_devices: bool = False
    repaired: bool = False
    scale: float = 2.0
    seed: int = 0
    objective: str = "throughput"

    def __post_init__(self) -> None:
        if self.devices <= 1:
            raise UsageError(
                f"PolicyCase: devices must be at least 2 (got {self.devices}); with one device, a "
                "policy has nothing to choose, and most checks could find no fault"
            )

    @cached_property
    def section(self) -> PolicySection:
        """The kind and sizes as a section of a config.

        Raises
        ------
        ValueError
            If the kind is not registered, or its sizes are invalid.
        """
        return policy_section({"kind": self.kind, "sizes": self.sizes})

    def policy(self) -> AnyPolicy:
        """Return the policy with random parameters, which are the same at every call."""
        policy = new_policy(self.section, self.seed)
        with torch.no_grad():
            for parameter in policy.parameters():
                parameter.mul_(self.scale)
        return policy.eval()

    def cluster(self, seed: int | None = None) -> Cluster:
        """Return devices on slow links: equal ones, or unequal ones drawn from a seed."""
        network = Network("pair", bandwidth_mbps=500.0, overhead_s=2e-6)
        if seed is None:
            return Cluster.equal(self.devices, network=network)
        speeds = np.random.default_rng(seed).uniform(1000.0, 4000.0, self.devices)
        return Cluster([Device(f"d{i}", mips) for i, mips in enumerate(speeds)], network)

    def problems(self) -> list[Problem]:
        """Return problems of several sizes, largest first, on equal and unequal devices."""
        seeds = (None, 1, 2, None)
        return [
            self.problem(graph_of(operators, number), self.cluster(seed))
            for number, (operators, seed) in enumerate(zip(OPERATORS, seeds, strict=True))
        ]

    def problem(self, graph: StreamGraph, cluster: Cluster) -> Problem:
        """Return a problem of the case's objective."""
        objective = make_objective(self.objective)
        if objective.needs_rate:
            objective = objective.with_changes(SOURCE_RATE)
        return Problem(graph, cluster, objective=objective)

    def require(self, condition: bool, check: str, fault: str) -> None:
        """Raise AssertionError unless a condition holds."""
        if not condition:
            raise AssertionError(f"{self.kind}: {check}: {fault}")


def graph_of(operators: int, seed: int) -> StreamGraph:
    """Return a generated graph with this number of operators."""
    return Recipe("layered", 1, range(operators, operators + 1), seed).graph(0)


def batch_of(policy: AnyPolicy, *problems: Problem) -> Any:
    """Return problems, largest first, as a batch of a policy."""
    return policy.batch([policy.encode(problem) for problem in problems])


def copies_of(policy: AnyPolicy, problem: Problem, count: int) -> Any:
    """Return copies of a problem as a batch of a policy."""
    return policy.batch([policy.encode(problem)] * count)


def rolled_out(
    policy: AnyPolicy,
    problems: Sequence[Problem],
    samples: int,
    sampler: Sampler,
    evaluators: Sequence[Evaluator] | None = None,
    forced: Ints | None = None,
    start_device: int = 0,
) -> Trajectories:
    """Return trajectories of problems, largest first.

    A policy that refines placements takes one episode from all operators on one device, with the
    forced actions, (P, S, T, A), if any.
    """
    batch = batch_of(policy, *problems)
    if not isinstance(policy, Refiner):
        return Constructive.of(policy).rollout(batch, samples, sampler)
    shape = (len(problems), samples, len(problems[0].graph.names))
    start = np.full(shape, start_device, dtype=np.int32)
    steps = [policy.episode(one) for one in batch.encoded]
    scored = [evaluator(one) for one in problems] if evaluators is None else evaluators
    return policy.rollout(batch, start, steps, sampler, scored, forced)


def scored_again(policy: AnyPolicy, problems: Sequence[Problem], samples: int) -> Scored:
    """Return a function that computes the log-probabilities, (P, S), of sampled trajectories."""
    batch = batch_of(policy, *problems)
    if isinstance(policy, Refiner):
        with torch.no_grad():
            made = rolled_out(policy, problems, samples, Sampler(generator()))
        return lambda: policy.evaluate(batch, made).log_probability
    builder = Constructive.of(policy)
    with torch.no_grad():
        made = builder.rollout(batch, samples, Sampler(generator()))
    return lambda: builder.evaluate(batch, made).log_probability


def force_trajectories(policy: AnyPolicy, made: Trajectories) -> Ints:
    """Return what makes a policy that builds placements repeat trajectories, as `forced`.

    These are actions, (P, S, T, 2), if it selects operators; otherwise placements, (P, S, V).
    """
    return made.actions.cpu().numpy() if Constructive.of(policy).selects else made.placements


def generator(seed: int = 0) -> torch.Generator:
    """Return a torch random generator."""
    return torch.Generator().manual_seed(seed)
