"""Graphs of unusual shapes, as functions of a generator and a number of operators.

Each returns the actual number of operators, and the operators at the ends of each stream.
"""

from collections.abc import Callable

import numpy as np

Ends = list[tuple[int, int]]
Shape = Callable[[np.random.Generator, int], tuple[int, Ends]]


def single(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return one operator."""
    return 1, []


def pair(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return two operators with up to three streams between them."""
    return 2, [(0, 1)] * int(rng.integers(0, 4))


def isolated(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return operators without streams."""
    return size, []


def chain(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return a chain."""
    return size, [(v, v + 1) for v in range(size - 1)]


def fan_out(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return a star with one source."""
    return size, [(0, v) for v in range(1, size)]


def fan_in(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return a star with one sink."""
    return size, [(v, size - 1) for v in range(size - 1)]


def complete(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return a complete graph of at most 50 operators."""
    size = min(size, 50)
    return size, [(u, v) for u in range(size) for v in range(u + 1, size)]


def parallel(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return a short chain with many parallel streams."""
    size = min(size, 5)
    return size, [(v, v + 1) for v in range(size - 1)] * int(rng.integers(2, 30))


def separate_pairs(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return disconnected pairs of operators."""
    return size, [(v, v + 1) for v in range(0, size - 1, 2)]


def bipartite(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return two fully connected layers."""
    size = min(size, 60)
    half = size // 2
    return size, [(u, v) for u in range(half) for v in range(half, size)]


def tree(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return a binary tree."""
    return size, [((v - 1) // 2, v) for v in range(1, size)]


def lollipop(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return a complete graph with a long tail."""
    clique = min(size, 12)
    inner = [(u, v) for u in range(clique) for v in range(u + 1, clique)]
    return size, inner + [(v, v + 1) for v in range(clique - 1, size - 1)]


def random_dag(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return up to three streams into each operator, from random earlier ones."""
    ends = [(int(u), v) for v in range(1, size) for u in rng.integers(v, size=int(rng.integers(4)))]
    return size, ends


SHAPES: tuple[Shape, ...] = (
    single, pair, isolated, chain, fan_out, fan_in, complete, parallel, separate_pairs, bipartite,
    tree, lollipop, random_dag,
)  # fmt: skip
