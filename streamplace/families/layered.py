"""Random layered and series-parallel graphs, with random selectivities, costs and payloads."""

import math

import numpy as np
from numpy.typing import NDArray

from streamplace.families.family import INSTRUCTIONS_PER_DEVICE, SOURCE_RATE
from streamplace.problem.graph import StreamGraph
from streamplace.util.arrays import Floats
from streamplace.util.units import BYTES_PER_MBIT

Indices = NDArray[np.int64]

# limits of an operator's rate, relative to its rate if all operators only split their tuples
HIGHEST, LOWEST = 4.0, 0.1
FILTERS, FAN_OUTS, COPIES = 0.25, 0.15, 0.5  # probabilities
MIN_LOAD, MAX_LOAD = 2.0, 5.0  # total CPU work in devices; less for graphs of few operators
MIN_OPERATORS_PER_DEVICE = 2.0  # so that no operator needs more than one device
MAX_PAYLOAD_MBIT = 0.5
SERIES = 0.6  # share of steps that lengthen a path; the others add a parallel path
MAX_ENDS = 4  # sources in the first layer, and sinks in the last layer
ONE_INPUT, TWO_INPUTS = 0.6, 0.9  # cumulative probabilities; other operators have three inputs
SKIPS = 0.15  # share of streams that may come from any earlier layer


def furnish(
    count: int, ends: Indices, shares: list[float], rng: np.random.Generator, name: str
) -> StreamGraph:
    """Return a graph with streams `ends` and random selectivities, costs and payloads.

    A filter keeps 0.3 to 1 of its tuples; a fan-out emits 1 to 3 tuples per input tuple; an
    operator with several successors copies its tuples to all of them or splits them among them.
    Total CPU work is that of 2 to 5 devices (2500 MIPS at 10,000 tuples/s). It is divided among
    operators in proportion to uniform numbers, redrawn until no operator needs more than one
    device. Payloads are uniform from 0 to a maximum that is drawn per graph, at most half a Mbit.

    Parameters
    ----------
    ends
        (E, 2) source and target of each stream, sorted by source; source < target.
    shares
        Shares of the source rate, one per operator without inputs, in order.
    """
    selectivity, rate = _selectivities(count, ends, shares, rng)
    high = min(MAX_LOAD, count / MIN_OPERATORS_PER_DEVICE)
    low = min(MIN_LOAD, high / 2)
    load = low + (high - low) * rng.random()
    while True:
        drawn = rng.random(count)
        work = drawn * (load / math.fsum(drawn.tolist()))
        if work.max() <= 1.0:
            break
    max_payload = MAX_PAYLOAD_MBIT * BYTES_PER_MBIT * rng.random()
    payload = rng.random(count) * max_payload
    emits = np.bincount(ends[:, 0], minlength=count) > 0
    sources = np.flatnonzero(np.bincount(ends[:, 1], minlength=count) == 0).tolist()
    names = [f"op_{v}" for v in range(count)]
    return StreamGraph.from_columns(
        names,
        work * INSTRUCTIONS_PER_DEVICE / rate,
        np.where(emits, payload, 0.0),
        ends,
        selectivity=selectivity,
        name=name,
        source_rate=SOURCE_RATE,
        source_shares={names[v]: share for v, share in zip(sources, shares, strict=True)},
    )


def _selectivities(
    count: int, ends: Indices, shares: list[float], rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw the selectivity of each stream, (E,); return them and the operators' rates, (V,)."""
    inputs = np.bincount(ends[:, 1], minlength=count).tolist()
    outputs = np.bincount(ends[:, 0], minlength=count).tolist()
    targets = ends[:, 1].tolist()
    values = iter(shares)
    rate, just_split = [0.0] * count, [0.0] * count
    selectivity: list[float] = []
    for v, (kind, amount, copies) in enumerate(rng.random((count, 3)).tolist()):
        if not inputs[v]:
            rate[v] = just_split[v] = next(values)
        if not outputs[v]:
            continue
        kept = 1.0
        if kind < FILTERS:
            kept = 0.3 + 0.7 * amount
        elif kind > 1.0 - FAN_OUTS:
            kept = 1.0 + 2.0 * amount
        if not LOWEST * just_split[v] <= rate[v] * kept <= HIGHEST * just_split[v]:
            kept = 1.0
        if copies > COPIES or rate[v] * kept * outputs[v] > HIGHEST * just_split[v]:
            kept /= outputs[v]
        for target in targets[len(selectivity) : len(selectivity) + outputs[v]]:
            rate[target] += rate[v] * kept
            just_split[target] += just_split[v] / outputs[v]
        selectivity += [kept] * outputs[v]
    return np.array(selectivity), np.array(rate)


def series_parallel(count: int, rng: np.random.Generator, name: str) -> StreamGraph:
    """Return a graph of `count` operators, at least 2.

    It grows from one stream, from the source to the sink. Each step picks a random stream u -> v
    and either replaces it with u -> w -> v for a new operator w (series), or adds u -> w -> v next
    to it (parallel).
    """
    steps = rng.random((count - 2, 2)).tolist()
    ends = [(0, 1)]
    for w, (where, how) in enumerate(steps, start=2):
        chosen = int(where * len(ends))
        u, v = ends[chosen]
        if how < SERIES:
            ends[chosen] = (u, w)
        else:
            ends.append((u, w))
        ends.append((w, v))
    return furnish(count, *_renumber(count, ends), rng, name)


def _renumber(count: int, ends: list[tuple[int, int]]) -> tuple[np.ndarray, list[float]]:
    """Renumber operators topologically, breadth first; return sorted ends and source shares."""
    after: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for u, v in ends:
        after[u].append(v)
        waiting[v] += 1
    order = [0]
    for u in order:
        for v in after[u]:
            waiting[v] -= 1
            if waiting[v] == 0:
                order.append(v)
    number = np.empty(count, dtype=np.int64)
    number[order] = np.arange(count)
    renumbered = number[np.array(ends)]
    return renumbered[np.lexsort((renumbered[:, 1], renumbered[:, 0]))], [1.0]


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
