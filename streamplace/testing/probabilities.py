"""Checks that probabilities of placements add up to 1, and that entropies agree with them."""

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import numpy as np
import torch

from streamplace.policy.base import Constructive, constructive
from streamplace.policy.decoding import Sampler
from streamplace.policy.trajectories import Trajectories, summed_over_steps
from streamplace.problem.problem import Problem
from streamplace.testing.case import PolicyCase, copies_of, graph_of
from streamplace.util.arrays import Ints

OPERATORS = 4
TOLERANCE = 1e-3


def check_probabilities(case: PolicyCase) -> None:
    """Check that the probabilities of all placements add up to 1, on equal and unequal devices.

    Only the first decoding order is checked if samples cycle through several. If the policy selects
    operators, every order of them counts.
    """
    policy = constructive(case.policy())
    for problem in small_problems(case):
        rows = choices_of(policy, problem)
        scored = scored_choices(policy, problem, rows)
        total = float(scored.log_probability.double().exp().sum())
        what = "sequences of actions" if policy.selects else "placements"
        fault = f"the probabilities of all {len(rows)} {what} add up to {total:.6f}, not 1"
        case.require(abs(total - 1.0) <= TOLERANCE, "probabilities", fault)


def check_entropy(case: PolicyCase) -> None:
    """Check that the entropies of steps add up to the entropy of placements.

    By the chain rule, the entropy of a distribution over placements, or over sequences of actions,
    is the expectation of the sum of their step entropies. Only the first decoding order is checked.
    """
    policy = constructive(case.policy())
    for problem in small_problems(case):
        scored = scored_choices(policy, problem, choices_of(policy, problem))
        probability = scored.log_probability.double().exp()
        total = float(torch.special.entr(probability).sum())
        steps = float((probability * summed_over_steps(scored.entropy)).sum())
        fault = (
            f"the entropies of steps add up to {steps:.4f} nats on average, but the placements "
            f"have {total:.4f} nats"
        )
        case.require(abs(steps - total) <= TOLERANCE * max(1.0, total), "entropy", fault)


def small_problems(case: PolicyCase) -> Iterator[Problem]:
    """Yield problems with few placements, on equal and unequal devices."""
    for seed in (None, 1):
        yield case.problem(graph_of(OPERATORS, 0), case.cluster(seed))


def choices_of(policy: Constructive[Any, Any], problem: Problem) -> Ints:
    """Return all that a policy can make of a small problem, as `forced` of its rollouts.

    These are placements, (N, V), or sequences of actions, (N, V, 2), if it selects operators. Their
    devices are -1 if it does not choose devices.
    """
    encoded = policy.encode(problem)
    operators, devices = len(problem.graph.names), len(problem.cluster.devices)
    every = np.array(list(product(range(devices), repeat=operators)), dtype=np.int32)
    if not policy.selects:
        return np.unique([policy.canonical(encoded, row, 0) for row in every], axis=0)
    if not policy.places:
        every = np.full((1, operators), -1, np.int32)
    sequences = [
        np.stack([np.broadcast_to(order, every.shape), every[:, order]], axis=2)
        for order in _orders(problem)
    ]
    return np.concatenate(sequences).astype(np.int32)


def _orders(problem: Problem) -> Iterator[Ints]:
    """Yield every order, (V,), in which no operator comes before one of its inputs."""
    graph = problem.graph
    for order in permutations(range(len(graph.names))):
        position = np.argsort(order)
        if (position[graph.stream_source] < position[graph.stream_target]).all():
            yield np.array(order, np.int32)


def scored_choices(policy: Constructive[Any, Any], problem: Problem, rows: Ints) -> Trajectories:
    """Return the trajectories, (N, 1, …), of `choices_of`, in the first decoding order."""
    batch = copies_of(policy, problem, len(rows))
    with torch.no_grad():
        return policy.rollout(batch, 1, Sampler(), rows[:, None])
