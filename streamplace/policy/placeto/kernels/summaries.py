"""The sums over ancestors, descendants and parallel operators, and the head, for one state."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.flow import Ints
from sim.jit import part
from streamplace.policy.placeto.kernels.layers import (
    Layers,
    Single,
    affine,
    affine_back,
    clear,
    cut,
    inputs_back,
)

ANCESTOR, DESCENDANT, PARALLEL, NEITHER = 0, 1, 2, 3
SETS = 3
Bytes = NDArray[np.int8]


class Streams(NamedTuple):
    """The streams of a graph from both ends."""

    order: Ints  # (V,) a topological order
    position: Ints  # (V,) the place of each operator in it
    first_in: Ints  # (V + 1,) index of each operator's first input
    source: Ints  # (E,) operators that the inputs come from
    first_out: Ints  # (V + 1,)
    target: Ints  # (E,)


class Head(NamedTuple):
    """The last layers: of the functions of the sums, and of the logits."""

    sums: Layers  # 4 layers a set: two of f, then two of g
    first: Layers
    second: Layers
    logits: Layers


class Sums(NamedTuple):
    """What is computed for one state, or the gradient of that; e is the size of embeddings."""

    relation: Bytes  # (V,)
    member: Ints  # (V,) operators of the sets, set by set
    begin: Ints  # (SETS + 1,) index of each set's first member
    row: Single  # (V, e) embeddings of the members
    hidden: Single  # (V, e)
    message: Single  # (V, e)
    total: Single  # (SETS, e)
    middle: Single  # (SETS, e)
    part: Single  # (1 + SETS, e) the operator's own embedding, and the functions of the sums
    joined: Single  # (1, 4e) the same memory
    wide: Single  # (1, 8e)
    narrow: Single  # (1, 4e)
    logits: Single  # (1, D)


def sums(operators: int, length: int, devices: int) -> Sums:
    """Return the working memory of one state; `length` is e."""

    def zeros(*shape: int) -> Single:
        return np.zeros(shape, np.float32)

    together = zeros(1 + SETS, length)
    return Sums(
        relation=np.zeros(operators, np.int8),
        member=np.zeros(operators, np.int32),
        begin=np.zeros(SETS + 1, np.int32),
        row=zeros(operators, length),
        hidden=zeros(operators, length),
        message=zeros(operators, length),
        total=zeros(SETS, length),
        middle=zeros(SETS, length),
        part=together,
        joined=together.reshape(1, -1),
        wide=zeros(1, 8 * length),
        narrow=zeros(1, 4 * length),
        logits=zeros(1, devices),
    )


@part
def relate(streams: Streams, v: int, relation: Bytes) -> None:
    """Set the relation of every operator to operator v; that of v itself is NEITHER."""
    order, count = streams.order, streams.order.shape[0]
    for u in range(count):
        relation[u] = PARALLEL
    relation[v] = NEITHER
    for i in range(streams.position[v] + 1, count):
        u = order[i]
        for k in range(streams.first_in[u], streams.first_in[u + 1]):
            if streams.source[k] == v or relation[streams.source[k]] == DESCENDANT:
                relation[u] = DESCENDANT
    for i in range(streams.position[v] - 1, -1, -1):
        u = order[i]
        for k in range(streams.first_out[u], streams.first_out[u + 1]):
            if streams.target[k] == v or relation[streams.target[k]] == ANCESTOR:
                relation[u] = ANCESTOR


@part
def keep_closest(relation: Bytes, v: int, times: Single, count: int) -> None:
    """Keep the `count` parallel operators that are closest to v in time, the first of equal ones.

    Kept operators are marked by a negative relation in between.
    """
    for _ in range(count):
        closest, least = -1, np.inf
        for u in range(relation.shape[0]):
            if relation[u] == PARALLEL and abs(times[u] - times[v]) < least:
                closest, least = u, abs(times[u] - times[v])
        if closest < 0:
            break
        relation[closest] = -1
    for u in range(relation.shape[0]):
        if relation[u] == PARALLEL:
            relation[u] = NEITHER
        elif relation[u] < 0:
            relation[u] = PARALLEL


@part
def gather(
    ahead: Single, back: Single, at: Ints, also: Ints, state: int, states: int, memory: Sums
) -> None:
    """Copy the embeddings of the members, set by set, from both directions."""
    half, n = ahead.shape[1], 0
    for which in range(SETS):
        memory.begin[which] = n
        for u in range(memory.relation.shape[0]):
            if memory.relation[u] == which:
                memory.member[n] = u
                of, other = at[u] * states + state, also[u] * states + state
                for i in range(half):
                    memory.row[n, i] = ahead[of, i]
                    memory.row[n, half + i] = back[other, i]
                n += 1
    memory.begin[SETS] = n


@part
def decide(head: Head, memory: Sums) -> None:
    """Compute the logits from the members' rows and from `memory.part[0]`."""
    for which in range(SETS):
        begin, end = memory.begin[which], memory.begin[which + 1]
        layer = 4 * which
        affine(memory.row, begin, end - begin, head.sums, layer, memory.hidden, begin, True)
        affine(memory.hidden, begin, end - begin, head.sums, layer + 1, memory.message, begin, True)
        clear(memory.total, which, 1)
        for n in range(begin, end):
            for i in range(memory.total.shape[1]):
                memory.total[which, i] += memory.message[n, i]
        affine(memory.total, which, 1, head.sums, layer + 2, memory.middle, which, True)
        affine(memory.middle, which, 1, head.sums, layer + 3, memory.part, 1 + which, True)
    affine(memory.joined, 0, 1, head.first, 0, memory.wide, 0, True)
    affine(memory.wide, 0, 1, head.second, 0, memory.narrow, 0, True)
    affine(memory.narrow, 0, 1, head.logits, 0, memory.logits, 0, False)


