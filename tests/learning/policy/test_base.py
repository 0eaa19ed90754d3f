"""Policies that build placements: alone and in a batch, with forced and free devices.

What every policy has to satisfy is checked by tests/testing/test_builtin_policies.py.
"""

import numpy as np
import pytest
import torch

from streamplace.learning.policy.decoding import Sampler
from tests.support.placements import every_placement
from tests.support.policies import (
    BREAKING_SYMMETRY,
    ONE_ORDER_KINDS,
    PUBLISHED_KINDS,
    SCORER_KINDS,
    SMALL_CLUSTERS,
    assert_same_likelihood,
    batch_of,
    choosable_placements,
    fork_problem,
    greedy_placement,
    mixed_problems,
    of_every_kind,
    policy_of,
    rollout_of,
    seeded_generator,
)


@of_every_kind
def test_greedy_placements_do_not_depend_on_the_batch(name: str) -> None:
    policy = policy_of(name)
    problems = mixed_problems(name)
    together = policy.sample(batch_of(policy, *problems), 1, Sampler())[:, 0]
    used = set()
    for problem, row in zip(problems, together, strict=True):
        size = len(problem.graph.names)
        assert row[:size].tolist() == greedy_placement(policy, problem).tolist()
        assert (row[size:] == -1).all()
        used.add(len(set(row[:size].tolist())))
    assert max(used) > 1, "the test needs a network that uses several devices"


@of_every_kind
def test_some_rows_are_forced_and_others_free(name: str) -> None:
    """As in training, forced devices are kept, and free ones (-1) are chosen, here greedily."""
    policy = policy_of(name)
    batch = batch_of(policy, *mixed_problems(name))
    chosen = policy.rollout(batch, 4, Sampler(seeded_generator()))
    free = policy.rollout(batch, 4, Sampler())
    forced = chosen.placements.copy()
    forced[:, :2] = -1
    both = policy.rollout(batch, 4, Sampler(), forced)
    for rollout, rows in ((free, slice(2)), (chosen, slice(2, 4))):
        assert (both.placements[:, rows] == rollout.placements[:, rows]).all()
        now, before = both.log_probability[:, rows], rollout.log_probability[:, rows]
        assert_same_likelihood(now, before)


@of_every_kind
def test_a_partial_placement_is_completed(name: str) -> None:
    """If the first half of a greedy placement is forced, the network completes it greedily."""
    policy = policy_of(name)
    problem = mixed_problems(name)[0]
    row = greedy_placement(policy, problem)
    half = policy.encode(problem).orders[0][: len(row) // 2]
    forced = np.full((1, 1, len(row)), -1, dtype=np.int32)
    forced[0, 0, half] = row[half]
    made = policy.rollout(batch_of(policy, problem), 1, Sampler(), forced)
    assert made.placements[0, 0].tolist() == row.tolist()


@pytest.mark.parametrize("cluster", SMALL_CLUSTERS)
@pytest.mark.parametrize("name", ONE_ORDER_KINDS)
def test_probabilities_add_up_to_one(name: str, cluster: str) -> None:
    """Some networks offer only the first of several equal empty devices."""
    policy, problem = policy_of(name), fork_problem(SMALL_CLUSTERS[cluster])
    rows = choosable_placements(policy, problem)
    reduced = name in BREAKING_SYMMETRY and cluster != "unequal"
    assert len(rows) == (5 if reduced else 27)
    likelihood = rollout_of(policy, problem, rows).log_probability[0].double()
    assert likelihood.exp().sum().item() == pytest.approx(1.0, rel=1e-5)
    if reduced:
        first = policy.encode(problem).orders[0][0]
        others = np.array([row for row in every_placement(problem) if row[first] != 0])
        assert rollout_of(policy, problem, others).log_probability.max().item() < -1e8


@of_every_kind
def test_every_parameter_gets_a_finite_gradient(name: str) -> None:
    policy = policy_of(name).train()
    rollout = policy.rollout(
        batch_of(policy, *mixed_problems(name)), 4, Sampler(seeded_generator())
    )
    weight = torch.linspace(-1.0, 2.0, 4)
    loss = (rollout.log_probability * weight).sum() + rollout.mean_entropy.sum()
    loss.backward()  # type: ignore[no-untyped-call]
    for key, parameter in policy.named_parameters():
        assert parameter.grad is not None, key
        assert torch.isfinite(parameter.grad).all(), key
        if key != "score.bias":  # adds the same to every device
            assert parameter.grad.abs().max() > 1e-7, key


@pytest.mark.parametrize(
    "name",
    [
        *SCORER_KINDS,
        "b",
        *PUBLISHED_KINDS[1:],
    ],
)
def test_gradients_flow_after_sampling_from_the_same_batch(name: str) -> None:
    policy = policy_of(name)
    batch = batch_of(policy, *mixed_problems(name))
    policy.sample(batch, 1, Sampler())
    rollout = policy.rollout(batch, 2, Sampler(seeded_generator()))
    rollout.log_probability.sum().backward()  # type: ignore[no-untyped-call]
