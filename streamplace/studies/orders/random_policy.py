"""The uniformly random policy: sweeps like those of Placeto, with no policy at all."""

from collections.abc import Sequence

import numpy as np

from streamplace.problem.problem import Problem
from streamplace.scoring.registry import makespan_evaluator
from streamplace.util.arrays import Floats, Ints


def random_sweeps(
    problem: Problem, orders: Ints, seeds: Sequence[Sequence[int]], checkpoints: Sequence[int]
) -> Floats:
    """Return the shortest makespans that runs of random sweeps have found, (R, C), in seconds.

    A sweep visits every operator once, puts it on a device drawn uniformly, and evaluates the
    placement after each of these steps. The first sweep starts with all operators on the first
    device, every other one from the best placement so far. Constraints do not count.

    Parameters
    ----------
    orders
        (R, V) the operators in the order in which each run visits them.
    seeds
        A seed for each run.
    checkpoints
        Numbers of sweeps, ascending; the last one ends the runs.
    """
    runs, operators = orders.shape
    scored, devices = makespan_evaluator(problem), len(problem.cluster.devices)
    draws = [np.random.default_rng(list(seed)) for seed in seeds]
    best = np.zeros((runs, operators), dtype=np.int32)
    shortest = scored.makespans(best)
    every, found = np.arange(runs), []
    for sweep in range(1, checkpoints[-1] + 1):
        rows = best.copy()
        chosen = np.stack([rng.integers(devices, size=operators, dtype=np.int32) for rng in draws])
        for step in range(operators):
            rows[every, orders[:, step]] = chosen[:, step]
            seconds = scored.makespans(rows)
            shorter = seconds < shortest
            best[shorter] = rows[shorter]
            shortest = np.minimum(shortest, seconds)
        if sweep in checkpoints:
            found.append(shortest.copy())
    return np.stack(found, axis=1)