@part
def decide_back(head: Head, memory: Sums, change: Sums, gradient: Head) -> None:
    """Add the gradients of the layers; set those of rows and of `part[0]` from `change.logits`."""
    affine_back(change.logits, 0, 1, memory.narrow, 0, gradient.logits, 0)
    clear(change.narrow, 0, 1)
    inputs_back(change.logits, 0, 1, head.logits, 0, change.narrow, 0)
    cut(change.narrow, 0, 1, memory.narrow, 0)
    affine_back(change.narrow, 0, 1, memory.wide, 0, gradient.second, 0)
    clear(change.wide, 0, 1)
    inputs_back(change.narrow, 0, 1, head.second, 0, change.wide, 0)
    cut(change.wide, 0, 1, memory.wide, 0)
    affine_back(change.wide, 0, 1, memory.joined, 0, gradient.first, 0)
    clear(change.joined, 0, 1)
    inputs_back(change.wide, 0, 1, head.first, 0, change.joined, 0)
    for which in range(SETS):
        layer = 4 * which
        begin, rows = memory.begin[which], memory.begin[which + 1] - memory.begin[which]
        cut(change.part, 1 + which, 1, memory.part, 1 + which)
        affine_back(change.part, 1 + which, 1, memory.middle, which, gradient.sums, layer + 3)
        clear(change.middle, which, 1)
        inputs_back(change.part, 1 + which, 1, head.sums, layer + 3, change.middle, which)
        cut(change.middle, which, 1, memory.middle, which)
        affine_back(change.middle, which, 1, memory.total, which, gradient.sums, layer + 2)
        clear(change.total, which, 1)
        inputs_back(change.middle, which, 1, head.sums, layer + 2, change.total, which)
        for n in range(begin, begin + rows):
            for i in range(change.total.shape[1]):
                change.message[n, i] = change.total[which, i]
        cut(change.message, begin, rows, memory.message, begin)
        affine_back(change.message, begin, rows, memory.hidden, begin, gradient.sums, layer + 1)
        clear(change.hidden, begin, rows)
        inputs_back(change.message, begin, rows, head.sums, layer + 1, change.hidden, begin)
        cut(change.hidden, begin, rows, memory.hidden, begin)
        affine_back(change.hidden, begin, rows, memory.row, begin, gradient.sums, layer)
        clear(change.row, begin, rows)
        inputs_back(change.hidden, begin, rows, head.sums, layer, change.row, begin)
