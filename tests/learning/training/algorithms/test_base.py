"""Algorithms: memories merged over processes, and gradients beside Monte-Carlo estimates.

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
from streamplace.learning.policy.base import AnyPolicy, Constructive, Refiner
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.registry import make_policy, policy_section
from streamplace.learning.training.algorithms.base import Step
from streamplace.learning.training.algorithms.reinforce import Reinforce
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.elite_buffer import EliteBuffer
from streamplace.learning.training.learner import Learner, Optimiser
from streamplace.learning.training.problems import encoded_by
from streamplace.learning.training.stages import OptimiserSection, ReinforceStage
from streamplace.scoring.registry import evaluator
from streamplace.scoring.throughput import throughput
from streamplace.util.arrays import Floats
from tests.support.graphs import preset_graph
from tests.support.stages import loop_of, reinforce, small_policy, small_problems, stages_of

NOTHING: tuple[list[Any], np.ndarray] = ([], np.full(6, -np.inf))  # from an empty memory
PARTS: tuple[list[int], ...] = ([0, 2, 4], [1, 3, 5])
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


class Together(Workers):
    """One of two processes, which receives the value that the other gathered last."""

    def __init__(self, rank: int, values: list[Any]) -> None:
        super().__init__(rank, count=2)
        self._values = values

    def gathered(self, value: Any) -> list[Any]:
        """Return the values of both processes."""
        self._values[self.rank] = value
        return self._values


def process(rank: int, values: list[Any]) -> Reinforce:
    """Return the algorithm of one process."""
    policy = small_policy()
    encoded = encoded_by(policy, small_problems())
    own = np.array(PARTS[rank], dtype=np.int32)
    learner = Learner(policy, encoded, own, 0, Together(rank, values))
    (stage,) = stages_of(reinforce())
    assert isinstance(stage, ReinforceStage)
    return Reinforce(stage, learner, Optimiser(policy, OptimiserSection(), (0, 1)))


def add_placement(memory: EliteBuffer, number: int, reward: float, device: int) -> None:
    """Add a placement of everything on one device."""
    size = len(small_problems()[number].graph.names)
    memory.add(number, np.array([reward]), np.full((1, size), device, dtype=np.int32))


def entries_of(memory: EliteBuffer) -> list[tuple[int, float, int]]:
    """Return the stored entries: problem, reward and the first operator's device."""
    return [(number, reward, int(row[0])) for number, reward, row in memory.entries()]


def test_each_process_contributes_its_own_problems() -> None:
    """Entries of other processes' problems come from an older checkpoint and are ignored."""
    values: list[Any] = [NOTHING, NOTHING]
    both = [process(rank, values) for rank in range(2)]
    add_placement(both[0].memory, 0, 0.5, 0)
    add_placement(both[0].memory, 0, 0.75, 1)
    add_placement(both[0].memory, 1, 0.25, 0)  # not its own
    add_placement(both[1].memory, 1, 0.5, 2)
    add_placement(both[1].memory, 5, 1.0, 1)
    both[1].merge()  # so that the first process receives its value
    state = both[0].merge()
    assert entries_of(both[0].memory) == [(0, 0.75, 1), (0, 0.5, 0), (1, 0.25, 0)]
    for algorithm in both:
        algorithm.restore(state)
    expected = [(0, 0.75, 1), (0, 0.5, 0), (1, 0.5, 2), (5, 1.0, 1)]
    assert [entries_of(one.memory) for one in both] == [expected, expected]
    best = [0.75, 0.5, -np.inf, -np.inf, -np.inf, 1.0]
    assert both[0].memory.best.tolist() == both[1].memory.best.tolist() == best


def test_merging_with_an_empty_memory_changes_nothing() -> None:
    values: list[Any] = [NOTHING, NOTHING]
    one = process(1, values)
    add_placement(one.memory, 3, 0.5, 1)
    merged, own = one.merge(), one.state()
    assert merged.keys() == own.keys()
    assert all(bool((merged[name] == own[name]).all()) for name in own)


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
    policy, problem = Constructive.of(small(kind, sizes)), overloaded()
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
    policy, problem = Refiner.of(small(kind, {})), overloaded(6)
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
