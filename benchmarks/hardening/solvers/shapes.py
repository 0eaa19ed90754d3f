"""Graphs of odd shapes, as the ends of their streams."""

from collections.abc import Callable

import numpy as np

Ends = list[tuple[int, int]]
Shape = Callable[[np.random.Generator, int], tuple[int, Ends]]


def alone(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return one operator."""
    return 1, []


def two(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return two operators and no, one, or several streams between them."""
    return 2, [(0, 1)] * int(rng.integers(0, 4))


def apart(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return operators without streams."""
    return size, []


def chain(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return one operator after the other."""
    return size, [(v, v + 1) for v in range(size - 1)]


def fan_out(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return a star: one source of all."""
    return size, [(0, v) for v in range(1, size)]


def fan_in(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return a star: one sink of all."""
    return size, [(v, size - 1) for v in range(size - 1)]


def complete(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return every stream there can be between at most 50 operators."""
    size = min(size, 50)
    return size, [(u, v) for u in range(size) for v in range(u + 1, size)]


def parallel(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return a chain of a few operators with all streams many times."""
    size = min(size, 5)
    return size, [(v, v + 1) for v in range(size - 1)] * int(rng.integers(2, 30))


def pieces(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return pairs of operators, each apart from all others."""
    return size, [(v, v + 1) for v in range(0, size - 1, 2)]


def layers(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return two layers, everything in one joined with everything in the other."""
    size = min(size, 60)
    half = size // 2
    return size, [(u, v) for u in range(half) for v in range(half, size)]


def tree(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return a tree of two branches a node."""
    return size, [((v - 1) // 2, v) for v in range(1, size)]


def lollipop(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return a complete graph with a long tail."""
    crowd = min(size, 12)
    inner = [(u, v) for u in range(crowd) for v in range(u + 1, crowd)]
    return size, inner + [(v, v + 1) for v in range(crowd - 1, size - 1)]


def tangle(rng: np.random.Generator, size: int) -> tuple[int, Ends]:
    """Return up to three streams into each operator, from anywhere before it."""
    ends = [(int(u), v) for v in range(1, size) for u in rng.integers(v, size=int(rng.integers(4)))]
    return size, ends


SHAPES: tuple[Shape, ...] = (
    alone, two, apart, chain, fan_out, fan_in, complete, parallel, pieces, layers, tree, lollipop,
    tangle,
)  # fmt: skip
