"""Choices of devices in numpy, compared with those of torch."""

import numpy as np
import torch

from streamplace.learning.policy.decoding import placing
from streamplace.learning.policy.noise import NumpySampler


def test_a_sampler_in_numpy_chooses_like_that_of_torch() -> None:
    """The random numbers are the same; their logarithms differ by rounding."""
    logits = np.random.default_rng(0).normal(size=(64, 7)).astype(np.float32)
    for seed in (0, 1, 2**32 + 5, 2**61 + 3):
        ours, reference = NumpySampler(seed, 1.5), placing(seed, 1.5)
        for _ in range(20):
            expected = reference(torch.from_numpy(logits), 8).numpy()
            assert ours(logits, 8).tolist() == expected.tolist()
    assert NumpySampler()(logits, 8).tolist() == logits.argmax(axis=1).tolist()
