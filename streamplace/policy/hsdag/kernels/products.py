"""Products of sparse matrices with the values of vertices."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.flow import Ints
from sim.jit import kernel

Single = NDArray[np.float32]


class Weights(NamedTuple):
    """A symmetric matrix by rows; the diagonal is apart."""

    own: Single  # (n,) the diagonal
    first: Ints  # (n + 1,) index of each row's first entry
    other: Ints  # (2M,) column of each entry
    weight: Single  # (2M,)


@kernel
def smoothed(weights: Weights, values: Single) -> Single:
    """Return the product of a matrix, (n, n), with values, (n, H)."""
    n, length = values.shape
    result = np.empty((n, length), np.float32)
    for v in range(n):
        for k in range(length):
            result[v, k] = weights.own[v] * values[v, k]
        for i in range(weights.first[v], weights.first[v + 1]):
            weight, other = weights.weight[i], weights.other[i]
            for k in range(length):
                result[v, k] += weight * values[other, k]
    return result
