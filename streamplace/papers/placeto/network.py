"""The whole network for some states of one problem, forward and backward.

Parameters are padded to whole vectors; `Packing` converts them and their gradients.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from streamplace.papers.placeto.layers import (
    LANES,
    Layers,
    Single,
    affine,
    affine_back,
    clear,
    cut,
    inputs_back,
)
from streamplace.papers.placeto.summaries import (
    Changes,
    Head,
    Passed,
    Passing,
    Streams,
    Sums,
    changes,
    decide,
    decide_back,
    gather,
    keep_closest,
    passed,
    receive,
    receive_back,
    relate,
    sums,
)
from streamplace.sim.flow import Ints
from streamplace.sim.jit import part

OWN = 5  # features of an operator besides the device it is on
AHEAD, BACK = 3, 7  # first layer of message passing along and against the streams

NAMES = ("node", "sums", "first", "second", "logits")
"""The groups of layers, each with a weight and a bias."""


class Weights(NamedTuple):
    """The parameters; layers 0 to 2 of `node` embed features, the others pass messages."""

    node: Layers  # 11 layers
    head: Head


class Problems(NamedTuple):
    """What the network reads of a problem."""

    numbers: Single  # (V, 2) cost and size of the output of each operator, at most 1
    streams: Streams
    ahead: Passing  # along the streams
    back: Passing  # against the streams
    closest: int  # number of parallel operators that are read; 0: all


class Memory(NamedTuple):
    """The working memory of B states."""

    features: Single  # (V * B, d)
    hidden: Single
    middle: Single
    own: Single
    ahead: Passed
    back: Passed
    sums: Sums


class Differences(NamedTuple):
    """The working memory of a gradient."""

    own: Single  # (V * B, d)
    hidden: Single
    middle: Single
    ahead: Changes
    back: Changes
    sums: Sums


def memory_of(problem: Problems, states: int, length: int, devices: int) -> Memory:
    """Return the working memory of a forward pass; `length` is d."""
    shape = len(problem.numbers) * states, length
    return Memory(
        np.zeros(shape, np.float32),
        np.zeros(shape, np.float32),
        np.zeros(shape, np.float32),
        np.zeros(shape, np.float32),
        passed(len(problem.ahead.operator), states, length),
        passed(len(problem.back.operator), states, length),
        sums(len(problem.numbers), 2 * length, devices),
    )


def differences_of(problem: Problems, states: int, length: int, devices: int) -> Differences:
    """Return the working memory of a backward pass; `length` is d."""
    shape = len(problem.numbers) * states, length
    return Differences(
        np.zeros(shape, np.float32),
        np.zeros(shape, np.float32),
        np.zeros(shape, np.float32),
        changes(len(problem.ahead.operator), states, length),
        changes(len(problem.back.operator), states, length),
        sums(len(problem.numbers), 2 * length, devices),
    )


@part
def describe(
    problem: Problems,
    v: int,
    devices: Ints,
    done: Ints,
    times: Single,
    state: int,
    states: int,
    x: Single,
) -> None:
    """Set the features of all operators in one state in which operator v is placed next.

    They are the cost, the size of the output, how often the operator has been visited, whether it
    is v, its time minus that of v, and the device as a one-hot vector. Times are divided by their
    largest value or, if none is above 0, by their largest absolute value.
    """
    largest = smallest = 0.0
    for u in range(done.shape[0]):
        largest = max(largest, times[u] - times[v])
        smallest = min(smallest, times[u] - times[v])
    scale = largest if largest > 0.0 else -smallest
    for u in range(done.shape[0]):
        row = u * states + state
        clear(x, row, 1)
        x[row, 0], x[row, 1] = problem.numbers[u, 0], problem.numbers[u, 1]
        x[row, 2] = done[u]
        x[row, 4] = (times[u] - times[v]) / scale if scale > 0.0 else 0.0
        x[row, OWN + devices[u]] = 1.0
    x[v * states + state, 3] = 1.0


@part
def embed(problem: Problems, weights: Weights, states: int, memory: Memory) -> None:
    """Embed the operators of all states and pass messages in both directions."""
    rows = problem.numbers.shape[0] * states
    affine(memory.features, 0, rows, weights.node, 0, memory.hidden, 0, True)
    affine(memory.hidden, 0, rows, weights.node, 1, memory.middle, 0, True)
    affine(memory.middle, 0, rows, weights.node, 2, memory.own, 0, False)
    receive(problem.ahead, memory.own, states, weights.node, AHEAD, memory.ahead)
    receive(problem.back, memory.own, states, weights.node, BACK, memory.back)


@part
def conclude(
    problem: Problems,
    weights: Weights,
    v: int,
    times: Single,
    state: int,
    states: int,
    memory: Memory,
) -> None:
    """Compute the logits of operator v in one state."""
    own, half = memory.sums, memory.own.shape[1]
    ahead, back = memory.ahead.embedding, memory.back.embedding
    relate(problem.streams, v, own.relation)
    if problem.closest > 0:
        keep_closest(own.relation, v, times, problem.closest)
    gather(ahead, back, problem.ahead.last, problem.back.last, state, states, own)
    of, other = problem.ahead.last[v] * states + state, problem.back.last[v] * states + state
    for i in range(half):
        own.part[0, i], own.part[0, half + i] = ahead[of, i], back[other, i]
    decide(weights.head, own)


@part
def conclude_back(
    problem: Problems,
    weights: Weights,
    v: int,
    state: int,
    states: int,
    memory: Memory,
    change: Differences,
    gradient: Weights,
) -> None:
    """Add the gradients of one state's logits to those of the embeddings and of the head."""
    own, half = change.sums, memory.own.shape[1]
    decide_back(weights.head, memory.sums, own, gradient.head)
    ahead, back = change.ahead.embedding, change.back.embedding
    for n in range(memory.sums.begin[3] + 1):
        last = n == memory.sums.begin[3]
        u = v if last else memory.sums.member[n]
        of, other = problem.ahead.last[u] * states + state, problem.back.last[u] * states + state
        for i in range(half):
            ahead[of, i] += own.part[0, i] if last else own.row[n, i]
            back[other, i] += own.part[0, half + i] if last else own.row[n, half + i]


