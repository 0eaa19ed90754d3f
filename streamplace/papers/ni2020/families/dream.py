"""The branched operator benchmark: a source, b parallel branches of l operators, and a sink.

The parameters are those of Ni et al. 2020 (section on the benchmark) and of the released files: 40
classes, CPU work for two to five devices, equal costs within a stage, payloads up to half a Mbit.
"""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from streamplace.errors import UsageError
from streamplace.families.family import INSTRUCTIONS_PER_DEVICE, SOURCE_RATE, Draw
from streamplace.problem.graph import StreamGraph
from streamplace.util.units import BYTES_PER_MBIT

# rows: load in devices; graphs per class in the published 3,150; classes as (branches, length)
TABLE: tuple[tuple[int, int, tuple[tuple[int, int], ...]], ...] = (
    (2, 50, (*((1, length) for length in range(2, 11)),
             (2, 2), (3, 2), (4, 2), (5, 2), (2, 3), (3, 3), (2, 4), (2, 5))),
    (3, 100, ((2, 6), (6, 2), (3, 4), (4, 3), (5, 3), (3, 5), (2, 7), (7, 2))),
    (4, 100, ((3, 6), (6, 3), (5, 4), (4, 5), (2, 10), (10, 2), (7, 3), (3, 7))),
    (5, 100, ((4, 6), (6, 4), (5, 5), (3, 8), (8, 3), (2, 12), (12, 2))),
)  # fmt: skip
CLASSES = tuple(
    (load, graphs, branches, length)
    for load, graphs, shapes in TABLE
    for branches, length in shapes
)
END_INSTRUCTIONS = 10_000.0  # per tuple, of the source and of the sink
MAX_PAYLOAD_MBIT = 0.5
LOAD_OF_SMALL_PAYLOADS = 2  # with this load, each graph first draws its largest payload


class Dream:
    """Generator of the benchmark's graphs; the number of a graph determines its class."""

    def check(self, count: int, sizes: range | None) -> None:
        """Refuse numbers of operators that no class has."""
        if not classes_for(count, sizes):
            sizes_of_classes = sorted({2 + c[2] * c[3] for c in CLASSES})
            known = ", ".join(map(str, sizes_of_classes))
            raise UsageError(f"no class of dream has that many operators; choose from {known}")

    def graph(self, draw: Draw) -> StreamGraph:
        """Return one graph."""
        classes = classes_for(draw.count, draw.sizes)
        return branched(*classes[draw.number], draw.rng(), draw.name)


@cache
def classes_for(count: int, sizes: range | None) -> tuple[tuple[int, int, int], ...]:
    """Return the (load, branches, length) of each of `count` graphs, in the table's order.

    The number of graphs per class is proportional to the table's (largest remainder method).
    `sizes` restricts the classes to those whose number of operators it contains.
    """
    kept = [c for c in CLASSES if sizes is None or 2 + c[2] * c[3] in sizes]
    if not kept:
        return ()
    shares = largest_remainder(count, [graphs for _, graphs, _, _ in kept])
    return tuple(
        (load, branches, length)
        for (load, _, branches, length), share in zip(kept, shares, strict=True)
        for _ in range(share)
    )


def branched(
    load: int, branches: int, length: int, rng: np.random.Generator, name: str
) -> StreamGraph:
    """Return one graph with `branches` x `length` operators between a source and a sink.

    Parameters
    ----------
    load
        Total CPU work, in devices of 2500 MIPS at 10,000 tuples/s.
    """
    per_tuple = load * INSTRUCTIONS_PER_DEVICE - 2 * END_INSTRUCTIONS
    while True:
        drawn = rng.random(length).tolist()
        total = math.fsum(drawn)
        stages = [per_tuple * u / total for u in drawn]
        if max(stages) <= INSTRUCTIONS_PER_DEVICE * branches:
            break
    max_payload = MAX_PAYLOAD_MBIT
    if load == LOAD_OF_SMALL_PAYLOADS:
        max_payload *= rng.random()
    inner = branches * length
    payloads = rng.random(inner + 1) * (max_payload * BYTES_PER_MBIT)
    costs = [END_INSTRUCTIONS, *np.repeat(stages, branches), END_INSTRUCTIONS]
    index = np.arange(1, inner + 1)
    before = np.maximum(index - branches, 0)  # operators are numbered stage by stage
    ends = np.concatenate(
        [
            np.stack([before, index], axis=1),
            np.stack([index[-branches:], np.full(branches, inner + 1)], axis=1),
        ]
    )
    return StreamGraph.from_columns(
        [f"op_{v}" for v in range(inner + 2)],
        costs,
        [*payloads, 0.0],
        ends,
        selectivity=np.where(ends[:, 0] == 0, 1.0 / branches, 1.0),
        name=name,
        source_rate=SOURCE_RATE,
    )


def largest_remainder(total: int, weights: Sequence[int]) -> list[int]:
    """Divide `total` into whole numbers in proportion to `weights`; ties go to the first."""
    weight_sum = sum(weights)
    shares = [total * weight // weight_sum for weight in weights]
    remainders = [total * weight % weight_sum for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda i: -remainders[i])
    for i in by_remainder[: total - sum(shares)]:
        shares[i] += 1
    return shares
