"""Choices of devices from logits in numpy, with the random numbers that torch would draw."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

UNAVAILABLE = -1e9
"""The logit of a device that a policy does not offer."""
GOLDEN = 0x9E3779B1  # 2^32 over the golden ratio: spreads the seeds of steps
BITS = 24  # random bits of a number in 32-bit floating point
LEAST, MOST = np.float32(1e-30), np.float32(1 - 1e-7)  # so that logarithms are finite


def seed_of_step(seed: int, step: int) -> int:
    """Return the seed of the random numbers of one step, 32 bits.

    Numbers then depend on the step and the row only, so that the samples of a smaller number are
    the first of a larger one.
    """
    return (seed + step * GOLDEN) & 0xFFFFFFFF


@dataclass
class NumpySampler:
    """The rule of `decoding.placing` in numpy; the first sample uses the most likely devices.

    Torch's generator for the CPU is the Mersenne Twister, seeded by the last 32 bits of the seed.
    That of numpy gives the same numbers.

    Parameters
    ----------
    seed
        Seed of the random numbers. Without one, every choice is the most likely device.
    temperature
        A divisor of the logits.
    """

    seed: int | None = None
    temperature: float = 1.0
    _random: np.random.RandomState = field(init=False, repr=False)
    _step: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        self._random = np.random.RandomState(0)

    def __call__(self, logits: NDArray[np.float32], samples: int) -> NDArray[np.int64]:
        """Choose a device per row, (R,), from logits, (R, D), with `samples` rows per problem."""
        if self.seed is None:
            likeliest: NDArray[np.int64] = logits.argmax(axis=1)
            return likeliest
        self._random.seed(seed_of_step(self.seed, self._step))
        self._step += 1
        words = self._random.randint(1 << 32, size=logits.shape, dtype=np.uint32)
        drawn = (words & ((1 << BITS) - 1)).astype(np.float32) * np.float32(2.0**-BITS)
        gumbel = -np.log(-np.log(np.clip(drawn, LEAST, MOST)))
        gumbel[::samples] = 0.0
        chosen: NDArray[np.int64] = (logits / np.float32(self.temperature) + gumbel).argmax(axis=1)
        return chosen
