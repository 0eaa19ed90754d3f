"""All placements there are, or all that are at most some moves away, where they are few."""

from collections.abc import Iterator
from itertools import combinations, islice
from math import comb

import numpy as np

from streamplace.arrays import Floats, Ints
from streamplace.placement import Placement
from streamplace.placers.base import throughputs_of_rows
from streamplace.problem import Problem

CHUNK = 20_000  # placements scored a call


def count_of(home: Ints, devices: int, moves: int) -> int:
    """Return how many placements have at most so many units away from home.

    Parameters
    ----------
    home
        (U,) devices; -1 for units that may go anywhere.
    """
    settled = int((home >= 0).sum())
    near = sum(comb(settled, k) * (devices - 1) ** k for k in range(min(moves, settled) + 1))
    return int(near * devices ** (len(home) - settled))


def best_of_all(
    problem: Problem, home: Ints, toll: Floats, moves: int, start: Placement
) -> Placement:
    """Return the best placement within so many moves, `start` if none is better.

    Parameters
    ----------
    home
        (U,) devices; -1 for units that may go anywhere.
    toll
        (U,) moves that moving a unit counts as.
    """
    rules, best = problem.feasibility, start
    reached = float(throughputs_of_rows(problem, start.devices[None])[0])
    placements = _placements(home, toll, len(problem.cluster.devices), moves)
    while len(chunk := list(islice(placements, CHUNK))):
        rows = np.stack(chunk)[:, rules.unit_of]
        found = throughputs_of_rows(problem, rows)
        for i in np.argsort(-found, kind="stable"):
            if found[i] <= reached:
                break
            if rules.violation(rows[i]) is None:
                best, reached = Placement(problem, rows[i]), float(found[i])
                break
    return best


def _placements(home: Ints, toll: Floats, devices: int, moves: int) -> Iterator[Ints]:
    """Yield devices of units, (U,), every placement once."""
    free, settled = np.flatnonzero(home < 0), np.flatnonzero(home >= 0)
    for anywhere in np.ndindex(*(devices,) * len(free)):
        on = home.copy()
        on[free] = anywhere
        for count in range(min(moves, len(settled)) + 1):
            for some in combinations(settled.tolist(), count):
                if toll[list(some)].sum() > moves:
                    continue
                for steps in np.ndindex(*(devices - 1,) * count):
                    moved = on.copy()
                    moved[list(some)] = (home[list(some)] + 1 + np.array(steps, np.int32)) % devices
                    yield moved
