"""Inference of the device scorer in numpy, compared with torch."""

from typing import Any

import numpy as np
import pytest
import torch

from streamplace import Operator, Problem, StreamGraph
from streamplace.policy.device_scorer import numpy_inference as in_numpy
from streamplace.policy.device_scorer.features import ScorerBatch, encode
from streamplace.policy.device_scorer.state import DecodingState
from tests.support.policies import cluster_of, layered_problem, policy_of


def batch() -> ScorerBatch:
    """Return problems of unequal sizes and clusters, largest first; one has no stream."""
    alone = Problem(StreamGraph([Operator("a", 1e4, 0)], []), cluster_of(3), source_rate=1000)
    made = [
        layered_problem(12, cluster_of(4)),
        layered_problem(7, cluster_of(2, "nic", seed=1)),
        alone,
    ]
    return ScorerBatch([encode(problem) for problem in made])


@pytest.fixture
def policy() -> Any:
    """Return a policy with random weights and biases, so that a forgotten bias shows."""
    policy: Any = policy_of("device-scorer, two orders")
    with torch.no_grad():
        for name, parameter in policy.named_parameters():
            if name.endswith("bias"):
                parameter.copy_(torch.linspace(-1.0, 1.0, parameter.numel()))
    return policy


def test_embeddings(policy: Any) -> None:
    problems = batch()
    with torch.inference_mode():
        expected = policy.embed(problems)
    got = in_numpy.embed(in_numpy.layers_of(policy), len(policy.hops), problems)
    for mine, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(mine, theirs.numpy(), rtol=1e-4, atol=1e-4)


def test_scores_while_placements_grow(policy: Any) -> None:
    problems, samples = batch(), 3
    layers = in_numpy.layers_of(policy)
    with torch.inference_mode():
        one = DecodingState(policy, problems, samples, policy.embed(problems))
        encoded = in_numpy.embed(layers, len(policy.hops), problems)
        other = in_numpy.NumpyDecodingState(policy, problems, samples, encoded, layers)
        for t in range(one.steps):
            expected, got = one.ask(t, *one.room(t)), other.ask(t, *other.room(t))
            torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-3)
            chosen = expected.argmax(dim=1)
            one.take(t, chosen)
            other.take(t, chosen)
    assert (one.placements == other.placements).all()


def test_weights_that_change_are_seen(policy: Any) -> None:
    problems = batch()
    before = in_numpy.embed(in_numpy.layers_of(policy), len(policy.hops), problems)[0]
    with torch.no_grad():
        policy.operator.bias += 1.0
    after = in_numpy.embed(in_numpy.layers_of(policy), len(policy.hops), problems)[0]
    np.testing.assert_allclose(after, before + 1.0, rtol=1e-4, atol=1e-4)
    policy.operator.weight = torch.nn.Parameter(torch.zeros_like(policy.operator.weight))
    policy.read.weight = torch.nn.Parameter(policy.read.weight.clone())
    moved = in_numpy.embed(in_numpy.layers_of(policy), len(policy.hops), problems)[0]
    assert np.ptp(moved, axis=0).max() == 0.0, "the new weights are all zero"