@part
def embed_back(
    problem: Problems,
    weights: Weights,
    states: int,
    memory: Memory,
    change: Differences,
    gradient: Weights,
) -> None:
    """Add the gradients of message passing and of the embedding of features."""
    rows = problem.numbers.shape[0] * states
    clear(change.own, 0, rows)
    receive_back(
        problem.ahead,
        states,
        weights.node,
        AHEAD,
        memory.ahead,
        change.ahead,
        gradient.node,
        change.own,
    )
    receive_back(
        problem.back,
        states,
        weights.node,
        BACK,
        memory.back,
        change.back,
        gradient.node,
        change.own,
    )
    affine_back(change.own, 0, rows, memory.middle, 0, gradient.node, 2)
    clear(change.middle, 0, rows)
    inputs_back(change.own, 0, rows, weights.node, 2, change.middle, 0)
    cut(change.middle, 0, rows, memory.middle, 0)
    affine_back(change.middle, 0, rows, memory.hidden, 0, gradient.node, 1)
    clear(change.hidden, 0, rows)
    inputs_back(change.middle, 0, rows, weights.node, 1, change.hidden, 0)
    cut(change.hidden, 0, rows, memory.hidden, 0)
    affine_back(change.hidden, 0, rows, memory.features, 0, gradient.node, 0)


def whole_vectors(length: int) -> int:
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


class Packing:
    """The shapes of all layers for embeddings of length d and D devices.

    Attributes
    ----------
    length
        The padded length of embeddings.
    """

    def __init__(self, length: int, devices: int) -> None:
        width = whole_vectors(length)
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
            "logits": Shape(1, hidden[1], last, wide[1], whole_vectors(devices)),
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
