"""Small GiPH policies and problems of makespans."""

from typing import Any

import numpy as np
import torch

import streamplace as sp
from streamplace.families import Recipe
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.papers.giph.features import encode
from streamplace.papers.giph.gp_net import gp_net
from streamplace.papers.giph.policy import Giph
from streamplace.papers.giph.sizes import GiphSizes
from streamplace.papers.giph.view import View, view_of
from streamplace.placers.registry import make_placer
from streamplace.problem.makespan import with_published_semantics
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Ints


def giph_problem(number: int = 0, preset: str = "giph-code:cases=several") -> sp.Problem:
    """Return one of the released test cases."""
    recipe = Recipe(preset, number + 1)
    graph, cluster = recipe.graph(number), recipe.cluster(number)
    graph, cluster = with_published_semantics(graph, cluster, "giph")
    return sp.Problem(graph, cluster, objective=sp.Makespan())


def giph(seed: int = 0, **sizes: Any) -> Giph:
    """Return a policy with random parameters, biases included."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        policy = Giph(GiphSizes(**sizes))
        with torch.no_grad():
            for parameter in policy.parameters():
                if parameter.dim() == 1:
                    parameter.normal_(0.0, 0.3)
    return policy


def random_start(problem: sp.Problem, seed: int = 0) -> Ints:
    """Return a random feasible placement, (V,)."""
    return make_placer("random")(problem, np.random.default_rng(seed)).devices


def walk(policy: Giph, problem: sp.Problem, *, seed: int | None = 0, steps: int) -> Trajectories:
    """Return a walk from a random placement; without a seed, a greedy one."""
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    start = random_start(problem)[None, None]
    batch = policy.batch([policy.encode(problem)])
    return policy.rollout(batch, start, [steps], Sampler(generator), [evaluator(problem)])


def costs_between(problem: sp.Problem, data: float, k: int, m: int) -> tuple[float, float, float]:
    """Return bandwidth in bits/s, delay and transfer time in seconds, from the cluster's links."""
    if k == m:
        return np.inf, 0.0, 0.0
    cluster = problem.cluster
    link = k * len(cluster.devices) + m
    mbps, delay = (float(cluster.link_column(n)[link]) for n in ("bandwidth_mbps", "latency_s"))
    return mbps * 1e6, delay, delay + data / (mbps * 1e6)


def random_view(number: int) -> View:
    """Return what the network reads of a random placement, with random potentials."""
    problem = giph_problem(number)
    one = encode(problem, GiphSizes())
    potential = np.random.default_rng(number).normal(size=len(one.pairs.operator))
    net = gp_net(one.pairs, random_start(problem, number))
    return view_of(one.pairs, net, potential, np.ones(len(potential), np.bool_))
