"""Message passing along one direction of the streams, forward and backward.

The order of updates is a list of slots: an operator's embedding in one slot is computed from those
of other, earlier slots. A pass in topological order has one slot per operator; k synchronous rounds
have k + 1. Rows of arrays are sorted by slot, then by state.
"""

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

Bools = NDArray[np.bool_]
LARGEST = np.float32(1e12)
"""The largest entry of an embedding: over hundreds of levels, random layers can overflow."""


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
