"""Exhaustive search of all placements, or of all within a number of moves, for small problems."""

from collections.abc import Iterator
from itertools import combinations, islice
from math import comb

import numpy as np

from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.quality import qualities_of_rows
from streamplace.util.arrays import Floats, Ints

CHUNK = 20_000  # placements scored per call


def count_of(current_device: Ints, devices: int, moves: int) -> int:
    """Return the number of placements in which at most `moves` units leave their current device.

    Parameters
    ----------
    current_device
        (U,) devices; -1 for units that may go anywhere.
    """
    settled = int((current_device >= 0).sum())
    near = sum(comb(settled, k) * (devices - 1) ** k for k in range(min(moves, settled) + 1))
    return int(near * devices ** (len(current_device) - settled))


def best_of_all(
    problem: Problem, current_device: Ints, migration_cost: Floats, moves: int, start: Placement
) -> Placement:
    """Return the best placement within `moves` moves, or `start` if no other is better.

    Parameters
    ----------
    current_device
        (U,) devices; -1 for units that may go anywhere.
    migration_cost
        (U,) number of moves that moving each unit counts as.
    """
    rules, best = problem.feasibility, start
    reached = float(qualities_of_rows(problem, start.devices[None])[0])
    placements = _placements(current_device, migration_cost, len(problem.cluster.devices), moves)
    while len(chunk := list(islice(placements, CHUNK))):
        rows = np.stack(chunk)[:, rules.unit_of]
        scores = qualities_of_rows(problem, rows)
        for i in np.argsort(-scores, kind="stable"):
            if scores[i] <= reached:
                break
            if rules.violation(rows[i]) is None:
                best, reached = Placement(problem, rows[i]), float(scores[i])
                break
    return best


def cheapest_of_all(problem: Problem, as_good: float) -> Placement | None:
    """Return the placement with the fewest devices, then the least traffic, among the good ones.

    All placements are tried. The result is None if none is feasible.

    Parameters
    ----------
    as_good
        Share of the best quality that is good enough.
    """
    rules, arrays = problem.feasibility, flow(problem)
    anywhere = np.full(rules.unit_count, -1, dtype=np.int32)
    devices = len(problem.cluster.devices)
    on = np.stack(list(_placements(anywhere, np.zeros(len(anywhere)), devices, 0)))
    rows = on[:, rules.unit_of]
    reached = qualities_of_rows(problem, rows)
    order = np.argsort(-reached, kind="stable")
    best = next((i for i in order if rules.violation(rows[i]) is None), None)
    if best is None:
        return None
    rows = rows[reached >= as_good * reached[best]]
    used = (rows[:, :, None] == np.arange(devices)).any(axis=1).sum(axis=1)
    crossing = rows[:, arrays.source] != rows[:, arrays.target]
    cheapest = np.lexsort((crossing @ arrays.stream_bits, used))
    return Placement(problem, next(rows[i] for i in cheapest if rules.violation(rows[i]) is None))


def _placements(
    current_device: Ints, migration_cost: Floats, devices: int, moves: int
) -> Iterator[Ints]:
    """Yield every placement once, as devices of units, (U,)."""
    free, settled = np.flatnonzero(current_device < 0), np.flatnonzero(current_device >= 0)
    for anywhere in np.ndindex(*(devices,) * len(free)):
        on = current_device.copy()
        on[free] = anywhere
        for count in range(min(moves, len(settled)) + 1):
            for some in combinations(settled.tolist(), count):
                if migration_cost[list(some)].sum() > moves:
                    continue
                for steps in np.ndindex(*(devices - 1,) * count):
                    moved = on.copy()
                    moved[list(some)] = (
                        current_device[list(some)] + 1 + np.array(steps, np.int32)
                    ) % devices
                    yield moved
