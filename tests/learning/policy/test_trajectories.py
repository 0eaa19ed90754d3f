"""Trajectories: their steps agree with placements and probabilities."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.teachers import LeastUtilisation, Teacher
from streamplace.learning.policy.trajectories import Trajectories, summed_over_steps
from streamplace.learning.policy.walks import Recorded
from tests.support.policies import (
    batch_of,
    mixed_problems,
    of_every_kind,
    policy_of,
    seeded_generator,
)

SAMPLES = 3


def trajectories_of(name: str) -> Trajectories:
    """Return samples of problems of several sizes, with the agreement with a teacher."""
    policy = policy_of(name)
    batch = batch_of(policy, *mixed_problems(name))
    sampler = Sampler(seeded_generator())
    with torch.no_grad():
        return policy.rollout(batch, SAMPLES, sampler, teacher=Teacher(LeastUtilisation))


@of_every_kind
def test_every_operator_has_a_step(name: str) -> None:
    found = trajectories_of(name)
    sizes = [len(problem.graph.names) for problem in mixed_problems(name)]
    steps = torch.arange(max(sizes))
    for p, size in enumerate(sizes):
        assert (found.mask[p] == (steps < size)).all()
        assert (found.actions[p][~found.mask[p]] == -1).all()
        assert (found.placements[p, :, size:] == -1).all()


@of_every_kind
def test_actions_agree_with_placements(name: str) -> None:
    """Every operator is placed once, on the device of its step."""
    found = trajectories_of(name)
    for p, problem in enumerate(mixed_problems(name)):
        operators = range(len(problem.graph.names))
        for s in range(SAMPLES):
            actions = found.actions[p, s][found.mask[p, s]].tolist()
            assert sorted(operator for operator, _ in actions) == [*operators]
            on = dict(actions)
            assert [on[v] for v in operators] == found.placements[p, s, : len(operators)].tolist()


@of_every_kind
def test_trajectory_values_sum_over_steps(name: str) -> None:
    found = trajectories_of(name)
    torch.testing.assert_close(found.log_probability, found.log_prob.sum(dim=(2, 3)))
    mean = found.entropy.sum(dim=(2, 3)) / found.mask.sum(dim=2)
    torch.testing.assert_close(found.mean_entropy, mean)
    assert found.agreement is not None
    for values in (found.log_prob, found.entropy, found.agreement):
        assert values.shape == found.actions.shape
        assert (values[..., 0] == 0).all(), "the policy does not choose the operator"
        assert (values[~found.mask] == 0).all()
    assert (found.log_prob <= 0).all()
    assert (found.entropy >= 0).all()
    assert (found.log_prob < 0).any()


@of_every_kind
def test_evaluate_gives_the_same_probabilities(name: str) -> None:
    policy = policy_of(name)
    batch = batch_of(policy, *mixed_problems(name))
    found = policy.rollout(batch, SAMPLES, Sampler(seeded_generator()))
    again = policy.evaluate(batch, found)
    assert torch.equal(again.actions, found.actions)
    assert torch.equal(again.mask, found.mask)
    assert (again.placements == found.placements).all()
    torch.testing.assert_close(again.log_prob, found.log_prob)
    torch.testing.assert_close(again.entropy, found.entropy)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.mul_(0.5)
    changed = policy.evaluate(batch, found)
    assert torch.equal(changed.actions, found.actions)
    assert not torch.allclose(changed.log_probability, found.log_probability)


def test_samples_differ() -> None:
    """If all samples were equal, the tests above would prove little."""
    found = trajectories_of("device-scorer")
    assert len(np.unique(found.placements[0], axis=0)) == SAMPLES


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(1, 2), st.data())
def test_decisions_are_laid_out_by_problem_and_step(
    sizes: list[int], samples: int, data: st.DataObject
) -> None:
    """Decisions are ordered by step, over the rows that have an operator left."""
    sizes = sorted(sizes, reverse=True)
    problems, steps = len(sizes), sizes[0]
    counts = [samples * sum(size > t for size in sizes) for t in range(steps)]
    numbers = torch.arange(1.0, sum(counts) + 1)
    devices = data.draw(st.lists(st.integers(0, 3), min_size=sum(counts), max_size=sum(counts)))
    operators = np.arange(steps, dtype=np.int32)[:, None].repeat(problems * samples, axis=1)
    placements = np.full((problems, samples, steps), -1, dtype=np.int32)
    found = Trajectories.of_placements(
        placements, operators, counts, torch.tensor(devices), -numbers, numbers, None
    )
    assert found.agreement is None
    decision = iter(zip(devices, numbers.tolist(), strict=True))
    for t in range(steps):
        for p in range(problems):
            for s in range(samples):
                active = t < sizes[p]
                device, number = next(decision) if active else (-1, 0.0)
                assert found.mask[p, s, t].item() is active
                assert found.actions[p, s, t].tolist() == [t if active else -1, device]
                assert found.log_prob[p, s, t].tolist() == [0.0, -number]
                assert found.entropy[p, s, t].tolist() == [0.0, number]


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 5), st.integers(1, 2))
def test_sums_over_steps_add_in_the_order_of_steps(p: int, s: int, t: int, a: int) -> None:
    """The order of additions determines the last bits of a run."""
    values = torch.rand(p, s, t, a, generator=seeded_generator(p + s + t))
    expected = torch.zeros(p, s)
    for step in range(t):
        for part in range(a):
            expected = expected + values[:, :, step, part]
    assert torch.equal(summed_over_steps(values), expected)


def test_discounted_steps_weigh_less_the_more_steps_follow() -> None:
    """The first trajectory has three steps, the second two."""
    mask = torch.tensor([[[True, True, True], [True, True, False]]])
    log_prob = -torch.arange(12.0).view(1, 2, 3, 2) * mask.unsqueeze(3)
    made = Trajectories(
        actions=torch.zeros(1, 2, 3, 2, dtype=torch.long),
        log_prob=log_prob,
        entropy=torch.zeros(1, 2, 3, 2),
        mask=mask,
        placements=np.zeros((1, 2, 3), np.int32),
    )
    expected = [-(0.25 * 1 + 0.5 * 5 + 9), -(0.5 * 13 + 17)]
    assert made.discounted(0.5)[0].tolist() == pytest.approx(expected)
    assert torch.equal(made.discounted(1.0), made.log_probability)


def test_the_best_placement_of_a_walk_is_the_first_of_the_lowest_loss() -> None:
    losses = np.array([2.0, 1.0, 1.0, 3.0])
    walks = [
        Recorded(np.array([[0, 0], [1, 0], [2, 0], [3, 0]], np.int32), losses),
        Recorded(np.array([4], np.int32), losses),  # keeps only the best one
    ]
    zeros = torch.zeros(6, 1)
    found = Trajectories.of_walks(walks, 2, zeros, zeros, zeros)
    assert found.best is not None
    assert found.best.tolist() == [[[1, 0]], [[4, -1]]]
    assert found.placements.tolist() == [[[3, 0]], [[4, -1]]]
