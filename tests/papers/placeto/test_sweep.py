"""Tests of sweeps: the compiled loop, steps under other evaluators, and constraints."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

import streamplace as sp
from streamplace.learning.policy.decoding import Sampler
from streamplace.scoring.evaluator import Evaluator
from streamplace.scoring.registry import evaluator
from tests.support.refiners import batch_of, episode, pass_problem, placeto


@dataclass
class Wrapped:
    """An evaluator that is not known to be fast."""

    of: Evaluator

    def loss(self, devices):  # type: ignore[no-untyped-def]
        return self.of.loss(devices)

    def trace(self, devices):  # type: ignore[no-untyped-def]
        return self.of.trace(devices)


@pytest.mark.parametrize("seed", range(5))
def test_the_compiled_loop_equals_single_steps(seed: int) -> None:
    problem, policy = pass_problem(12, seed, "1x4000,2x1500"), placeto(seed)
    assert evaluator(problem).is_fast  # type: ignore[attr-defined]
    one = episode(policy, problem, seed=seed, samples=2, steps=30)
    other = episode(
        policy,
        problem,
        seed=seed,
        samples=2,
        steps=30,
        scored=Wrapped(evaluator(problem)),  # type: ignore[arg-type]
    )
    assert torch.equal(one.actions, other.actions)
    np.testing.assert_array_equal(one.losses, other.losses)
    np.testing.assert_array_equal(one.best, other.best)
    assert torch.equal(one.log_prob, other.log_prob)


def test_losses_are_those_of_the_engine() -> None:
    problem, policy = pass_problem(12), placeto()
    made = episode(policy, problem)
    scored, devices = evaluator(problem), np.zeros(12, np.int32)
    assert made.losses is not None
    expected = [scored.loss(devices)[0]]
    for operator, device in made.actions[0, 0].tolist():
        devices[operator] = device
        expected.append(scored.loss(devices)[0])
    np.testing.assert_array_equal(made.losses[0, 0], expected)
    assert len(set(expected)) > 3
    np.testing.assert_allclose(made.rewards[0, 0], -np.diff(np.log(expected)), rtol=1e-12)


def test_steps_respect_colocation_exlocation_and_memory() -> None:
    problem = pass_problem(8)
    names = problem.graph.names
    graph, _ = problem.graph.with_numbers(memory_bytes=np.full(8, 1e9))
    tight = [sp.Device(f"d{i}", 2500.0, memory_bytes=int(4e9)) for i in range(3)]
    rules = sp.Constraints(colocate=[names[:2]], exlocate=[[names[2], names[3]]])
    limited = sp.Problem(
        graph,
        sp.Cluster(tight, problem.cluster.network),
        constraints=rules,
        objective=problem.objective,
    )
    policy = placeto()
    start = np.array([0, 0, 0, 1, 1, 1, 2, 2], np.int32)
    assert limited.feasibility.violation(start) is None
    made = policy.rollout(
        batch_of(policy, limited),
        np.tile(start, (1, 6, 1)),
        [40],
        Sampler(torch.Generator().manual_seed(0), temperature=1e5),
        [evaluator(limited)],
    )
    for walk in made.record:  # type: ignore[attr-defined]
        assert len(np.unique(walk.devices, axis=0)) > 10
        for row in walk.devices:
            assert limited.feasibility.violation(row) is None


def test_greedy_episodes_take_the_most_likely_devices() -> None:
    made = episode(placeto(), pass_problem(), seed=None)
    logits = np.concatenate([walk.logits for walk in made.record])  # type: ignore[attr-defined]
    np.testing.assert_array_equal(made.actions[0, 0, :, 1].numpy(), logits.argmax(axis=1))


def test_noise_ahead_follows_the_sampler_of_single_steps() -> None:
    """Frequencies of noise drawn ahead match those of calls, with exploration and temperature."""
    logits = torch.tensor([1.0, 0.0, -2.0])
    draws = 20_000
    for settings in ({}, {"temperature": 3.0}, {"exploration": 0.5}, {"greedy": True}):
        sampler = Sampler(torch.Generator().manual_seed(1), **settings)
        called = sampler(logits.expand(draws, 3), 1)
        noise, explores = sampler.ahead(1, draws, 3)
        score = logits if sampler.greedy else logits / sampler.temperature + noise[0]
        score = torch.where(explores[0][:, None], noise[0], score.expand(draws, 3))
        one, other = (torch.bincount(x, minlength=3) / draws for x in (called, score.argmax(dim=1)))
        torch.testing.assert_close(one, other, atol=0.02, rtol=0.0)
