"""The check that a policy's placements have probabilities that add up to 1."""

from itertools import product

import numpy as np
import torch

from streamplace.policy.base import AnyPolicy
from streamplace.policy.decoding import Sampler
from streamplace.problem.problem import Problem
from streamplace.testing.case import SOURCE_RATE, PolicyCase, batch_of, graph_of
from streamplace.util.arrays import Ints

OPERATORS = 4
TOLERANCE = 1e-3


def check_probabilities(case: PolicyCase) -> None:
    """Check the sum over all placements, on equal and on unequal devices.

    Only the first decoding order counts, where samples take several in turn.
    """
    policy = case.policy()
    for seed in (None, 1):
        problem = Problem(graph_of(OPERATORS, 0), case.cluster(seed), source_rate=SOURCE_RATE)
        rows = placements_of(policy, problem)
        with torch.no_grad():
            logs = [
                policy.rollout(batch_of(policy, problem), 1, Sampler(), row[None, None])
                for row in rows
            ]
        total = sum(float(made.log_probability.double().exp()) for made in logs)
        fault = f"the probabilities of all {len(rows)} placements add up to {total:.6f}"
        case.require(abs(total - 1.0) <= TOLERANCE, "probabilities", fault)


def placements_of(policy: AnyPolicy, problem: Problem) -> Ints:
    """Return the placements, (N, V), that a policy may make of a small problem."""
    encoded = policy.encode(problem)
    operators, devices = len(problem.graph.names), len(problem.cluster.devices)
    every = np.array(list(product(range(devices), repeat=operators)), dtype=np.int32)
    return np.unique([policy.canonical(encoded, row, 0) for row in every], axis=0)
