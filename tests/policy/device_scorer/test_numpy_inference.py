"""The numpy implementation of the device scorer, compared with torch."""

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
    """Return problems of several sizes and clusters, largest first; one has no streams."""
    alone = Problem(StreamGraph([Operator("a", 1e4, 0)], []), cluster_of(3), source_rate=1000)
    made = [
        layered_problem(12, cluster_of(4)),
        layered_problem(7, cluster_of(2, "nic", seed=1)),
        alone,
    ]
    return ScorerBatch([encode(problem) for problem in made])


@pytest.fixture
def policy() -> Any:
    """Return a policy with non-zero biases, so that a missing bias is detected."""
    policy: Any = policy_of("device-scorer, two orders")
    with torch.no_grad():
        for name, parameter in policy.named_parameters():
            if name.endswith("bias"):
                parameter.copy_(torch.linspace(-1.0, 1.0, parameter.numel()))
    return policy


def test_embeddings_agree_with_torch(policy: Any) -> None:
    problems = batch()
    with torch.inference_mode():
        expected = policy.embed(problems)
    got = in_numpy.embed(in_numpy.layers_of(policy), len(policy.hops), problems)
    for ours, reference in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, reference.numpy(), rtol=1e-4, atol=1e-4)


def test_scores_agree_with_torch_at_every_step(policy: Any) -> None:
    problems, samples = batch(), 3
    layers = in_numpy.layers_of(policy)
    with torch.inference_mode():
        one = DecodingState(policy, problems, samples, policy.embed(problems))
        encoded = in_numpy.embed(layers, len(policy.hops), problems)
        other = in_numpy.NumpyDecodingState(policy, problems, samples, encoded, layers)
        for t in range(one.steps):
            expected, got = one.score(t, *one.buffers(t)), other.score(t, *other.buffers(t))
            torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-3)
            chosen = expected.argmax(dim=1)
            one.take(t, chosen)
            other.take(t, chosen)
    assert (one.placements == other.placements).all()


def test_changed_weights_are_used(policy: Any) -> None:
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
