"""Sampling of devices from logits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from streamplace.learning.policy.noise import UNAVAILABLE, seed_of_step
from streamplace.util.arrays import Ints

__all__ = ["UNAVAILABLE", "Sampler", "placing"]


@dataclass
class Sampler:
    """The rule that chooses devices from logits.

    Parameters
    ----------
    generator
        The random generator. Without one, every choice is the most likely device.
    temperature
        A divisor of the logits, applied before sampling.
    first_is_likeliest
        Whether the first sample of every problem uses the most likely devices.
    exploration
        The probability of a uniform choice among the offered devices.
    greedy
        Whether choices that do not explore use the most likely device (ε-greedy).

    Raises
    ------
    ValueError
        If `exploration` is set without a generator.
    """

    generator: torch.Generator | None = None
    temperature: float = 1.0
    first_is_likeliest: bool = False
    exploration: float = 0.0
    greedy: bool = False

    @classmethod
    def seeded(cls, seed: int) -> Self:
        """Return a rule that samples from the softmax, with a generator of its own."""
        return cls(torch.Generator().manual_seed(seed))

    def __post_init__(self) -> None:
        if self.exploration and self.generator is None:
            raise ValueError("exploration requires a generator")

    def __call__(self, logits: Tensor, samples: int) -> Tensor:
        """Choose a device per row, (R,), from logits, (R, D), with `samples` rows per problem."""
        if self.generator is None:
            return logits.argmax(dim=1)
        gumbel = self._gumbel(logits.shape, self.generator, logits.device)
        if self.first_is_likeliest:
            gumbel[::samples] = 0.0
        noisy = logits if self.greedy else logits / self.temperature + gumbel
        chosen = noisy.argmax(dim=1)
        if not self.exploration:
            return chosen
        uniform = gumbel.masked_fill(logits <= UNAVAILABLE / 2, UNAVAILABLE).argmax(dim=1)
        return torch.where(self._explores(len(logits), samples).to(logits.device), uniform, chosen)

    @staticmethod
    def scores(logits: Tensor, chosen: Ints) -> tuple[Tensor, Tensor]:
        """Return log-probabilities and entropies, (N,), of choices, (N,), by logits, (N, D)."""
        logs = torch.log_softmax(logits, dim=1)
        taken = torch.from_numpy(chosen.astype(np.int64)).to(logits.device)
        log_prob = logs.gather(1, taken.unsqueeze(1)).squeeze(1)
        return log_prob, -(logs.exp() * logs).sum(dim=1)

    def ahead(self, samples: int, steps: int, devices: int) -> tuple[Tensor, Tensor]:
        """Draw the random numbers of S samples of T steps of one problem ahead, on the CPU.

        A step then chooses the largest sum of noise and logits divided by the temperature or, where
        it explores, the largest noise, as a call does.

        Returns
        -------
        tuple
            The noise, (S, T, D), and whether each step explores, (S, T) bool. Without a generator,
            the noise is 0 and no step explores.
        """
        noise = torch.zeros(samples, steps, devices)
        explores = torch.zeros(samples, steps, dtype=torch.bool)
        if self.generator is None:
            return noise, explores
        noise = self._gumbel(noise.shape, self.generator, noise.device)
        if self.exploration:
            explores = torch.rand(samples, steps, generator=self.generator) < self.exploration
        if self.first_is_likeliest:
            noise[0], explores[0] = 0.0, False
        return noise, explores

    @staticmethod
    def _gumbel(shape: Sequence[int], generator: torch.Generator, device: torch.device) -> Tensor:
        drawn = torch.rand(shape, generator=generator, device=generator.device)
        return -torch.log(-torch.log(drawn.to(device).clamp_(1e-30, 1 - 1e-7)))

    def _explores(self, rows: int, samples: int) -> Tensor:
        """Return which rows, (R,) bool, choose uniformly."""
        assert self.generator is not None
        drawn = torch.rand(rows, generator=self.generator, device=self.generator.device)
        explores = drawn < self.exploration
        if self.first_is_likeliest:
            explores[::samples] = False
        return explores


@dataclass
class PlacingSampler(Sampler):
    """The rule of the placer `policy`: samples are the first ones of a larger number of samples.

    Parameters
    ----------
    seed
        Seed of its random numbers, see `noise.seed_of_step`.
    step
        The number of choices so far.
    """

    seed: int = 0
    step: int = 0

    def __call__(self, logits: Tensor, samples: int) -> Tensor:
        """Choose a device per row, (R,), from logits, (R, D), with `samples` rows per problem."""
        assert self.generator is not None, "it samples"
        self.generator.manual_seed(seed_of_step(self.seed, self.step))
        self.step += 1
        return super().__call__(logits, samples)


def placing(seed: int, temperature: float) -> PlacingSampler:
    """Return the rule of the placer `policy`, whose first sample uses the most likely devices."""
    generator = torch.Generator().manual_seed(seed)
    return PlacingSampler(generator, temperature, first_is_likeliest=True, seed=seed)
