"""Inference of the device scorer in numpy, compared with torch."""

from typing import Any

import numpy as np
import pytest
import torch

from streamplace import Operator, Problem, StreamGraph
from streamplace.policy.batch import Batch
from streamplace.policy.device_scorer import numpy_inference as in_numpy
from streamplace.policy.device_scorer.state import DecodingState
from streamplace.policy.features import encode
from tests.support.policies import cluster_of, layered_problem, network_of


def batch() -> Batch:
    """Return problems of unequal sizes and clusters, largest first; one has no stream."""
    alone = Problem(StreamGraph([Operator("a", 1e4, 0)], []), cluster_of(3), source_rate=1000)
    made = [
        layered_problem(12, cluster_of(4)),
        layered_problem(7, cluster_of(2, "nic", seed=1)),
        alone,
    ]
    return Batch.of([encode(problem) for problem in made])


@pytest.fixture
def network() -> Any:
    """Return a network with random weights and biases, so that a forgotten bias shows."""
    network: Any = network_of("device-scorer, two orders")
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith("bias"):
                parameter.copy_(torch.linspace(-1.0, 1.0, parameter.numel()))
    return network


def test_embeddings(network: Any) -> None:
    problems = batch()
    with torch.inference_mode():
        expected = network.encode(problems)
    got = in_numpy.encode(in_numpy.layers_of(network), len(network.hops), problems)
    for mine, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(mine, theirs.numpy(), rtol=1e-4, atol=1e-4)


def test_scores_while_placements_grow(network: Any) -> None:
    problems, samples = batch(), 3
    layers = in_numpy.layers_of(network)
    with torch.inference_mode():
        one = DecodingState(network, problems, samples, network.encode(problems))
        encoded = in_numpy.encode(layers, len(network.hops), problems)
        other = in_numpy.NumpyDecodingState(network, problems, samples, encoded, layers)
        for t in range(one.steps):
            expected, got = one.ask(t, *one.room(t)), other.ask(t, *other.room(t))
            torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-3)
            chosen = expected.argmax(dim=1)
            one.take(t, chosen)
            other.take(t, chosen)
    assert (one.placements == other.placements).all()


def test_weights_that_change_are_seen(network: Any) -> None:
    problems = batch()
    before = in_numpy.encode(in_numpy.layers_of(network), len(network.hops), problems)[0]
    with torch.no_grad():
        network.operator.bias += 1.0
    after = in_numpy.encode(in_numpy.layers_of(network), len(network.hops), problems)[0]
    np.testing.assert_allclose(after, before + 1.0, rtol=1e-4, atol=1e-4)
    network.operator.weight = torch.nn.Parameter(torch.zeros_like(network.operator.weight))
    network.read.weight = torch.nn.Parameter(network.read.weight.clone())
    moved = in_numpy.encode(in_numpy.layers_of(network), len(network.hops), problems)[0]
    assert np.ptp(moved, axis=0).max() == 0.0, "the new weights are all zero"
