"""Rewards, returns and updates of HSDAG's training."""

from functools import partial

import numpy as np
import pytest
import torch

import streamplace as sp
from streamplace.learning.policy.trajectories import Trajectories
from tests.support.step_stages import advantages, algorithm_of, looped, parameters

looped = partial(looped, algorithm="hsdag")


def test_several_steps_of_the_optimiser_learn_from_the_same_episodes() -> None:
    """A step of Adam moves a parameter by about the rate, so that four move it further than one."""
    moved, evaluations = [], []
    for steps in (1, 4):
        loop = looped(epochs=1, optimiser_steps=steps, optimiser={"rate": 1e-3}, baseline="none")
        before = parameters(loop)
        (record,) = loop.steps()
        pairs = zip(before, parameters(loop), strict=True)
        moved.append(max(float((b - a).abs().max()) for a, b in pairs))
        evaluations.append(record["evaluations"])
    assert moved[0] == pytest.approx(1e-3, rel=0.01)
    assert 3e-3 < moved[1] < 4.1e-3
    assert evaluations[0] == evaluations[1]


def test_returns_of_the_episode_weight_all_steps_alike() -> None:
    """The last reward counts in full, and each one before it half as much as the next."""
    keys = {"returns": "episode", "baseline": "none", "discount": 0.5}
    (found,) = advantages(looped(**keys), [1.0, 2.0, 4.0])
    assert found == [5.25, 5.25, 5.25]


def test_returns_of_an_episode_end_with_its_problem() -> None:
    rewards = np.array([[[1.0, 2.0, 4.0]], [[1.0, 2.0, 0.0]]])
    algorithm = algorithm_of(looped(returns="episode", discount=0.5))
    found = algorithm.returns(rewards, np.array([3, 2]))
    assert found[:, 0, 0].tolist() == [5.25, 2.5]


def test_rewards_relative_to_the_start() -> None:
    """The episode starts at a loss of 4; its second step is beyond the last one."""
    made = Trajectories(
        actions=torch.zeros(1, 1, 2, 1, dtype=torch.int64),
        log_prob=torch.zeros(1, 1, 2, 1),
        entropy=torch.zeros(1, 1, 2, 1),
        mask=torch.tensor([[[True, False]]]),
        placements=np.zeros((1, 1, 1), np.int32),
        losses=np.array([[[4.0, 2.0, np.nan]]]),
    )
    for kind, reward in (("ratio", 2.0), ("above-start", np.log(2.0))):
        algorithm = algorithm_of(looped(step_reward=kind))
        assert algorithm.step_rewards(made)[0, 0].tolist() == pytest.approx([reward, 0.0])


def test_problems_without_work_have_rewards() -> None:
    graph = sp.StreamGraph([sp.Operator("a", 0.0, 0.0), sp.Operator("b", 0.0, 0.0)], [("a", "b")])
    problem = sp.Problem(graph, sp.Cluster.equal(3), objective=sp.Makespan())
    for kind in ("above-start", "ratio"):
        loop = looped(problem, step_reward=kind, restart="start")
        assert all(np.isfinite(float(record["reward"])) for record in loop.steps())
