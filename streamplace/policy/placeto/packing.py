"""Parameters as kernels take them: padded to whole vectors, and gradients back."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from streamplace.policy.placeto.kernels.layers import Layers, Single
from streamplace.policy.placeto.kernels.network import Weights
from streamplace.policy.placeto.kernels.summaries import Head
from streamplace.policy.placeto.kernels.vectors import LANES
from streamplace.util.arrays import Ints


def padded(length: int) -> int:
    """Return a length rounded up to whole vectors."""
    return -(-length // LANES) * LANES


@dataclass(frozen=True)
class Shape:
    """Where the entries of L layers of I inputs and O outputs are in padded matrices.

    Parameters
    ----------
    inputs, outputs
        (I,) and (O,) padded index of each input and output.
    rows, columns
        Padded numbers of inputs and outputs.
    """

    count: int
    inputs: Ints
    outputs: Ints
    rows: int
    columns: int

    def pack(self, weight: Single, bias: Single) -> Layers:
        """Return the layers of weights, (L, I, O), and biases, (L, O)."""
        layers = self.empty()
        by_layer = layers.weight.reshape(self.count, self.rows, self.columns)
        by_layer[:, self.inputs[:, None], self.outputs] = weight
        layers.bias[:, self.outputs] = bias
        layers.turned[:] = by_layer.transpose(0, 2, 1).reshape(layers.turned.shape)
        return layers

    def empty(self) -> Layers:
        """Return layers of zeros."""
        return Layers(
            np.zeros((self.count * self.rows, self.columns), np.float32),
            np.zeros((self.count, self.columns), np.float32),
            np.zeros((self.count * self.columns, self.rows), np.float32),
        )

    def unpack(self, layers: Layers) -> tuple[Single, Single]:
        """Return weights, (L, I, O), and biases, (L, O), of layers."""
        by_layer = layers.weight.reshape(self.count, self.rows, self.columns)
        return by_layer[:, self.inputs[:, None], self.outputs], layers.bias[:, self.outputs]


NAMES = ("node", "sums", "first", "second", "logits")
"""The groups of layers, each with a weight and a bias."""


class Packing:
    """The shapes of all layers for embeddings of length d and D devices.

    Attributes
    ----------
    length
        The padded length of embeddings.
    """

    def __init__(self, length: int, devices: int) -> None:
        width = padded(length)
        self.length, self.devices = width, devices
        own = np.arange(length, dtype=np.int32)
        both = np.concatenate([own, width + own])
        joined = np.concatenate([both + k * 2 * width for k in range(4)])
        hidden = [np.arange(k * length, dtype=np.int32) for k in (16, 8)]
        wide = [16 * width, 8 * width]
        last = np.arange(devices, dtype=np.int32)
        self.shapes: Mapping[str, Shape] = {
            "node": Shape(11, own, own, width, width),
            "sums": Shape(12, both, both, 2 * width, 2 * width),
            "first": Shape(1, joined, hidden[0], 8 * width, wide[0]),
            "second": Shape(1, hidden[0], hidden[1], wide[0], wide[1]),
            "logits": Shape(1, hidden[1], last, wide[1], padded(devices)),
        }

    def pack(self, parameters: Mapping[str, Single]) -> Weights:
        """Return parameters, by name and ``weight`` or ``bias``, for kernels."""
        return _weights(
            {
                name: shape.pack(parameters[f"{name}_weight"], parameters[f"{name}_bias"])
                for name, shape in self.shapes.items()
            }
        )

    def empty(self) -> Weights:
        """Return weights of zeros, to which gradients are added."""
        return _weights({name: shape.empty() for name, shape in self.shapes.items()})

    def unpack(self, weights: Weights) -> dict[str, Single]:
        """Return the parameters, or gradients, by name."""
        head = weights.head
        parts = (weights.node, head.sums, head.first, head.second, head.logits)
        values: dict[str, Single] = {}
        for name, layers in zip(NAMES, parts, strict=True):
            weight, bias = self.shapes[name].unpack(layers)
            values |= {f"{name}_weight": weight, f"{name}_bias": bias}
        return values


def _weights(layers: Mapping[str, Layers]) -> Weights:
    return Weights(layers["node"], Head(*(layers[name] for name in NAMES[1:])))
