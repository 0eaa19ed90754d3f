"""The device scorer: its invariances and its beam search."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from streamplace import Constraints, Operator, Problem, Stream, StreamGraph
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.device_scorer.features import encode
from streamplace.learning.policy.device_scorer.network import DecodingState
from streamplace.problem.objective import Model
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.util.arrays import Ints
from tests.support.policies import (
    SMALL_CLUSTERS,
    assert_same_likelihood,
    batch_of,
    choosable_placements,
    cluster_of,
    fork_problem,
    greedy_placement,
    layered_problem,
    mixed_problems,
    of_scorers,
    policy_of,
    rollout_of,
    scorer_features,
    seeded_generator,
)
from tests.support.strategies import closed_form_problems, constrained_problems


@of_scorers
def test_scoring_in_one_pass_agrees_with_scoring_step_by_step(name: str) -> None:
    """The log-probabilities of the steps add up to that of the rollout."""
    policy: Any = policy_of(name)
    batch = batch_of(policy, *mixed_problems(name))
    chosen = policy.rollout(batch, 4, Sampler(seeded_generator()))
    total = torch.zeros(len(batch) * 4)
    with torch.no_grad():
        state = DecodingState(policy, batch, 4, policy.embed(batch))
        for t in range(state.steps):
            logs = torch.log_softmax(state.score(t, *state.buffers(t)), dim=1)
            taken = state.of_step(t, chosen.placements)
            total[: len(taken)] += logs.gather(1, taken.unsqueeze(1)).squeeze(1)
            state.take(t, taken)
    assert (state.placements == chosen.placements).all()
    assert_same_likelihood(total.reshape(-1, 4), chosen.log_probability)


@of_scorers
@pytest.mark.parametrize("factor", [0.01, 0.3, 40.0])
def test_under_bottleneck_placements_do_not_depend_on_the_source_rate(
    name: str, factor: float
) -> None:
    """Under bottleneck, only the ratios of loads matter."""
    policy = policy_of(name)
    for problem in (
        layered_problem(12, cluster_of(4, seed=1)),
        layered_problem(14, cluster_of(3, "nic"), seed=2),
    ):
        rate = problem.source_rate * factor
        faster = Problem(problem.graph, problem.cluster, source_rate=rate)
        for one, other in zip(scorer_features(problem), scorer_features(faster), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        assert (
            greedy_placement(policy, faster).tolist() == greedy_placement(policy, problem).tolist()
        )
        rows = policy.sample(batch_of(policy, problem), 5, Sampler(seeded_generator()))[0]
        before, after = (rollout_of(policy, p, rows).log_probability for p in (problem, faster))
        assert_same_likelihood(after, before)


@settings(max_examples=30)
@given(closed_form_problems)
def test_a_scorer_places_any_problem(problem: Problem) -> None:
    """Chosen devices are far more likely than forbidden ones."""
    policy = policy_of("device-scorer, two orders")
    rollout = policy.rollout(batch_of(policy, problem), 3, Sampler(seeded_generator()))
    assert ((rollout.placements >= 0) & (rollout.placements < len(problem.cluster.devices))).all()
    assert (rollout.log_probability > -1e4).all()


@settings(max_examples=30)
@given(constrained_problems())
def test_a_scorer_chooses_only_allowed_devices(problem: Problem | None) -> None:
    if problem is None:
        return
    policy = policy_of("device-scorer")
    rows = policy.sample(batch_of(policy, problem), 4, Sampler(seeded_generator()))[0]
    feasibility = problem.feasibility
    assert feasibility.allowed[feasibility.unit_of[None, :], rows].all()


@pytest.mark.parametrize(
    "names",
    [
        "ab",
        "ba",
    ],
)
def test_a_scorer_respects_colocation(names: str) -> None:
    """The file may list a and b in either order."""
    rows = [Operator(name, 1e6, 100.0) for name in names]
    together = Constraints(colocate=[["a", "b"]])
    graph = StreamGraph(rows, [Stream("a", "b")], source_rate=1000.0, constraints=together)
    problem = Problem(graph, cluster_of(3, seed=1))
    policy = policy_of("device-scorer")
    placed = policy.sample(batch_of(policy, problem), 32, Sampler(seeded_generator()))[0]
    assert len(np.unique(placed[:, 0])) > 1
    assert (placed[:, 0] == placed[:, 1]).all()


def rewritten(problem: Problem, order: Ints, prefix: str = "") -> Problem:
    """Return the problem with its operators reordered and renamed."""
    graph = problem.graph
    rows = [graph.operators[int(v)] for v in order]
    shares = dict(zip(graph.names, graph.source_share.tolist(), strict=True))
    other = StreamGraph(
        [Operator(prefix + o.name, o.instructions, o.payload_bytes) for o in rows],
        [
            Stream(prefix + s.source, prefix + s.target, s.selectivity, s.payload_bytes)
            for s in reversed(graph.streams)
        ],
        source_shares={prefix + o.name: shares[o.name] for o in rows if shares[o.name]},
    )
    return Problem(other, problem.cluster, source_rate=problem.source_rate, model=problem.model)


def levels_last_first(problem: Problem) -> Ints:
    """Return the operators with the deepest level first; each level keeps its order."""
    order = encode(problem).orders[0]
    deep = encode(problem).operators[order, 7]  # depth relative to the deepest operator
    levels: Ints = order[np.argsort(-deep, kind="stable")]
    return levels


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_placements_do_not_depend_on_names_or_the_order_of_levels(model: Model, seed: int) -> None:
    """The order of operators matters only within a level."""
    policy = policy_of("device-scorer")
    for cluster in (cluster_of(4, seed=seed), cluster_of(3, "nic")):
        problem = layered_problem(14, cluster, seed=seed, model=model)
        before = greedy_placement(policy, problem)
        order = levels_last_first(problem)
        other = rewritten(problem, order, prefix="x")
        assert other.graph.names != problem.graph.names
        assert greedy_placement(policy, other).tolist() == before[order].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_embeddings_are_equivariant(seed: int) -> None:
    """Reordering the operators reorders the embeddings."""
    policy: Any = policy_of("device-scorer")
    problem = layered_problem(14, cluster_of(4, seed=seed), seed=seed)
    order = np.random.default_rng(seed).permutation(14).astype(np.int32)
    with torch.no_grad():
        before, after = (
            torch.cat(policy.embed(batch_of(policy, p)), dim=1)
            for p in (problem, rewritten(problem, order))
        )
    assert_same_likelihood(after, before[torch.from_numpy(order).long()])


@of_scorers
def test_one_set_of_weights_places_on_any_number_of_devices(name: str) -> None:
    policy = policy_of(name)
    for devices in (1, 2, 3, 7, 20):
        problem = layered_problem(20, cluster_of(devices, seed=devices), seed=1)
        rows = policy.sample(batch_of(policy, problem), 3, Sampler(seeded_generator()))[0]
        assert 0 <= rows.min() <= rows.max() < devices
        assert len(np.unique(rows)) >= min(devices, 2)


@of_scorers
def test_a_beam_of_one_is_greedy(name: str) -> None:
    policy: Any = policy_of(name)
    for problem in mixed_problems(name):
        found = policy.beam(batch_of(policy, problem), 1)
        assert found.tolist() == [greedy_placement(policy, problem).tolist()]


@pytest.mark.parametrize("cluster", SMALL_CLUSTERS)
def test_a_wide_beam_finds_all_placements_in_order(cluster: str) -> None:
    """Four operators have 15 placements on equal devices and 81 on unequal ones."""
    policy: Any = policy_of("device-scorer")
    problem = fork_problem(SMALL_CLUSTERS[cluster], 4)
    rows = choosable_placements(policy, problem)
    found = policy.beam(batch_of(policy, problem), len(rows))
    assert np.unique(found, axis=0).tolist() == rows.tolist()
    likelihood = rollout_of(policy, problem, found).log_probability[0].tolist()
    assert all(one >= other - 1e-4 for one, other in pairwise(likelihood))
    alone = rollout_of(policy, problem, greedy_placement(policy, problem)[None]).log_probability
    assert likelihood[0] >= alone.item() - 1e-4


@pytest.mark.parametrize("width", [2, 5, 16])
def test_beams_contain_distinct_placements_that_can_be_chosen(width: int) -> None:
    policy: Any = policy_of("device-scorer")
    for problem in mixed_problems("device-scorer")[:3]:
        found = policy.beam(batch_of(policy, problem), width)
        assert len(np.unique(found, axis=0)) == width
        likelihood = rollout_of(policy, problem, found).log_probability[0].tolist()
        assert min(likelihood) > -1e4
        assert all(one >= other - 1e-3 for one, other in pairwise(likelihood))


def test_a_policy_with_two_orders_supports_beam_search() -> None:
    policy: Any = policy_of("device-scorer, two orders")
    for problem in mixed_problems("device-scorer"):
        found = policy.beam(batch_of(policy, problem), 6)
        assert (found >= 0).all(), "an operator was not placed"


def test_padding_does_not_affect_logits() -> None:
    """The values of padding do not matter."""
    policy: Any = policy_of("device-scorer")
    problem = layered_problem(6, cluster_of(2))
    batch = batch_of(policy, problem, fork_problem(cluster_of(5)))
    logits: list[Tensor] = []
    for filler in (0.0, 1e3):
        with torch.no_grad():
            state = DecodingState(policy, batch, 1, policy.embed(batch))
            state._resident[0, 2:] = filler
            logits.append(state.score(0, *state.buffers(0))[0, :2])
    assert logits[0].tolist() == logits[1].tolist()
