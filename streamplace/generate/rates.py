"""Random selectivities, costs and payloads for a graph of known shape."""

import math

import numpy as np
from numpy.typing import NDArray

from streamplace.generate.draw import INSTRUCTIONS_PER_DEVICE, SOURCE_RATE
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
