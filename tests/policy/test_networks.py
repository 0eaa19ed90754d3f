"""Policies as distributions over placements, alone and in a batch, with forced and free devices."""

import numpy as np
import pytest
import torch

from streamplace.policy.decoding import Sampler
from tests.support.placements import every_placement
from tests.support.policies import (
    BREAKING_SYMMETRY,
    ONE_ORDER_KINDS,
    PUBLISHED_KINDS,
    SCORER_KINDS,
    SCRIPTING,
    SMALL_CLUSTERS,
    assert_same_likelihood,
    batch_of,
    choosable_placements,
    cluster_of,
    fork_problem,
    greedy_placement,
    mixed_problems,
    of_every_kind,
    policy_of,
    rollout_of,
    seeded_generator,
)

pytestmark = pytest.mark.filterwarnings(SCRIPTING)


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
def test_likelihoods_do_not_depend_on_the_batch(name: str) -> None:
    """Placements sampled in a batch are equally likely when they are scored alone."""
    policy = policy_of(name)
    problems = mixed_problems(name)
    together = policy.rollout(batch_of(policy, *problems), 4, Sampler(seeded_generator()))
    for p, problem in enumerate(problems):
        rows = together.placements[p, :, : len(problem.graph.names)]
        alone = rollout_of(policy, problem, rows)
        assert (alone.placements[0] == rows).all()
        for column in ("log_probability", "mean_entropy"):
            assert_same_likelihood(getattr(alone, column)[0], getattr(together, column)[p])


@of_every_kind
def test_chosen_placements_are_equally_likely_when_forced(name: str) -> None:
    policy = policy_of(name)
    batch = batch_of(policy, *mixed_problems(name))
    chosen = policy.rollout(batch, 6, Sampler(seeded_generator()))
    assert len(np.unique(chosen.placements[0], axis=0)) > 1
    again = policy.rollout(batch, 6, Sampler(), chosen.placements)
    assert (again.placements == chosen.placements).all()
    for column in ("log_probability", "mean_entropy"):
        torch.testing.assert_close(getattr(again, column), getattr(chosen, column))
    assert (chosen.log_probability <= 0).all()
    assert (chosen.mean_entropy >= 0).all()


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


@pytest.mark.parametrize("cluster", SMALL_CLUSTERS)
@pytest.mark.parametrize("name", ONE_ORDER_KINDS)
def test_entropies_of_decisions_add_up_to_that_of_placements(name: str, cluster: str) -> None:
    """By the chain rule, the expected entropy of the decisions is the entropy of placements."""
    policy, problem = policy_of(name), fork_problem(SMALL_CLUSTERS[cluster])
    rows = choosable_placements(policy, problem)
    rollout = rollout_of(policy, problem, rows)
    logs = rollout.log_probability[0].double()
    entropy = -(logs.exp() * logs).sum()
    decisions = (logs.exp() * rollout.mean_entropy[0] * rows.shape[1]).sum()
    assert decisions.item() == pytest.approx(entropy.item(), rel=1e-4)
    assert entropy.item() > 0.1


@of_every_kind
def test_entropy_of_one_decision_by_hand(name: str) -> None:
    policy, problem = policy_of(name), fork_problem(cluster_of(3, seed=4), 1)
    rollout = rollout_of(policy, problem, np.arange(3, dtype=np.int32)[:, None])
    share = rollout.log_probability[0].double().exp().tolist()
    assert sum(share) == pytest.approx(1.0)
    by_hand = -sum(p * np.log(p) for p in share)
    assert rollout.mean_entropy[0].tolist() == pytest.approx([by_hand] * 3, rel=1e-4)


@pytest.mark.parametrize("name", ONE_ORDER_KINDS)
def test_frequencies_of_samples_match_their_probabilities(name: str) -> None:
    """Frequencies in 4,000 samples are within five standard deviations."""
    policy, problem = policy_of(name), fork_problem(cluster_of(3, seed=4), 2)
    rows = every_placement(problem)
    share = rollout_of(policy, problem, rows).log_probability[0].double().exp().numpy()
    drawn = policy.sample(batch_of(policy, problem), 4000, Sampler(seeded_generator()))[0]
    counts = np.array([(drawn == row).all(axis=1).sum() for row in rows])
    assert counts.sum() == 4000
    spread = np.sqrt(4000 * share * (1 - share))
    assert (np.abs(counts - 4000 * share) <= 5 * spread + 1).all()


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


@of_every_kind
def test_a_step_along_the_gradient_makes_a_placement_more_likely(name: str) -> None:
    """The log-probability rises by the amount that the gradient predicts."""
    policy, problem = policy_of(name), mixed_problems(name)[1]
    batch = batch_of(policy, problem)
    rows = policy.rollout(batch, 1, Sampler(seeded_generator())).placements
    before = policy.rollout(batch, 1, Sampler(), rows).log_probability
    before.sum().backward()  # type: ignore[no-untyped-call]
    uphill = [(p, p.grad) for p in policy.parameters() if p.grad is not None]
    length = float(sum(gradient.pow(2).sum() for _, gradient in uphill))
    step = 1e-2 / length  # to raise the log-probability by 0.01
    with torch.no_grad():
        for parameter, gradient in uphill:
            parameter.add_(step * gradient)
    after = policy.rollout(batch, 1, Sampler(), rows).log_probability
    assert (after - before).item() == pytest.approx(1e-2, rel=0.2)


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
