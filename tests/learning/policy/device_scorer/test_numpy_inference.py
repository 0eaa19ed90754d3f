"""The numpy implementation of the device scorer, compared with torch."""

from typing import Any

import numpy as np
import pytest
import torch

from streamplace import Operator, Problem, StreamGraph
from streamplace.learning.policy.config import DeviceScorerSizes
from streamplace.learning.policy.decoding import Sampler, placing
from streamplace.learning.policy.device_scorer.features import encode
from streamplace.learning.policy.device_scorer.network import (
    DecodingState,
    DeviceScorer,
    ScorerBatch,
)
from streamplace.learning.policy.device_scorer.numpy_inference import (
    NumpyScorer,
    ScoredRows,
    shapes_of,
)
from streamplace.learning.policy.noise import NumpySampler
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


def in_numpy(policy: Any) -> NumpyScorer:
    """Return the same policy in numpy."""
    weights = {name: part.detach().numpy() for name, part in policy.named_parameters()}
    return NumpyScorer(policy.config, weights)


def test_embeddings_agree_with_torch(policy: Any) -> None:
    problems = batch()
    with torch.inference_mode():
        expected = policy.embed(problems)
    got = in_numpy(policy).embed(problems.arrays)
    for ours, reference in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, reference.numpy(), rtol=1e-4, atol=1e-4)


def test_scores_agree_with_torch_at_every_step(policy: Any) -> None:
    problems, samples = batch(), 3
    with torch.inference_mode():
        one = DecodingState(policy, problems, samples, policy.embed(problems))
        other = ScoredRows(in_numpy(policy), problems.arrays, samples)
        for t in range(one.steps):
            expected, got = one.score(t, *one.buffers(t)), other.score(t, *other.buffers(t))
            np.testing.assert_allclose(got, expected.numpy(), rtol=1e-4, atol=1e-3)
            chosen = expected.argmax(dim=1)
            one.take(t, chosen)
            other.take(t, chosen.numpy())
    assert (one.placements == other.placements).all()


def test_changed_weights_are_used(policy: Any) -> None:
    problem = layered_problem(12, cluster_of(4))
    before = policy.sample(policy.batch([policy.encode(problem)]), 1, Sampler())
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.neg_()
    after = policy.sample(policy.batch([policy.encode(problem)]), 1, Sampler())
    assert before.tolist() != after.tolist()


@pytest.mark.parametrize("hops", [1, 3])
def test_the_shapes_are_those_of_the_network(hops: int) -> None:
    sizes = DeviceScorerSizes(hidden=8, hops=hops)
    network = DeviceScorer(sizes)
    expected = {name: tuple(part.shape) for name, part in network.named_parameters()}
    assert shapes_of(sizes) == expected


def test_samples_are_those_of_torch(policy: Any) -> None:
    """The placements of the placer `policy` are the same as by torch's network and generator."""
    for seed in range(5):
        problems = ScorerBatch([policy.encode(layered_problem(30, cluster_of(4), seed))])
        with torch.inference_mode():
            expected = policy._sampled(problems, 16, placing(seed, 1.5))
        found = in_numpy(policy).sample(problems.arrays, 16, NumpySampler(seed, 1.5))
        assert found.tolist() == expected.tolist()
