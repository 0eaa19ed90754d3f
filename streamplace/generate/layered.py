"""Random layered graphs with several sources and sinks, joins, and streams that skip layers."""

import math

import numpy as np

from streamplace.generate.rates import furnish
from streamplace.problem.graph import StreamGraph

MAX_ENDS = 4  # sources in the first layer, and sinks in the last layer
ONE_INPUT, TWO_INPUTS = 0.6, 0.9  # cumulative probabilities; other operators have three inputs
SKIPS = 0.15  # share of streams that may come from any earlier layer


def layered(count: int, rng: np.random.Generator, name: str) -> StreamGraph:
    """Return a graph of `count` operators, at least 4.

    The first layer holds up to four sources with unequal shares, the last layer up to four sinks.
    An operator has one to three inputs, mostly from the previous layer. An operator that was not
    drawn as an input feeds a random operator of the next layer.
    """
    first = _layers(count, rng)
    depth = len(first) - 1
    ends = {
        (source, target)
        for layer in range(1, depth)
        for target in range(first[layer], first[layer + 1])
        for source in _inputs(first, layer, rng)
    }
    fed = {source for source, _ in ends}
    for layer in range(depth - 1):
        low, high = first[layer + 1], first[layer + 2]
        ends |= {
            (v, low + int(rng.random() * (high - low)))
            for v in range(first[layer], low)
            if v not in fed
        }
    drawn = (rng.random(first[1]) + 0.25).tolist()
    shares = [share / math.fsum(drawn) for share in drawn]
    return furnish(count, np.array(sorted(ends), dtype=np.int64), shares, rng, name)


def _layers(count: int, rng: np.random.Generator) -> list[int]:
    """Return the index of each layer's first operator, followed by `count`."""
    max_ends = max(1, min(MAX_ENDS, count // 4))
    sources, sinks = (1 + int(u * max_ends) for u in rng.random(2).tolist())
    inner = count - sources - sinks
    shallowest, deepest = max(1, math.isqrt(inner) // 2), min(inner, 2 * math.isqrt(inner))
    depth = shallowest + int(rng.random() * (deepest - shallowest + 1))
    width = np.ones(depth, dtype=np.int64)
    np.add.at(width, (rng.random(inner - depth) * depth).astype(np.int64), 1)
    return [0, *np.cumsum([sources, *width, sinks]).tolist()]


def _inputs(first: list[int], layer: int, rng: np.random.Generator) -> list[int]:
    """Draw the operators that feed an operator of a layer; one may be drawn several times."""
    how_many = rng.random()
    inputs = 1 + (how_many > ONE_INPUT) + (how_many > TWO_INPUTS)
    drawn = []
    for skip, which in rng.random((inputs, 2)).tolist():
        low = 0 if skip < SKIPS else first[layer - 1]
        drawn.append(low + int(which * (first[layer] - low)))
    return drawn
