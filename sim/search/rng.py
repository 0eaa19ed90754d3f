"""Random numbers for kernels: xorshift64 (Marsaglia 2003) with an array of one word as state."""

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.jit import bare

Word = NDArray[np.uint64]  # (1,), must not be 0

_DOUBLE = 1.0 / 2.0**53  # a double has 53 bits


@bare
def uniform(state: Word) -> float:
    """Return a random number in [0, 1)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    drawn: float = np.float64(x >> np.uint64(11)) * _DOUBLE
    return drawn


@bare
def below(state: Word, count: int) -> int:
    """Return a random whole number from 0 to count - 1."""
    return int(uniform(state) * count)
