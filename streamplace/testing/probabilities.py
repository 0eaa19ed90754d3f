"""Checks that probabilities of placements add up to 1, and that entropies agree with them."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import torch

from streamplace.policy.base import Constructive, constructive
from streamplace.policy.decoding import Sampler
from streamplace.policy.trajectories import Trajectories, summed_over_steps
from streamplace.problem.problem import Problem
from streamplace.testing.case import SOURCE_RATE, PolicyCase, copies_of, graph_of
from streamplace.util.arrays import Ints

OPERATORS = 4
TOLERANCE = 1e-3


def check_probabilities(case: PolicyCase) -> None:
    """Check that the probabilities of all placements add up to 1, on equal and unequal devices.

    Only the first decoding order is checked if samples cycle through several.
    """
    policy = constructive(case.policy())
    for problem in small_problems(case):
        rows = placements_of(policy, problem)
        scored = scored_placements(policy, problem, rows)
        total = float(scored.log_probability.double().exp().sum())
        fault = f"the probabilities of all {len(rows)} placements add up to {total:.6f}, not 1"
        case.require(abs(total - 1.0) <= TOLERANCE, "probabilities", fault)


def check_entropy(case: PolicyCase) -> None:
    """Check that the entropies of steps add up to the entropy of placements.

    By the chain rule, the entropy of a distribution over placements is the expectation, over
    placements, of the sum of their step entropies. Only the first decoding order is checked.
    """
    policy = constructive(case.policy())
    for problem in small_problems(case):
        scored = scored_placements(policy, problem, placements_of(policy, problem))
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
        yield Problem(graph_of(OPERATORS, 0), case.cluster(seed), source_rate=SOURCE_RATE)


def placements_of(policy: Constructive[Any, Any], problem: Problem) -> Ints:
    """Return all placements, (N, V), of a small problem that a policy can make."""
    encoded = policy.encode(problem)
    operators, devices = len(problem.graph.names), len(problem.cluster.devices)
    every = np.array(list(product(range(devices), repeat=operators)), dtype=np.int32)
    return np.unique([policy.canonical(encoded, row, 0) for row in every], axis=0)


def scored_placements(policy: Constructive[Any, Any], problem: Problem, rows: Ints) -> Trajectories:
    """Return the trajectories, (N, 1, …), of placements, (N, V), in the first decoding order."""
    batch = copies_of(policy, problem, len(rows))
    with torch.no_grad():
        return policy.rollout(batch, 1, Sampler(), rows[:, None])
