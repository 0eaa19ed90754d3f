"""Gradients of the algorithms beside Monte-Carlo estimates of the policy gradient.

With the mean of a step as baseline, and without bonus, penalty, memory and factor, the gradient of
a step is an estimate of the gradient of the expected reward at what the policy sampled.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.reference.trainings import POLICIES
from streamplace import Cluster, Problem
from streamplace.learning.policy.base import AnyPolicy, constructive, refiner
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.registry import make_policy, policy_section
from streamplace.learning.training.algorithms.base import Step
from streamplace.scoring.registry import evaluator
from streamplace.scoring.throughput import throughput
from streamplace.util.arrays import Floats
from tests.support.graphs import preset_graph
from tests.support.stages import loop_of

SAMPLES = 64  # of each step
STEPS = 64  # of the algorithm, and of the estimate
LEAST_COSINE = 0.95
OWN = {"algorithm": "reinforce", "epochs": 1, "samples": SAMPLES}
OWN |= {"memory": {"size": 0, "samples": 0}}
REPLAY = {"algorithm": "reinforce-replay", "epochs": 1, "samples": SAMPLES}
REPLAY |= {"random_samples": 0, "replayed": 1, "raise_by": 1.0}
CONSTRUCTIVE: Mapping[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "paper": ("encoder-decoder", {"unit_length": True, "breaks_symmetry": True}, OWN),
    "paper-as-printed": ("encoder-decoder", {}, OWN),
    "released": ("encoder-decoder-released", {"breaks_symmetry": True}, REPLAY),
    "released, all devices offered": ("encoder-decoder-released", {}, REPLAY),
    "doppler": ("doppler", {}, OWN),
    "rnn": ("rnn", {}, OWN),
    "device-scorer": ("device-scorer", {}, OWN),
}
REFINING = [pytest.param("giph", 48, marks=pytest.mark.long), ("placeto", 16), ("hsdag", 16)]
"""Policies that refine, and steps, fewer than `STEPS` since each takes longer."""
FACTORS = {"rnn": 6.0, "placeto": 1.2}
"""Factors of random parameters; without one, the gradient of the network is lost in the noise."""


def small(kind: str, sizes: dict[str, Any]) -> AnyPolicy:
    """Return a tiny network with random parameters."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        policy = make_policy(policy_section({"kind": kind, "sizes": POLICIES[kind] | sizes}))
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.mul_(FACTORS.get(kind, 1.0))
    return policy


def overloaded(operators: int = 12) -> Problem:
    """Return a problem on three equal devices, which are overloaded."""
    graph = preset_graph("series-parallel", operators)
    return Problem(graph, Cluster.parse("3x2500"), source_rate=1e6)


def cosine(a: Floats, b: Floats) -> float:
    """Return the cosine of the angle between two vectors."""
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def taken(policy: AnyPolicy, loss: torch.Tensor) -> Floats:
    """Return the gradient of a loss with respect to all parameters, as one vector."""
    grads = torch.autograd.grad(loss, list(policy.parameters()), allow_unused=True)
    return np.concatenate(
        [
            np.zeros(p.numel()) if g is None else g.double().numpy().ravel()
            for g, p in zip(grads, policy.parameters(), strict=True)
        ]
    )


def learnt(policy: AnyPolicy, problem: Problem, stage: dict[str, Any], steps: int) -> Floats:
    """Return the mean gradient of the first steps of an algorithm, each from its beginning."""
    total: Floats | float = 0.0
    for seed in range(steps):
        loop = loop_of([stage | {"problems_per_step": 1}], policy, [problem])
        loop.begin()
        assert loop.algorithm is not None
        loss = loop.algorithm.loss(Step(np.array([0]), [1, seed], 0, 0.0), {})
        assert loss is not None
        total = total + taken(policy, loss)
    return np.asarray(total) / steps


@pytest.mark.parametrize("name", CONSTRUCTIVE)
def test_what_is_sampled_is_what_is_learnt_from(name: str) -> None:
    """The placements of a step are sampled, and so are those of the estimate, independently."""
    kind, sizes, stage = CONSTRUCTIVE[name]
    policy, problem = constructive(small(kind, sizes)), overloaded()
    found = learnt(policy, problem, stage, STEPS)
    batch = policy.batch([policy.encode(problem)])
    total: Floats | float = 0.0
    for seed in range(STEPS):
        made = policy.rollout(batch, SAMPLES, Sampler.seeded(seed))
        reward = throughput(problem, made.placements[0]) / problem.source_rate
        weight = torch.from_numpy(reward - reward.mean()).float()
        total = total - taken(policy, (weight * made.log_probability[0]).mean())
    assert cosine(found, np.asarray(total)) >= LEAST_COSINE


@pytest.mark.parametrize(("kind", "count"), REFINING)
def test_policies_that_refine_learn_from_what_they_sampled(kind: str, count: int) -> None:
    policy, problem = refiner(small(kind, {})), overloaded(6)
    stage = {"algorithm": "reinforce-steps", "epochs": 1, "samples": SAMPLES, "start": "single"}
    stage |= {"baseline": "samples", "restart": "start", "entropy": 0.0, "evaluate_every": 0}
    found = learnt(policy, problem, stage, count)
    encoded = policy.encode(problem)
    batch, start = policy.batch([encoded]), np.zeros((1, SAMPLES, 6), dtype=np.int32)
    steps, scored = [policy.episode(encoded)], [evaluator(problem)]
    total: Floats | float = 0.0
    for seed in range(count):
        made = policy.rollout(batch, start, steps, Sampler.seeded(seed), scored)
        assert made.losses is not None
        falls = np.log(made.losses[0, :, :-1]) - np.log(made.losses[0, :, -1:])  # rewards to go
        weight = torch.from_numpy(falls - falls.mean(axis=0)).float()
        total = total - taken(policy, (weight * made.log_prob[0].sum(dim=2)).sum(dim=1).mean())
    assert cosine(found, np.asarray(total)) >= LEAST_COSINE
