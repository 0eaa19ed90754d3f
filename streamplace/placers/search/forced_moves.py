"""The fewest moves after which a placement satisfies constraints and memory limits."""

from itertools import combinations, islice

import numpy as np

from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.repair import assign
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints

MAX_EVICTED = 3  # units that make room for others, at most; beyond them the search takes too long
MAX_TRIES = 500  # sets of units to try
STEPS = 2_000  # backtracking steps per set, beyond one step per unit


def with_fewest_moves(problem: Problem, current_device: Ints, draft: Ints) -> Ints | None:
    """Return devices of units, (U,), on which as few units as possible leave their device.

    Units without a device go to a device with room; only if there is none, others move too, as few
    as possible. The result is None if no such placement is found.

    Parameters
    ----------
    current_device
        (U,) devices; -1 for units that have none.
    draft
        (U,) preferred devices of units without one.
    """
    rules = problem.feasibility
    allowed = [np.flatnonzero(row).tolist() for row in rules.allowed]
    settled = np.flatnonzero(current_device >= 0).tolist()
    preferred = [
        [d] if d >= 0 else [draft[u], *(other for other in allowed[u] if other != draft[u])]
        for u, d in enumerate(current_device.tolist())
    ]
    in_the_way = _candidates(problem, settled)
    several = (
        evicted for count in range(MAX_EVICTED + 1) for evicted in combinations(in_the_way, count)
    )
    for evicted in islice(several, MAX_TRIES):
        choices = list(preferred)
        for u in evicted:
            choices[u] = [d for d in allowed[u] if d != current_device[u]]
        try:
            return assign(problem, choices, STEPS)
        except (InfeasibleError, PlacementError):
            continue
    return None


def _candidates(problem: Problem, settled: list[int]) -> list[int]:
    """Return the units that can be in the way of others, those with the least memory first."""
    rules = problem.feasibility
    apart = {u for group in rules.excluding for u in group}
    memory = rules.unit_memory
    units = [u for u in settled if memory[u] > 0 or u in apart]
    return sorted(units, key=lambda u: memory[u])
