"""Linear layers of small networks, forward and backward, on rows of larger arrays.

Matrices are stored below each other: layer l of arrays `weight`, (L * I, O), and `bias`, (L, O),
has I inputs and O outputs, in the rows from l * I on. The networks are too small for a library's
products; see `vectors`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.jit import part
from streamplace.policy.placeto.kernels.vectors import add_outer, multiply

Single = NDArray[np.float32]
ZERO = np.float32(0.0)


class Layers(NamedTuple):
    """L layers with I inputs and O outputs each."""

    weight: Single  # (L * I, O)
    bias: Single  # (L, O)
    turned: Single  # (L * O, I), the transposed matrices


@part
def affine(
    x: Single, at: int, rows: int, layers: Layers, layer: int, y: Single, to: int, relu: bool
) -> None:
    """Set rows of `y` to a linear layer of rows of `x`, after which `relu` cuts them at 0."""
    first = layer * x.shape[1]
    multiply(x, at, rows, layers.weight, first, layers.bias, layer, 0, y, to, relu)


@part
def cut(change: Single, at: int, rows: int, y: Single, to: int) -> None:
    """Clear the gradient where a ReLU returned 0."""
    for r in range(rows):
        for o in range(y.shape[1]):
            kept = change[at + r, o]  # stored always, so that the compiler vectorises the loop
            change[at + r, o] = kept if y[to + r, o] > ZERO else ZERO


@part
def affine_back(
    change: Single, at: int, rows: int, x: Single, of: int, gradient: Layers, layer: int
) -> None:
    """Add the gradient of a layer's weights, from that of its outputs and its inputs.

    Parameters
    ----------
    change, at
        Gradient of the outputs, and its first row.
    x, of
        Inputs, and their first row.
    """
    first = layer * x.shape[1]
    for r in range(rows):
        for o in range(change.shape[1]):
            gradient.bias[layer, o] += change[at + r, o]
    add_outer(x, of, rows, change, at, gradient.weight, first)


@part
def inputs_back(
    change: Single, at: int, rows: int, layers: Layers, layer: int, to_inputs: Single, to: int
) -> None:
    """Add the gradient of a layer's inputs to rows of `to_inputs`."""
    first = layer * change.shape[1]
    multiply(change, at, rows, layers.turned, first, to_inputs, to, 1, to_inputs, to, False)


@part
def clear(x: Single, at: int, rows: int) -> None:
    """Set rows to 0."""
    for r in range(at, at + rows):
        for i in range(x.shape[1]):
            x[r, i] = ZERO
