"""Selectivities, costs and payloads for a given shape: filters, splits, copies and fan-outs."""

import math

import numpy as np
from numpy.typing import NDArray

from streamplace.generate.defaults import INSTRUCTIONS_PER_DEVICE, SOURCE_RATE
from streamplace.problem.graph import StreamGraph
from streamplace.util.arrays import Floats
from streamplace.util.units import BYTES_PER_MBIT

Indices = NDArray[np.int64]

HIGHEST, LOWEST = 4.0, 0.1  # of the rate if every operator just split: nothing leads beyond
FILTERS, FAN_OUTS, COPIES = 0.25, 0.15, 0.5  # how often
LEAST_LOAD, MOST_LOAD = 2.0, 5.0  # devices; less for graphs of few operators
OPERATORS_PER_DEVICE = 2.0  # at least, so that none needs more than a device
LARGEST_PAYLOAD_MBIT = 0.5


def furnish(
    count: int, ends: Indices, shares: list[float], rng: np.random.Generator, name: str
) -> StreamGraph:
    """Return a graph of the shape `ends`, with numbers drawn.

    A filter keeps 0.3 to 1 of its tuples, a fan-out makes 1 to 3 of each; operators with several
    successors copy to each or split among them. Total CPU work is 2 to 5 devices (2500 MIPS at
    10,000 tuples/s), shared like uniform numbers, redrawn until no operator needs more than one
    device; payloads are uniform up to half a Mbit at most.

    Parameters
    ----------
    ends
        (E, 2) source and target of the streams, sorted by source; source < target.
    shares
        Of the source rate, for the operators without inputs in order.
    """
    selectivity, rate = _selectivities(count, ends, shares, rng)
    most = min(MOST_LOAD, count / OPERATORS_PER_DEVICE)
    least = min(LEAST_LOAD, most / 2)
    load = least + (most - least) * rng.random()
    while True:
        drawn = rng.random(count)
        work = drawn * (load / math.fsum(drawn.tolist()))
        if work.max() <= 1.0:
            break
    largest = LARGEST_PAYLOAD_MBIT * BYTES_PER_MBIT * rng.random()
    payload = rng.random(count) * largest
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
