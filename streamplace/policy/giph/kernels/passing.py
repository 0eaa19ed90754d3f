"""Message passing in topological order over a graph of pairs, forward and backward."""

from typing import NamedTuple

import numpy as np

from sim.flow import Floats, Ints
from sim.jit import kernel, part
from streamplace.policy.giph.kernels.view import Single

ZERO = np.float32(0.0)


class Direction(NamedTuple):
    """The visits of a pass along the streams, or against them; see `View`."""

    order: Ints  # (V,) operators, each after those that send to it
    first: Ints  # (V + 1,) first node of each operator
    first_in: Ints  # (V + 1,) index of each operator's first input in `inward`
    inward: Ints  # (E,) streams
    block: Ints  # (E + 1,) first edge of each stream
    source: Ints  # (m,) nodes that send
    target: Ints  # (m,) nodes that receive


class Layers(NamedTuple):
    """The parameters of a pass, or their gradients."""

    terms: Single  # (m, h), or (1, h) if all edges have the same: what edges add to messages
    of_sender: Single  # (h, e) W
    update: Single  # (e, h) U
    bias: Single  # (e,) b


class Passed(NamedTuple):
    """What a pass computes."""

    embedding: Single  # (n, e)
    sent: Single  # (n, h) W e
    mean: Single  # (n, h) z
    added: Single  # (n, e) ReLU(U z + b)


@kernel
def receive(direction: Direction, own: Single, layers: Layers, result: Passed) -> None:
    """Compute e_u = own_u + ReLU(U z_u + b), with z_u the mean of ReLU(W e_s + term) over edges.

    Operators are visited in order, so that the embeddings of all senders are complete. Nodes that
    no edge leads to keep `own`, (n, e).
    """
    count, mean = np.zeros(own.shape[0]), result.mean
    for position in range(direction.order.shape[0]):
        v = direction.order[position]
        for node in range(direction.first[v], direction.first[v + 1]):
            for h in range(mean.shape[1]):
                mean[node, h] = ZERO
        for i in range(direction.first_in[v], direction.first_in[v + 1]):
            stream = direction.inward[i]
            for edge in range(direction.block[stream], direction.block[stream + 1]):
                one, other = direction.source[edge], direction.target[edge]
                term = edge if layers.terms.shape[0] > 1 else 0
                count[other] += 1
                for h in range(mean.shape[1]):
                    mean[other, h] += max(result.sent[one, h] + layers.terms[term, h], ZERO)
        for node in range(direction.first[v], direction.first[v + 1]):
            _embed(layers, own, node, count[node], result)


@part
def _embed(layers: Layers, own: Single, node: int, count: float, result: Passed) -> None:
    """Compute the embedding of a node from the sum of the messages, and what it sends."""
    wide, length = result.mean.shape[1], own.shape[1]
    for i in range(length):
        result.embedding[node, i], result.added[node, i] = own[node, i], ZERO
    if count > 0.0:
        for h in range(wide):
            result.mean[node, h] /= count
        for i in range(length):
            total = layers.bias[i]
            for h in range(wide):
                total += layers.update[i, h] * result.mean[node, h]
            result.added[node, i] = max(total, ZERO)
            result.embedding[node, i] += result.added[node, i]
    for h in range(wide):
        total = ZERO
        for i in range(length):
            total += layers.of_sender[h, i] * result.embedding[node, i]
        result.sent[node, h] = total


@kernel
def receive_back(
    direction: Direction,
    layers: Layers,
    result: Passed,
    change: Single,
    scratch: Single,
    gradient: Layers,
) -> None:
    """Compute the gradients of `receive` from that of the embeddings.

    Parameters
    ----------
    change
        (n, e) the gradient of the embeddings; that of `own` replaces it.
    scratch
        (n, h) zeros.
    gradient
        Zeros, to which the gradients of the layers are added.
    """
    count = np.zeros(change.shape[0])
    for edge in range(direction.target.shape[0]):
        count[direction.target[edge]] += 1.0
    for position in range(direction.order.shape[0] - 1, -1, -1):
        v = direction.order[position]
        for node in range(direction.first[v], direction.first[v + 1]):
            _embed_back(layers, result, node, count, change, scratch, gradient)
        for i in range(direction.first_in[v], direction.first_in[v + 1]):
            stream = direction.inward[i]
            for edge in range(direction.block[stream], direction.block[stream + 1]):
                one, other = direction.source[edge], direction.target[edge]
                term = edge if layers.terms.shape[0] > 1 else 0
                for h in range(scratch.shape[1]):
                    if result.sent[one, h] + layers.terms[term, h] > ZERO:
                        scratch[one, h] += scratch[other, h]
                        gradient.terms[term, h] += scratch[other, h]


@part
def _embed_back(
    layers: Layers,
    result: Passed,
    node: int,
    count: Floats,
    change: Single,
    scratch: Single,
    gradient: Layers,
) -> None:
    """Replace the gradient of what a node sends, in `scratch`, by that of each message to it."""
    wide, length = scratch.shape[1], change.shape[1]
    for h in range(wide):
        for i in range(length):
            change[node, i] += layers.of_sender[h, i] * scratch[node, h]
            gradient.of_sender[h, i] += scratch[node, h] * result.embedding[node, i]
        scratch[node, h] = ZERO
    for i in range(length):
        if result.added[node, i] > ZERO:
            gradient.bias[i] += change[node, i]
            for h in range(wide):
                gradient.update[i, h] += change[node, i] * result.mean[node, h]
                scratch[node, h] += change[node, i] * layers.update[i, h] / count[node]
