"""Iterated local search on the placement of several jobs together."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from streamplace.placers.jobs.neighbours import double_moves, single_moves
from streamplace.scoring.joint import JointProblem
from streamplace.util.arrays import Floats, Ints

DOUBLE = 1024  # moves of two units tried before a kick
KICKED = 4  # single moves of a kick, at most


@dataclass(frozen=True)
class Improvement:
    """Iterated local search: moves of one unit, then of two, then random kicks of the best.

    A placement is better if its vector is (`JointProblem.worth`), so a job of lower priority never
    gains at the expense of a higher one.

    Parameters
    ----------
    evaluations
        Number of placements to compare, at most.
    """

    evaluations: int

    def __call__(self, joint: JointProblem, start: Ints, rng: np.random.Generator) -> Ints:
        """Return the best joint placement found from one that is feasible, (V,)."""
        search = _Search(joint, self.evaluations, rng)
        rules = joint.union.feasibility
        best = search.climbed(start[rules.first_of], search.worth_of(start[rules.first_of]))
        while search.left > 0 and not joint.carries_all(best[1]):
            kicked = search.kicked(best[0])
            found = search.climbed(kicked, search.worth_of(kicked))
            if is_better(found[1], best[1]):
                best = found
        return best[0][rules.unit_of]


def is_better(worth: Floats, other: Floats) -> bool:
    """Return whether one vector of `JointProblem.worth` is lexicographically larger."""
    return bool(tuple(worth) > tuple(other))


class _Search:
    """The evaluations that are left, and the steps that use them."""

    def __init__(self, joint: JointProblem, left: int, rng: np.random.Generator) -> None:
        self.joint, self.left, self.rng = joint, left, rng

    def worth_of(self, on: Ints) -> Floats:
        """Return the vector of one placement of units, (U,)."""
        worth: Floats = self._worths(on[None, :])[0]
        return worth

    def climbed(self, on: Ints, worth: Floats) -> tuple[Ints, Floats]:
        """Return the placement of units, (U,), at which no tried move is better, and its vector."""
        union = self.joint.union
        while self.left > 0 and not self.joint.carries_all(worth):
            better = self._best_of(on, single_moves(union, on, self.rng), worth)
            if better is None:
                better = self._best_of(on, double_moves(union, on, DOUBLE, self.rng), worth)
            if better is None:
                break
            on, worth = better
        return on, worth

    def kicked(self, on: Ints) -> Ints:
        """Return a placement of units after some random single moves."""
        for _ in range(int(self.rng.integers(2, KICKED + 1))):
            moves = next(single_moves(self.joint.union, on, self.rng), None)
            if moves is None:
                self.left = 0  # nothing can move
                return on
            on = moves[0]
        return on

    def _best_of(
        self, on: Ints, chunks: Iterator[Ints], worth: Floats
    ) -> tuple[Ints, Floats] | None:
        """Return the best placement of the first chunk that has a better one than `on`."""
        for chunk in chunks:
            if self.left <= 0:
                return None
            worths = self._worths(np.concatenate([on[None, :], chunk]))[1:]
            top = max(range(len(chunk)), key=lambda k: tuple(worths[k]))
            if is_better(worths[top], worth):
                return chunk[top], worths[top]
        return None

    def _worths(self, rows: Ints) -> Floats:
        """Return the vectors of placements of units, (K, U)."""
        self.left -= len(rows)
        return self.joint.worth(rows[:, self.joint.union.feasibility.unit_of])
