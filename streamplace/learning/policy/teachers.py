"""Teachers: experts that name the best actions in the states that a policy reaches.

They are the least utilisation and DOPPLER's critical path.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from streamplace.errors import UnsuitableError
from streamplace.learning.policy.config import EXPERTS
from streamplace.learning.policy.encoded import Encoded, lookahead_problem
from streamplace.learning.policy.partial import Costs
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import parts_of_pass
from streamplace.sim.lookahead import (
    CANDIDATE_FEATURES,
    candidate_features,
    collate,
    place_next,
)
from streamplace.sim.lookahead import nothing_placed as empty_state
from streamplace.sim.orders import b_levels
from streamplace.util.arrays import Bools, Floats, Ints

ROUNDING = 1e-9  # relative: equal sums of times may differ by rounding
Ties: TypeAlias = Literal["any", "each"]
HIGHEST = CANDIDATE_FEATURES.index("highest")
TOLERANCE = 1e-5  # relative: features are single precision


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
        _check_objectives("critical-path", problems)
        self._samples = samples
        self._costs = [Costs.of(problem) for problem in problems]
        self._levels = [levels_to_exit(costs) for costs in self._costs]
        self._placed = [costs.nothing_placed(samples) for costs in self._costs]
        self._allowed = [_devices_allowed_in_pass(problem) for problem in problems]
        self._devices = max(costs.seconds.shape[1] for costs in self._costs)

    def select(self, candidates: Bools) -> Bools:
        """Return the best operators of a step; see `Selecting`."""
        best = np.zeros_like(candidates)
        for p in range(len(candidates) // self._samples):
            rows, levels = self._rows(p), self._levels[p]
            offered = candidates[rows, : len(levels)]
            highest = np.where(offered, levels, -np.inf).max(axis=1, keepdims=True)
            best[rows, : len(levels)] = offered & (levels >= highest * (1.0 - ROUNDING))
        return best

    def judge(self, operators: Ints, devices: Ints) -> Bools:
        """Return the best devices of a step, then advance; see `Expert`."""
        best = np.zeros((len(operators), self._devices), np.bool_)
        for p in range(len(operators) // self._samples):
            rows, costs, placed = self._rows(p), self._costs[p], self._placed[p]
            those = np.ascontiguousarray(operators[rows], np.int32)
            count = costs.seconds.shape[1]
            _, starts = placed.device_features(costs, those)
            offered = self._allowed[p][those]
            start = np.where(offered, starts, np.inf)
            earliest = start.min(axis=1, keepdims=True)
            is_best = start <= earliest + ROUNDING * np.abs(earliest)
            best[rows, :count] = is_best & offered
            placed.put(costs, those, np.ascontiguousarray(devices[rows], np.int32))
        return best

    def _rows(self, p: int) -> slice:
        """Return the rows of a problem."""
        return slice(p * self._samples, (p + 1) * self._samples)


def levels_to_exit(costs: Costs) -> Floats:
    """Return the b-level of each operator, (V,): the cost of its longest path to an exit."""
    return b_levels(costs.source, costs.target, costs.mean, costs.mean_messages)


def _devices_allowed_in_pass(problem: Problem) -> Bools:
    """Return the devices that may run each operator, (V, D)."""
    allowed, row_of = parts_of_pass(problem).masks
    return np.asarray(allowed[row_of], dtype=np.bool_)


class Expert(Protocol):
    """An expert that follows S samples of each of P problems: R = P·S rows, grouped by problem.

    Problems are sorted by size, largest first, so a step concerns the first R' rows.
    """

    def judge(self, operators: Ints, devices: Ints) -> Bools:
        """Return the best devices of a step, then advance with the devices that the policy chose.

        Parameters
        ----------
        operators
            (R',) the operators of the step, as indices within each row's problem.
        devices
            (R',) the policy's choice.

        Returns
        -------
        (R', D) bool
            Whether a device is best; several may be equally good. D is the largest number of
            devices of any problem.
        """
        ...


@runtime_checkable
class Selecting(Protocol):
    """An expert that also names the operators to place next, for policies that select them."""

    def select(self, candidates: Bools) -> Bools:
        """Return the best operators of a step, (R', V), before it is judged.

        Parameters
        ----------
        candidates
            (R', V) bool, whether an operator can be next. V is the largest number of operators of
            any problem.
        """
        ...


@dataclass(frozen=True)
class Teacher:
    """A kind of expert, and the rule for its ties.

    Attributes
    ----------
    expert
        A function that creates an expert from problems, largest first, and a number of samples.
    ties
        How to combine the log-probabilities of equally good actions: ``any`` is the log-probability
        of choosing any of them, log Σ π; ``each`` is the sum over them, Σ log π (as in the released
        code of DOPPLER).
    """

    expert: Callable[[Sequence[Problem], int], Expert]
    ties: Ties = "any"

    def follow(self, encoded: Sequence[Encoded], samples: int) -> Expert:
        """Return an expert at the start of rollouts."""
        return self.expert([one.problem for one in encoded], samples)

    @staticmethod
    def selected(expert: Expert, candidates: Bools) -> Bools | None:
        """Return an expert's best operators of a step, (R', V); None if it names none.

        See `Selecting`.
        """
        return expert.select(candidates) if isinstance(expert, Selecting) else None

    def agreement(self, logs: Tensor, best: Tensor) -> Tensor:
        """Return the log-probability, (N,), of the best actions.

        Parameters
        ----------
        logs
            (N, D) log-probabilities of all actions.
        best
            (N, D) bool. The result is 0 for a row without a best action that the policy offers.
        """
        none = ~best.any(dim=1)
        if self.ties == "each":
            return (logs * best).sum(dim=1)
        chosen = logs.masked_fill(~best & ~none.unsqueeze(1), -torch.inf)
        return torch.logsumexp(chosen, dim=1).masked_fill(none, 0.0)


class LeastUtilisation:
    """The expert that places each operator where the largest utilisation stays lowest.

    The best device minimises the largest utilisation among the devices and links that the choice
    affects. It therefore also minimises the largest utilisation overall; if several devices do, it
    is the one that keeps the affected devices and links least used. Where the policy selects
    operators, the best ones are those with the most work.

    Raises
    ------
    UnsuitableError
        If the objective of a problem is not throughput.
    """

    def __init__(self, problems: Sequence[Problem], samples: int) -> None:
        _check_objectives("least-utilisation", problems)
        arrays = [lookahead_problem(problem) for problem in problems]
        rows = np.repeat(np.arange(len(problems), dtype=np.int32), samples)
        self._problems = collate(arrays)
        self._placed = empty_state(self._problems, rows)
        self._kind = _pad([one.kind for one in arrays])[rows]
        self._work = _pad([one.flow.work for one in arrays])[rows]

    def select(self, candidates: Bools) -> Bools:
        """Return the operators with the most work; see `Selecting`."""
        return _lowest(-self._work[: len(candidates)], candidates)

    def judge(self, operators: Ints, devices: Ints) -> Bools:
        """Return the best devices of a step, then advance; see `Expert`."""
        shape = (len(operators), self._kind.shape[1])
        features = np.empty((*shape, len(CANDIDATE_FEATURES)), np.float32)
        offered = np.empty(shape, np.bool_)
        candidate_features(self._problems, self._placed, operators, features, offered)
        best = self._with_equals(_lowest(features[:, :, HIGHEST], offered))
        place_next(self._problems, self._placed, operators, devices)
        return best

    def _with_equals(self, best: Bools) -> Bools:
        """Add the empty devices, (R', D), that are equal to an empty best device."""
        rows = len(best)
        empty = self._placed.operators_on[:rows] == 0
        kind = self._kind[:rows]
        same = (kind[:, :, None] == kind[:, None, :]) & empty[:, :, None] & empty[:, None, :]
        equal: Bools = best | (same & best[:, None, :]).any(axis=2)
        return equal


TEACHERS: dict[str, Callable[[Sequence[Problem], int], Expert]] = {
    "least-utilisation": LeastUtilisation,
    "critical-path": CriticalPath,
}
"""The experts by name."""


def _check_objectives(name: str, problems: Sequence[Problem]) -> None:
    """Refuse objectives that an expert does not support."""
    needed = EXPERTS[name]
    for problem in problems:
        if (quantity := problem.objective.quantity) != needed:
            raise UnsuitableError(f"teacher {name!r} supports only {needed}, not {quantity}")


def _lowest(values: np.ndarray, among: Bools) -> Bools:
    """Return where values, (R, D), are the lowest of their row within a mask, (R, D)."""
    considered = np.where(among, values, np.inf)
    lowest = considered.min(axis=1, keepdims=True)
    is_lowest: Bools = considered <= lowest + TOLERANCE * np.abs(lowest)
    return is_lowest & among


def _pad(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return a column of each problem as rows, (P, N), with -1 beyond its length."""
    padded = np.full((len(columns), max(map(len, columns))), -1, dtype=columns[0].dtype)
    for row, column in zip(padded, columns, strict=True):
        row[: len(column)] = column
    return padded
