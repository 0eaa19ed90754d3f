"""What the network reads of a placement, and the passing of messages over it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.papers.giph.gp_net import (
    EDGE_FEATURES,
    Bools,
    GpNet,
    Pairs,
    last_arrival,
    transfer,
)
from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import kernel, part

Single = NDArray[np.float32]
PAIR_FEATURES = 4
ABSENT = -1
NONE = np.empty((0, 0))
ZERO = np.float32(0.0)


class View(NamedTuple):
    """A graph whose nodes are sorted by operator, as the network reads it: n nodes, m edges."""

    pair: Ints  # (n,) the pair that each node is
    x: Single  # (n, 4 + ·) work, speed, cost, potential, others; each column scaled to -1 to 1
    source: Ints  # (m,) nodes
    target: Ints  # (m,)
    f: Single  # (m, 4 + ·) data, bandwidth, delay, cost, others; each column scaled to -1 to 1
    order: Ints  # (V,) operators in a topological order
    first: Ints  # (V + 1,) first node of each operator
    first_in: Ints  # (V + 1,) index of each operator's first input in `inward`
    inward: Ints  # (E,) streams
    first_out: Ints
    outward: Ints
    block: Ints  # (E + 1,) first edge of each stream


def view_of(
    pairs: Pairs,
    net: GpNet,
    potential: Floats,
    is_offered: Bools,
    of_pairs: Floats = NONE,
    of_streams: Floats = NONE,
    reciprocals: bool = False,
) -> View:
    """Return the graph of the pairs that are offered.

    Parameters
    ----------
    potential
        (N,) the fourth feature of each pair.
    of_pairs, of_streams
        (N, ·) and (E, ·) further features; the rows of streams count for all their edges.
    reciprocals
        Whether the reciprocals of speeds and bandwidths are features instead of these.
    is_offered
        (N,) whether a pair is part of the graph; pivots must be.
    """
    nodes, edges = len(pairs.operator), len(net.source)
    of_pairs = np.empty((nodes, 0)) if of_pairs is NONE else of_pairs
    of_streams = np.empty((len(pairs.source), 0)) if of_streams is NONE else of_streams
    x = np.empty((nodes, PAIR_FEATURES + of_pairs.shape[1]), np.float32)
    f = np.empty((edges, EDGE_FEATURES + of_streams.shape[1]), np.float32)
    pair, source, target = (np.empty(n, np.int32) for n in (nodes, edges, edges))
    first, block = np.empty(len(pairs.first), np.int32), np.empty(len(pairs.block), np.int32)
    numbers = (potential, is_offered, of_pairs, of_streams, reciprocals)
    n, m = _select(pairs, net, *numbers, pair, x, source, target, f, first, block)
    streams = (pairs.first_in, pairs.inward, pairs.first_out, pairs.outward)
    return View(pair[:n], x[:n], source[:m], target[:m], f[:m], pairs.order, first, *streams, block)


@kernel
def _select(
    pairs: Pairs,
    net: GpNet,
    potential: Floats,
    is_offered: Bools,
    of_pairs: Floats,
    of_streams: Floats,
    reciprocals: bool,
    chosen: Ints,
    x: Single,
    source: Ints,
    target: Ints,
    f: Single,
    first: Ints,
    block: Ints,
) -> tuple[int, int]:
    """Copy and scale nodes and edges; return their numbers."""
    node = np.full(is_offered.shape[0], ABSENT, np.int32)
    raw = np.empty((is_offered.shape[0], x.shape[1]))
    n = 0
    for v in range(pairs.order.shape[0]):
        first[v] = n
        for pair in range(pairs.first[v], pairs.first[v + 1]):
            if is_offered[pair]:
                node[pair], chosen[n] = n, pair
                speed = pairs.speed[pairs.device[pair]]
                raw[n, 0], raw[n, 1] = pairs.size[v], 1.0 / speed if reciprocals else speed
                raw[n, 2], raw[n, 3] = pairs.weight[pair], potential[pair]
                for c in range(of_pairs.shape[1]):
                    raw[n, PAIR_FEATURES + c] = of_pairs[pair, c]
                n += 1
    first[pairs.order.shape[0]] = n
    scale(raw, n, x)
    kept = np.empty((net.source.shape[0], f.shape[1]))
    m = 0
    for e in range(pairs.source.shape[0]):
        block[e] = m
        for at in range(pairs.block[e], pairs.block[e + 1]):
            one, other = node[net.source[at]], node[net.target[at]]
            if ABSENT not in (one, other):
                source[m], target[m] = one, other
                for c in range(EDGE_FEATURES):
                    kept[m, c] = net.features[at, c]
                if reciprocals:
                    kept[m, 1] = 1.0 / kept[m, 1]
                for c in range(of_streams.shape[1]):
                    kept[m, EDGE_FEATURES + c] = of_streams[e, c]
                m += 1
    block[pairs.source.shape[0]] = m
    scale(kept, m, f)
    return n, m


@part
def scale(raw: Floats, rows: int, out: Single) -> None:
    """Scale each column to -1 to 1; a column of one value becomes 0, and infinity 1."""
    for c in range(raw.shape[1]):
        low, high = np.inf, -np.inf
        for r in range(rows):
            if np.isfinite(raw[r, c]):
                low, high = min(low, raw[r, c]), max(high, raw[r, c])
        for r in range(rows):
            if not np.isfinite(raw[r, c]):
                out[r, c] = 1.0 if raw[r, c] > 0.0 else -1.0
            elif high > low:
                out[r, c] = 2.0 * (raw[r, c] - low) / (high - low) - 1.0
            else:
                out[r, c] = 0.0


@kernel
def start_potentials(pairs: Pairs, net: GpNet, start: Floats, finish: Floats) -> Floats:
    """Return how much later each pair's operator could start than it does, (N,), in seconds.

    The potential of a pair is the time at which the last input could arrive at its device, minus
    the simulated start of the operator. It is 0 for pivots and for operators without inputs.

    Parameters
    ----------
    start, finish
        (V,) simulated times of the operators in seconds.
    """
    potential = np.zeros(pairs.operator.shape[0])
    for v in range(start.shape[0]):
        if pairs.first_in[v] == pairs.first_in[v + 1]:
            continue
        for pair in range(pairs.first[v], pairs.first[v + 1]):
            if pair != net.pivot[v]:
                arrival = last_arrival(pairs, net, finish, v, pairs.device[pair])
                potential[pair] = arrival - start[v]
    return potential


def operator_view(pairs: Pairs, net: GpNet, potential: Floats) -> View:
    """Return the operators with the features of their current pairs.

    The potential of an operator is the lowest of its pairs, (N,).
    """
    operators, streams = len(pairs.order), len(pairs.source)
    x = np.empty((operators, PAIR_FEATURES), np.float32)
    f = np.empty((streams, EDGE_FEATURES), np.float32)
    _describe(pairs, net, potential, x, f)
    every = np.arange(operators + 1, dtype=np.int32)
    ends = (pairs.first_in, pairs.inward, pairs.first_out, pairs.outward)
    block = np.arange(streams + 1, dtype=np.int32)
    return View(
        net.pivot.copy(), x, pairs.source, pairs.target, f, pairs.order, every, *ends, block
    )


@kernel
def _describe(pairs: Pairs, net: GpNet, potential: Floats, x: Single, f: Single) -> None:
    raw = np.empty((net.pivot.shape[0], PAIR_FEATURES))
    for v in range(net.pivot.shape[0]):
        pivot = net.pivot[v]
        lowest = np.inf
        for pair in range(pairs.first[v], pairs.first[v + 1]):
            lowest = min(lowest, potential[pair])
        raw[v, 0], raw[v, 1] = pairs.size[v], pairs.speed[pairs.device[pivot]]
        raw[v, 2], raw[v, 3] = pairs.weight[pivot], lowest
    scale(raw, raw.shape[0], x)
    kept = np.empty((pairs.source.shape[0], EDGE_FEATURES))
    for e in range(kept.shape[0]):
        k = pairs.device[net.pivot[pairs.source[e]]]
        m = pairs.device[net.pivot[pairs.target[e]]]
        kept[e, 0], kept[e, 1], kept[e, 2] = pairs.data[e], pairs.bandwidth[k, m], pairs.delay[k, m]
        kept[e, 3] = transfer(pairs, e, k, m)
    scale(kept, kept.shape[0], f)


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
