"""Enumeration of all placements of several jobs together."""

from math import prod

import numpy as np

from streamplace.placers.jobs.improvement import feasible_rows, is_better
from streamplace.scoring.joint import JointProblem
from streamplace.util.arrays import Ints

MOST = 300_000  # joint placements that take a second or two
FEW = 20_000  # those that take less time than a search
CHUNK = 4096


def is_small(joint: JointProblem, most: int = MOST) -> bool:
    """Return whether all joint placements can be enumerated."""
    choices: list[int] = joint.union.feasibility.allowed.sum(axis=1).tolist()
    return prod(choices) <= most


def best_of_all(joint: JointProblem) -> Ints | None:
    """Return the best joint placement, (V,), by `JointProblem.worth`; None if none is feasible."""
    rules = joint.union.feasibility
    choices = [np.flatnonzero(row) for row in rules.allowed]
    shape = tuple(len(devices) for devices in choices)
    best = None
    for begin in range(0, prod(shape), CHUNK):
        numbers = np.arange(begin, min(begin + CHUNK, prod(shape)))
        digits = np.unravel_index(numbers, shape)
        rows = np.stack(
            [c[d] for c, d in zip(choices, digits, strict=True)], axis=1, dtype=np.int32
        )
        rows = rows[feasible_rows(joint.union, rows)]
        if not len(rows):
            continue
        worths = joint.worth(rows[:, rules.unit_of])
        top = max(range(len(rows)), key=lambda k: tuple(worths[k]))
        if best is None or is_better(worths[top], best[1]):
            best = rows[top], worths[top]
    return None if best is None else best[0][rules.unit_of]
