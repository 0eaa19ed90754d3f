"""The critical-path expert of DOPPLER: the longest path first, on the device that is free first."""

from collections.abc import Sequence

import numpy as np

from sim.orders import b_levels
from streamplace.errors import UnsuitableError
from streamplace.policy.partial.costs import Costs, mean_messages, partial_costs
from streamplace.policy.partial.state import (
    BEST,
    OF_DEVICE,
    device_features,
    nothing_placed,
    put_next,
)
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled_pass import compiled_pass
from streamplace.util.arrays import Bools, Floats, Ints

TOLERANCE = 1e-9  # relative: equal sums of times may differ by rounding


class CriticalPath:
    """The expert that selects the longest path to an exit, and the earliest start.

    The best operators are those of highest b-level: computing times and messages on the longest
    path to an exit. The best devices are those on which the operator can start earliest, after all
    operators placed there and when its inputs have arrived.

    Raises
    ------
    UnsuitableError
        If the objective of a problem is not the makespan.
    """

    def __init__(self, problems: Sequence[Problem], samples: int) -> None:
        for problem in problems:
            if not isinstance(problem.objective, Makespan):
                fault = "needs makespans; for throughput, use 'least-utilisation'"
                raise UnsuitableError(f"teacher 'critical-path': {fault}")
        self._samples = samples
        self._costs = [partial_costs(problem) for problem in problems]
        self._levels = [levels_to_exit(costs) for costs in self._costs]
        self._placed = [nothing_placed(costs, samples) for costs in self._costs]
        self._allowed = [_allowed(problem) for problem in problems]
        self._devices = max(costs.seconds.shape[1] for costs in self._costs)

    def select(self, candidates: Bools) -> Bools:
        """Return the best operators of a step; see `Selecting`."""
        best = np.zeros_like(candidates)
        for p in range(len(candidates) // self._samples):
            rows, levels = self._rows(p), self._levels[p]
            offered = candidates[rows, : len(levels)]
            highest = np.where(offered, levels, -np.inf).max(axis=1, keepdims=True)
            best[rows, : len(levels)] = offered & (levels >= highest * (1.0 - TOLERANCE))
        return best

    def judge(self, operators: Ints, devices: Ints) -> Bools:
        """Return the best devices of a step, then advance; see `Expert`."""
        best = np.zeros((len(operators), self._devices), np.bool_)
        for p in range(len(operators) // self._samples):
            rows, costs, placed = self._rows(p), self._costs[p], self._placed[p]
            those = np.ascontiguousarray(operators[rows], np.int32)
            count = costs.seconds.shape[1]
            features = np.empty((self._samples, count, OF_DEVICE))
            device_features(costs, placed, those, features)
            offered = self._allowed[p][those]
            start = np.where(offered, features[:, :, BEST], np.inf)
            earliest = start.min(axis=1, keepdims=True)
            is_best = start <= earliest + TOLERANCE * np.abs(earliest)
            best[rows, :count] = is_best & offered
            put_next(costs, placed, those, np.ascontiguousarray(devices[rows], np.int32), False)
        return best

    def _rows(self, p: int) -> slice:
        """Return the rows of a problem."""
        return slice(p * self._samples, (p + 1) * self._samples)


def levels_to_exit(costs: Costs) -> Floats:
    """Return the b-level of each operator, (V,): the cost of its longest path to an exit."""
    return b_levels(costs.source, costs.target, costs.mean, mean_messages(costs))


def _allowed(problem: Problem) -> Bools:
    """Return the devices that may run each operator, (V, D)."""
    allowed, row_of = compiled_pass(problem).masks
    return np.asarray(allowed[row_of], dtype=np.bool_)
