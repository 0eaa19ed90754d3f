"""Stacks of policies: every member computes and learns as it does alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from streamplace import Problem
from streamplace.learning.policy.config import DeviceScorerSizes
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.device_scorer.network import DeviceScorer, ScorerBatch
from streamplace.learning.policy.device_scorer.stacked import (
    MemberRows,
    Members,
    StackedScorer,
    stack_layers,
)
from streamplace.learning.policy.teachers import LeastUtilisation, Teacher
from tests.support.policies import cluster_of, layered_problem, seeded_generator

SAMPLES = 3
SIZES = DeviceScorerSizes(hidden=8, hops=2, orders=[0, 1])
MEMBERS = (2, 0, 3, 1)  # the member that places each problem


def scorers() -> list[DeviceScorer]:
    """Return four scorers with different weights."""
    with torch.random.fork_rng():
        torch.manual_seed(5)
        return [DeviceScorer(SIZES) for _ in MEMBERS]


def problems() -> list[Problem]:
    """Return problems, largest first, two of which have the same size."""
    clusters = [cluster_of(4), cluster_of(4, seed=1), cluster_of(4, "nic"), cluster_of(4, seed=2)]
    sizes = (14, 11, 11, 7)
    return [layered_problem(n, c, seed=n) for n, c in zip(sizes, clusters, strict=True)]


def stack_and_batch() -> tuple[StackedScorer, ScorerBatch, list[DeviceScorer]]:
    """Return a stack, a batch with a problem for each member, and the members themselves."""
    members = scorers()
    stack = StackedScorer(members)
    encoded = [
        replace(stack.encode(problem), member=k)
        for k, problem in zip(MEMBERS, problems(), strict=True)
    ]
    return stack, stack.batch(encoded), members


@pytest.mark.parametrize("with_teacher", [False, True])
def test_each_member_gives_the_probabilities_it_gives_alone(with_teacher: bool) -> None:
    stack, batch, members = stack_and_batch()
    teacher = Teacher(LeastUtilisation) if with_teacher else None
    with torch.no_grad():
        made = stack.rollout(batch, SAMPLES, Sampler(seeded_generator()), teacher=teacher)
        for p, one in enumerate(batch.encoded):
            policy = members[MEMBERS[p]]
            rows = made.placements[p : p + 1, :, : one.size]
            alone = policy.rollout(policy.batch([one]), SAMPLES, Sampler(), rows, teacher)
            torch.testing.assert_close(alone.log_probability[0], made.log_probability[p])
            torch.testing.assert_close(alone.mean_entropy[0], made.mean_entropy[p])
            if with_teacher:
                assert alone.agreement is not None
                assert made.agreement is not None
                torch.testing.assert_close(alone.agreement[0], made.agreement[p, :, : one.size])


def test_each_member_gets_the_gradient_it_gets_alone() -> None:
    stack, batch, members = stack_and_batch()
    made = stack.rollout(batch, SAMPLES, Sampler(seeded_generator()))
    made.log_probability.sum().backward()  # type: ignore[no-untyped-call]
    for p, one in enumerate(batch.encoded):
        policy = members[MEMBERS[p]]
        rows = made.placements[p : p + 1, :, : one.size]
        alone = policy.rollout(policy.batch([one]), SAMPLES, Sampler(), rows)
        alone.log_probability.sum().backward()  # type: ignore[no-untyped-call]
        together = dict(stack.named_parameters())
        for name, parameter in policy.named_parameters():
            gradient = together[name].grad
            assert gradient is not None
            assert parameter.grad is not None
            torch.testing.assert_close(
                gradient[MEMBERS[p]], parameter.grad, rtol=1e-3, atol=1e-5, msg=name
            )


def test_samples_are_those_of_the_members() -> None:
    stack, batch, members = stack_and_batch()
    together = stack.sample(batch, 1, Sampler())
    for p, one in enumerate(batch.encoded):
        policy = members[MEMBERS[p]]
        alone = policy.sample(policy.batch([one]), 1, Sampler())[0, 0]
        assert together[p, 0, : one.size].tolist() == alone.tolist()


def test_unstacked_returns_the_members() -> None:
    members = scorers()
    for before, after in zip(members, StackedScorer(members).unstacked(), strict=True):
        state = after.state_dict()
        assert all(torch.equal(x, state[name]) for name, x in before.state_dict().items())


@pytest.mark.parametrize("member", [[0, 0, 1], [1, 0, 1, 2, 2, 2], [0, 1, 2], [2, 1, 0]])
def test_rows_are_spread_and_collected(member: list[int]) -> None:
    """The rows of each member are adjacent, and return to their original positions."""
    rows = MemberRows(torch.tensor(member), 3)
    values = torch.arange(1.0, len(member) + 1).unsqueeze(1)
    padded = rows.spread(values).view(3, -1)
    for k in range(3):
        own = [float(v) for v, m in zip(values[:, 0], member, strict=True) if m == k]
        assert padded[k, : len(own)].tolist() == own
        assert (padded[k, len(own) :] == 0).all()
    assert torch.equal(rows.collect(padded.view(-1, 1)), values)


def test_a_layer_that_cannot_be_stacked_is_rejected() -> None:
    networks = [nn.Sequential(nn.LSTM(2, 3)) for _ in range(2)]
    with pytest.raises(TypeError, match="a layer of type LSTM cannot be stacked"):
        stack_layers(networks[0], networks, Members(2))


def test_samples_of_members_differ() -> None:
    """If members gave equal samples, the tests above would prove nothing."""
    stack, batch, _ = stack_and_batch()
    again = stack.batch([replace(one, member=0) for one in batch.encoded])
    with torch.no_grad():
        rows = stack.rollout(batch, SAMPLES, Sampler(seeded_generator())).placements
        own, others = (
            stack.rollout(b, SAMPLES, Sampler(), rows).log_probability for b in (batch, again)
        )
    assert not np.allclose(own[0], others[0], atol=1e-2)
