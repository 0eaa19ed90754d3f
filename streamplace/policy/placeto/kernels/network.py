"""The whole network for some states of one problem, forward and backward."""

from typing import NamedTuple

import numpy as np

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
from streamplace.policy.placeto.kernels.messages import (
    Changes,
    Passed,
    Passing,
    changes,
    passed,
    receive,
    receive_back,
)
from streamplace.policy.placeto.kernels.summaries import (
    Head,
    Streams,
    Sums,
    decide,
    decide_back,
    gather,
    keep_closest,
    relate,
    sums,
)

OWN = 5  # features of an operator besides the device it is on
AHEAD, BACK = 3, 7  # first layer of message passing along and against the streams


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
