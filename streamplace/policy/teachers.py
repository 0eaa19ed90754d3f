"""Teachers: experts that name the best actions in the states that a policy reaches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from sim.lookahead import (
    CANDIDATE_FEATURES,
    candidate_features,
    collate,
    nothing_placed,
    place_next,
)
from streamplace.errors import UnsuitableError
from streamplace.policy.critical_path import CriticalPath
from streamplace.policy.encoded import Encoded
from streamplace.policy.lookahead import lookahead_problem
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Bools, Ints

Ties: TypeAlias = Literal["any", "each"]
HIGHEST = CANDIDATE_FEATURES.index("highest")
TOLERANCE = 1e-5  # relative: features are single precision


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
        If the objective of a problem is the makespan.
    """

    def __init__(self, problems: Sequence[Problem], samples: int) -> None:
        if any(isinstance(problem.objective, Makespan) for problem in problems):
            fault = "needs throughput; for makespans, use 'critical-path'"
            raise UnsuitableError(f"teacher 'least-utilisation': {fault}")
        arrays = [lookahead_problem(problem) for problem in problems]
        rows = np.repeat(np.arange(len(problems), dtype=np.int32), samples)
        self._problems = collate(arrays)
        self._placed = nothing_placed(self._problems, rows)
        self._kind = _padded([one.kind for one in arrays])[rows]
        self._work = _padded([one.flow.work for one in arrays])[rows]

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


def _lowest(values: np.ndarray, among: Bools) -> Bools:
    """Return where values, (R, D), are the lowest of their row within a mask, (R, D)."""
    considered = np.where(among, values, np.inf)
    lowest = considered.min(axis=1, keepdims=True)
    is_lowest: Bools = considered <= lowest + TOLERANCE * np.abs(lowest)
    return is_lowest & among


def _padded(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return a column of each problem as rows, (P, N), with -1 beyond its length."""
    padded = np.full((len(columns), max(map(len, columns))), -1, dtype=columns[0].dtype)
    for row, column in zip(padded, columns, strict=True):
        row[: len(column)] = column
    return padded
