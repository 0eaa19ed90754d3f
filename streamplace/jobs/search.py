"""Placement of several jobs together: enumeration, and iterated local search."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from streamplace.jobs.joint import JointProblem
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Bools, Floats, Ints

CHUNK = 256  # placements made and compared at once
JOINED = 0.75  # share of the pairs put on one device that a stream joins
MOST_PLACEMENTS = 300_000  # whose enumeration takes a second or two
FEW_PLACEMENTS = 20_000  # whose enumeration takes less time than a search
AT_ONCE = 4096  # placements enumerated at once
DOUBLE = 1024  # moves of two units tried before a kick
KICKED = 4  # single moves of a kick, at most


def single_moves(problem: Problem, on: Ints, rng: np.random.Generator) -> Iterator[Ints]:
    """Yield every feasible placement of units that moves one unit, in random order.

    Each array has up to 256 of them, (K, U), so that the first ones are there quickly.

    Parameters
    ----------
    on
        (U,) the device of each unit.
    """
    unit, device = np.nonzero(problem.feasibility.allowed)
    moves = rng.permutation(np.flatnonzero(on[unit] != device))
    for begin in range(0, len(moves), CHUNK):
        some = moves[begin : begin + CHUNK]
        rows = np.repeat(on[None, :], len(some), axis=0)
        rows[np.arange(len(some)), unit[some]] = device[some]
        kept = rows[are_feasible(problem, rows)]
        if len(kept):
            yield kept


def double_moves(
    problem: Problem, on: Ints, count: int, rng: np.random.Generator
) -> Iterator[Ints]:
    """Yield up to `count` random feasible placements of units, (K, U), that move two units.

    Half of them exchange the devices of two units; the others put two units, mostly such as are
    joined by a stream, on one device.
    """
    feasibility, graph = problem.feasibility, problem.graph
    units, devices = feasibility.unit_count, len(problem.cluster.devices)
    if units == 1:
        return
    first = rng.integers(units, size=count)
    second = (first + rng.integers(1, units, size=count)) % units
    together = np.arange(count) >= count // 2
    if len(graph.stream_source):
        joined = together & (rng.random(count) < JOINED)
        stream = rng.integers(len(graph.stream_source), size=count)
        first = np.where(joined, feasibility.unit_of[graph.stream_source[stream]], first)
        second = np.where(joined, feasibility.unit_of[graph.stream_target[stream]], second)
    target = rng.integers(devices, size=count)
    rows = np.repeat(on[None, :], count, axis=0)
    rows[np.arange(count), first] = np.where(together, target, on[second])
    rows[np.arange(count), second] = np.where(together, target, on[first])
    rows = rows[(rows != on).any(axis=1)]
    rows = rows[are_feasible(problem, rows)]
    yield from (rows[begin : begin + CHUNK] for begin in range(0, len(rows), CHUNK))


def are_feasible(problem: Problem, rows: Ints) -> Bools:
    """Return whether each placement of units, (K, U), is feasible, (K,)."""
    feasibility, (count, units) = problem.feasibility, rows.shape
    obeys: Bools = np.logical_and.reduce(feasibility.allowed[np.arange(units), rows], axis=1)
    for limit in feasibility.limits:
        used = np.zeros((count, len(limit.room)))
        for unit in np.flatnonzero(limit.needs):
            used[np.arange(count), rows[:, unit]] += limit.needs[unit]
        obeys[(used > limit.room).any(axis=1)] = False
    for group in feasibility.excluding:
        obeys &= _all_differ(rows[:, list(group)])
    for group in feasibility.separating:
        obeys &= _all_differ(problem.cluster.group_of[rows[:, list(group)]])
    return obeys


def _all_differ(values: Ints) -> Bools:
    """Return whether the values of each row, (K, N), differ from each other, (K,)."""
    ordered = np.sort(values, axis=1)
    differ: Bools = (ordered[:, 1:] != ordered[:, :-1]).all(axis=1)
    return differ


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
        feasibility = joint.union.feasibility
        best = search.climbed(
            start[feasibility.first_of], search.worth_of(start[feasibility.first_of])
        )
        while search.left > 0 and not joint.carries_all(best[1]):
            kicked = search.kicked(best[0])
            found = search.climbed(kicked, search.worth_of(kicked))
            if is_better(found[1], best[1]):
                best = found
        return best[0][feasibility.unit_of]


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


def is_small(joint: JointProblem, most: int = MOST_PLACEMENTS) -> bool:
    """Return whether all joint placements can be enumerated."""
    choices: list[int] = joint.union.feasibility.allowed.sum(axis=1).tolist()
    return prod(choices) <= most


def best_of_all(joint: JointProblem) -> Ints | None:
    """Return the best joint placement, (V,), by `JointProblem.worth`; None if none is feasible."""
    feasibility = joint.union.feasibility
    choices = [np.flatnonzero(row) for row in feasibility.allowed]
    shape = tuple(len(devices) for devices in choices)
    best = None
    for begin in range(0, prod(shape), AT_ONCE):
        numbers = np.arange(begin, min(begin + AT_ONCE, prod(shape)))
        digits = np.unravel_index(numbers, shape)
        rows = np.stack(
            [c[d] for c, d in zip(choices, digits, strict=True)], axis=1, dtype=np.int32
        )
        rows = rows[are_feasible(joint.union, rows)]
        if not len(rows):
            continue
        worths = joint.worth(rows[:, feasibility.unit_of])
        top = max(range(len(rows)), key=lambda k: tuple(worths[k]))
        if best is None or is_better(worths[top], best[1]):
            best = rows[top], worths[top]
    return None if best is None else best[0][feasibility.unit_of]
