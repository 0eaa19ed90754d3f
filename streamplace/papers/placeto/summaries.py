"""The sums over ancestors, descendants and parallel operators, and the messages that lead to them.

The order of updates is a list of slots: an operator's embedding in one slot is computed from those
of other, earlier slots. A pass in topological order has one slot per operator; k synchronous rounds
have k + 1. Rows of arrays are sorted by slot, then by state.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.papers.placeto.layers import (
    Layers,
    Single,
    affine,
    affine_back,
    clear,
    cut,
    inputs_back,
)
from streamplace.sim.flow import Ints
from streamplace.sim.jit import part

Bools = NDArray[np.bool_]
LARGEST = np.float32(1e12)
"""The largest entry of an embedding: over hundreds of levels, random layers can overflow."""

ANCESTOR, DESCENDANT, PARALLEL, NEITHER = 0, 1, 2, 3
SETS = 3
Bytes = NDArray[np.int8]


class Passing(NamedTuple):
    """The order of updates, of S slots."""

    operator: Ints  # (S,) operator of each slot
    first: Ints  # (S + 1,) index of each slot's first source
    source: Ints  # slots that a slot receives from
    sends: Bools  # (S,) whether another slot receives from it
    last: Ints  # (V,) slot with the final embedding of each operator


class Passed(NamedTuple):
    """What a pass computes for B states of S slots, (S * B, d) each."""

    embedding: Single
    received: Single  # sum of the messages
    hidden: Single  # of the function of that sum
    added: Single  # its outputs
    sending: Single  # hidden layer of the message
    message: Single


class Changes(NamedTuple):
    """Gradients of a pass."""

    embedding: Single  # (S * B, d)
    message: Single  # (S * B, d)
    one: Single  # (B, d)
    two: Single  # (B, d)


def passed(slots: int, states: int, length: int) -> Passed:
    """Return the working memory of a pass."""
    return Passed(*(np.zeros((slots * states, length), np.float32) for _ in Passed._fields))


def changes(slots: int, states: int, length: int) -> Changes:
    """Return the working memory of the gradient of a pass."""
    rows = (slots, slots, 1, 1)
    return Changes(*(np.zeros((n * states, length), np.float32) for n in rows))


@part
def receive(
    passing: Passing, own: Single, states: int, layers: Layers, f: int, memory: Passed
) -> None:
    """Compute h_v = own_v + g(Σ f(h_p)) over the sources p of each slot v, or own_v if none.

    Entries above `LARGEST` are cut to it.

    Parameters
    ----------
    own
        (V * B, d) embeddings of the operators before the pass.
    f
        The first of four consecutive layers: two of f, then two of g.
    """
    length = own.shape[1]
    for slot in range(passing.operator.shape[0]):
        at, of = slot * states, passing.operator[slot] * states
        for r in range(states):
            for i in range(length):
                memory.embedding[at + r, i] = own[of + r, i]
        first, end = passing.first[slot], passing.first[slot + 1]
        if first < end:
            clear(memory.received, at, states)
            for k in range(first, end):
                source = passing.source[k] * states
                for r in range(states):
                    for i in range(length):
                        memory.received[at + r, i] += memory.message[source + r, i]
            affine(memory.received, at, states, layers, f + 2, memory.hidden, at, True)
            affine(memory.hidden, at, states, layers, f + 3, memory.added, at, True)
            for r in range(states):
                for i in range(length):
                    total = memory.embedding[at + r, i] + memory.added[at + r, i]
                    memory.embedding[at + r, i] = min(total, LARGEST)
        if passing.sends[slot]:
            affine(memory.embedding, at, states, layers, f, memory.sending, at, True)
            affine(memory.sending, at, states, layers, f + 1, memory.message, at, True)


@part
def receive_back(
    passing: Passing,
    states: int,
    layers: Layers,
    f: int,
    memory: Passed,
    change: Changes,
    gradient: Layers,
    own: Single,
) -> None:
    """Add the gradients of the layers, and of the embeddings before the pass to `own`.

    `change.embedding` has the gradient of the final embeddings and 0 elsewhere, and
    `change.message` is 0; both are changed.
    """
    one, two = change.one, change.two
    for slot in range(passing.operator.shape[0] - 1, -1, -1):
        at, of = slot * states, passing.operator[slot] * states
        if passing.sends[slot]:
            cut(change.message, at, states, memory.message, at)
            affine_back(change.message, at, states, memory.sending, at, gradient, f + 1)
            clear(one, 0, states)
            inputs_back(change.message, at, states, layers, f + 1, one, 0)
            cut(one, 0, states, memory.sending, at)
            affine_back(one, 0, states, memory.embedding, at, gradient, f)
            inputs_back(one, 0, states, layers, f, change.embedding, at)
        for r in range(states):
            for i in range(own.shape[1]):
                if memory.embedding[at + r, i] >= LARGEST:
                    change.embedding[at + r, i] = 0.0
                own[of + r, i] += change.embedding[at + r, i]
        first, end = passing.first[slot], passing.first[slot + 1]
        if first < end:
            cut(change.embedding, at, states, memory.added, at)
            affine_back(change.embedding, at, states, memory.hidden, at, gradient, f + 3)
            clear(one, 0, states)
            inputs_back(change.embedding, at, states, layers, f + 3, one, 0)
            cut(one, 0, states, memory.hidden, at)
            affine_back(one, 0, states, memory.received, at, gradient, f + 2)
            clear(two, 0, states)
            inputs_back(one, 0, states, layers, f + 2, two, 0)
            for k in range(first, end):
                source = passing.source[k] * states
                for r in range(states):
                    for i in range(own.shape[1]):
                        change.message[source + r, i] += two[r, i]


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
