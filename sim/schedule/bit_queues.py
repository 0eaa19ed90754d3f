"""Queues of devices whose operators have fixed priorities: a bit for each operator.

A device has words of its own, with as many bits as it has operators, the highest priority first.
Adding an operator sets its bit, and the next one to start is the lowest bit. Words have 32 bits in
64, so that products of theirs do not overflow.

Operators whose moment of becoming runnable is known, but not reached, are in a list per device.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare
from streamplace.sim.schedule.queues import insert

BITS = 32  # of 64, so that products with the sequence do not overflow
_SEQUENCE = 0x077CB531
"""A de Bruijn sequence: times 2^i, the 5 highest of the lower 32 bits differ for every i."""
_MASK = (1 << BITS) - 1
_INDEX = np.empty(BITS, np.int64)
for _i in range(BITS):
    _INDEX[(_SEQUENCE << _i & _MASK) >> 27] = _i


class BitQueues(NamedTuple):
    """The queues of D devices, for V operators."""

    word: NDArray[np.int64]  # (V / 32 + D,)
    lowest: Ints  # (D,) all words of the device before this one are 0
    length: Ints  # (D,) number of operators in the queue
    bit: Ints  # (V,) the number of each operator's bit
    operator: Ints  # (32 words,) the operator of each bit
    following: Ints  # (D,) working memory
    when: Floats  # (V,) moments of the operators that become runnable later, sorted by device
    later: Ints  # (V,) these operators
    head: Ints  # (D,) index of the first one of each device
    tail: Ints  # (D,) index after the last one


def bit_queues(operators: int, devices: int) -> BitQueues:
    """Return memory for the queues."""
    words, ints = operators // BITS + devices, np.int32
    return BitQueues(
        word=np.zeros(words, np.int64),
        lowest=np.zeros(devices, ints),
        length=np.zeros(devices, ints),
        bit=np.empty(operators, ints),
        operator=np.empty(BITS * words, ints),
        following=np.empty(devices, ints),
        when=np.empty(operators),
        later=np.empty(operators, ints),
        head=np.empty(devices, ints),
        tail=np.empty(devices, ints),
    )


@bare
def clear(queues: BitQueues, devices: Ints, sequence: Ints) -> None:
    """Empty the queues, and give the operators of a placement, (V,), their bits.

    Parameters
    ----------
    sequence
        (V,) operators, the highest priority first.
    """
    following, length = queues.following, queues.length
    for d in range(length.shape[0]):
        length[d] = 0
    for v in range(devices.shape[0]):
        length[devices[v]] += 1
    words = operators = 0
    for d in range(length.shape[0]):
        queues.head[d] = queues.tail[d] = operators
        operators += length[d]
        following[d] = BITS * words
        words += (length[d] + BITS - 1) // BITS
        queues.lowest[d] = words
        length[d] = 0
    for i in range(words):
        queues.word[i] = 0
    for i in range(sequence.shape[0]):
        v = sequence[i]
        bit = following[devices[v]]
        following[devices[v]] = bit + 1
        queues.bit[v], queues.operator[bit] = bit, v


@bare
def add(queues: BitQueues, d: int, v: int) -> None:
    """Add an operator to the queue of its device."""
    bit = queues.bit[v]
    i = bit // BITS
    queues.word[i] |= np.int64(1) << (bit % BITS)
    queues.length[d] += 1
    queues.lowest[d] = min(queues.lowest[d], i)


@bare
def add_later(queues: BitQueues, d: int, when: float, v: int) -> None:
    """Add an operator to those of its device that become runnable later."""
    insert(queues.when, queues.later, queues.head[d], queues.tail[d], when, v)
    queues.tail[d] += 1


@bare
def admit(queues: BitQueues, d: int, until: float) -> None:
    """Add to a queue the operators of its device that become runnable until some moment."""
    i = queues.head[d]
    while i < queues.tail[d] and queues.when[i] <= until:
        add(queues, d, queues.later[i])
        i += 1
    queues.head[d] = i


@bare
def first(queues: BitQueues, d: int) -> int:
    """Return the first operator of a queue that is not empty."""
    i = queues.lowest[d]
    while queues.word[i] == 0:
        i += 1
    queues.lowest[d] = i
    word = queues.word[i]
    return int(queues.operator[BITS * i + _INDEX[((word & -word) * _SEQUENCE & _MASK) >> 27]])


@bare
def remove_first(queues: BitQueues, d: int) -> None:
    """Remove the operator that `first` has returned."""
    i = queues.lowest[d]
    queues.word[i] &= queues.word[i] - 1
    queues.length[d] -= 1
