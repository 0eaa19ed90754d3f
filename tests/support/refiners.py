"""Small Placeto policies and problems of makespans."""

from typing import Any

import numpy as np
import torch

import streamplace as sp
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.papers.placeto.features import PlacetoBatch
from streamplace.papers.placeto.policy import Placeto
from streamplace.papers.placeto.sizes import PlacetoSizes
from streamplace.problem.makespan import with_published_semantics
from streamplace.scoring.evaluator import Evaluator
from streamplace.scoring.registry import evaluator
from tests.support.graphs import preset_graph


def pass_problem(operators: int = 9, seed: int = 0, devices: str = "3x2500") -> sp.Problem:
    """Return a layered graph under the published semantics, which the fast engine serves."""
    graph = preset_graph("layered", operators, seed)
    graph, cluster = with_published_semantics(graph, sp.Cluster.parse(devices), "placeto")
    return sp.Problem(graph, cluster, objective=sp.Makespan(batch=100))


def placeto(seed: int = 0, **sizes: Any) -> Placeto:
    """Return a policy with random parameters, biases included."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        policy = Placeto(PlacetoSizes(**{"devices": 3, **sizes}))
        with torch.no_grad():
            for name, parameter in policy.named_parameters():
                if name.endswith("bias"):
                    parameter.normal_(0.0, 0.3)
    return policy


def batch_of(policy: Placeto, *problems: sp.Problem) -> PlacetoBatch:
    """Return problems, largest first, as a batch."""
    return policy.batch([policy.encode(problem) for problem in problems])


def episode(
    policy: Placeto,
    problem: sp.Problem,
    *,
    seed: int | None = 0,
    steps: int | None = None,
    samples: int = 1,
    scored: Evaluator | None = None,
) -> Trajectories:
    """Return an episode from all operators on the first device; without a seed, a greedy one."""
    operators = len(problem.graph.names)
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    return policy.rollout(
        batch_of(policy, problem),
        np.zeros((1, samples, operators), np.int32),
        [operators if steps is None else steps],
        Sampler(generator),
        [evaluator(problem) if scored is None else scored],
    )
