"""Invariance of makespans to other names, orders, units and sizes of tuples.

Changes of units are by powers of two, which floating point does without rounding, so that every
moment must be the same number times a power of two.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from benchmarks.hardening.campaigns.invariants.deviations import (
    EXACT,
    largest_difference,
    relative_difference,
)
from benchmarks.reference.changes import (
    in_larger_batches,
    in_other_time,
    in_other_units,
    renamed,
    restreamed,
)
from streamplace import Placement
from streamplace.scoring.makespan_score import MakespanScore
from streamplace.scoring.registry import makespan_score

PREFIX = "new "  # of names, from `renamed`


@dataclass(frozen=True)
class PassChange:
    """A change of a placement after which all times are those before, divided by `factor`.

    Parameters
    ----------
    what
        A description of the change.
    change
        Returns the changed placement; all random choices come from the generator.
    factor
        The factor by which everything becomes faster.
    prefix
        The prefix that the change adds to names.
    tolerance
        The largest relative difference that counts as rounding.
    """

    what: str
    change: Callable[[Placement, np.random.Generator], Placement]
    factor: float = 1.0
    prefix: str = ""
    tolerance: float = 0.0


def names_and_order(placement: Placement, rng: np.random.Generator) -> Placement:
    """Rename operators and devices, and shuffle devices and streams.

    Operators stay in order, since ties are broken by their indices.
    """
    problem, streams = placement.problem, list(placement.problem.graph.streams)
    problem = restreamed(problem, [streams[i] for i in rng.permutation(len(streams))])
    devices = rng.permutation(len(problem.cluster.devices)).tolist()
    moved = np.argsort(devices)[placement.devices]
    return Placement(renamed(problem, range(len(moved)), devices), moved.astype(np.int32))


def order_of_operators(placement: Placement, rng: np.random.Generator) -> Placement:
    """Rename operators and devices, and shuffle operators."""
    operators = rng.permutation(len(placement.devices))
    devices = range(len(placement.problem.cluster.devices))
    other = renamed(placement.problem, operators.tolist(), devices)
    return Placement(other, placement.devices[operators])


CHANGES = (
    PassChange("makespans: other names, devices and streams in another order", names_and_order,
               prefix=PREFIX, tolerance=EXACT),
    PassChange("makespans: instructions and bytes in another unit",
               lambda one, _: Placement(in_other_units(one.problem, 4.0), one.devices)),
    PassChange("makespans: everything 1,024 times as fast",
               lambda one, _: Placement(in_other_time(one.problem, 1024.0), one.devices),
               factor=1024.0),
    PassChange("makespans: batches of 8 times as many tuples, each an eighth",
               lambda one, _: Placement(in_larger_batches(one.problem, 8), one.devices)),
)  # fmt: skip
REORDERED = PassChange(
    "makespans: operators in another order, where none tie", order_of_operators,
    prefix=PREFIX, tolerance=EXACT,
)  # fmt: skip
BOUNDS_REORDERED = "makespans: bounds, operators in another order"


def difference(one: MakespanScore, other: Placement, change: PassChange) -> float:
    """Return the largest difference between a score and that of the changed placement."""
    second = makespan_score(other)
    if second.order != one.order:
        return inf
    factor, prefix = change.factor, change.prefix
    numbers = [
        (one.makespan_s, second.makespan_s * factor),
        (one.deviation_s or 0.0, (second.deviation_s or 0.0) * factor),
        *bounds(one, second, factor),
        (one.slr, second.slr),
        (one.slr_shortest, second.slr_shortest),
    ]
    times = {f"{prefix}{row['operator']}": row for row in one.schedule}
    for row in second.schedule:
        earlier = times[row["operator"]]
        if f"{prefix}{earlier['device']}" != row["device"]:
            return inf
        numbers += [(earlier[name], row[name] * factor) for name in ("start_s", "finish_s")]
    before, after = _loads(one, prefix), _loads(second)
    if before.keys() != after.keys():
        return inf
    numbers += [(before[name], after[name]) for name in before]
    return largest_difference(relative_difference(a, b) for a, b in numbers)


def bounds_differ(one: MakespanScore, other: Placement) -> float:
    """Return the largest difference between the bounds of two problems, of which one is scored."""
    second = makespan_score(other)
    return largest_difference(relative_difference(a, b) for a, b in bounds(one, second))


def bounds(
    one: MakespanScore, second: MakespanScore, factor: float = 1.0
) -> list[tuple[float, float]]:
    """Return the pairs of bounds that must be equal."""
    return [
        (one.bound_s or 0.0, (second.bound_s or 0.0) * factor),
        (one.fastest.longest, second.fastest.longest * factor),
        (one.fastest.shortest, second.fastest.shortest * factor),
    ]


def _loads(score: MakespanScore, prefix: str = "") -> dict[tuple[str | None, ...], float]:
    """Return the busy shares of devices and channels by the names of devices."""

    def named(end: str | None) -> str | None:
        return end and f"{prefix}{end}"

    loads: dict[tuple[str | None, ...], float] = {
        (named(load.name),): load.utilisation for load in score.devices
    }
    return loads | {(named(one.source), named(one.target)): one.utilisation for one in score.links}
