"""Feasible joint placements near one: moves of one unit, and moves of two at once."""

from collections.abc import Iterator

import numpy as np

from streamplace.problem.problem import Problem
from streamplace.util.arrays import Bools, Ints

CHUNK = 256  # placements made and compared at once
JOINED = 0.75  # share of the pairs put on one device that a stream joins


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
        kept = rows[feasible_rows(problem, rows)]
        if len(kept):
            yield kept


def double_moves(
    problem: Problem, on: Ints, count: int, rng: np.random.Generator
) -> Iterator[Ints]:
    """Yield up to `count` random feasible placements of units, (K, U), that move two units.

    Half of them exchange the devices of two units; the others put two units, mostly such as are
    joined by a stream, on one device.
    """
    rules, graph = problem.feasibility, problem.graph
    units, devices = rules.unit_count, len(problem.cluster.devices)
    if units == 1:
        return
    first = rng.integers(units, size=count)
    second = (first + rng.integers(1, units, size=count)) % units
    together = np.arange(count) >= count // 2
    if len(graph.stream_source):
        joined = together & (rng.random(count) < JOINED)
        stream = rng.integers(len(graph.stream_source), size=count)
        first = np.where(joined, rules.unit_of[graph.stream_source[stream]], first)
        second = np.where(joined, rules.unit_of[graph.stream_target[stream]], second)
    target = rng.integers(devices, size=count)
    rows = np.repeat(on[None, :], count, axis=0)
    rows[np.arange(count), first] = np.where(together, target, on[second])
    rows[np.arange(count), second] = np.where(together, target, on[first])
    rows = rows[(rows != on).any(axis=1)]
    rows = rows[feasible_rows(problem, rows)]
    yield from (rows[begin : begin + CHUNK] for begin in range(0, len(rows), CHUNK))


def feasible_rows(problem: Problem, rows: Ints) -> Bools:
    """Return whether each placement of units, (K, U), is feasible, (K,)."""
    rules, (count, units) = problem.feasibility, rows.shape
    obeys: Bools = np.logical_and.reduce(rules.allowed[np.arange(units), rows], axis=1)
    for limit in rules.limits:
        used = np.zeros((count, len(limit.room)))
        for unit in np.flatnonzero(limit.needs):
            used[np.arange(count), rows[:, unit]] += limit.needs[unit]
        obeys[(used > limit.room).any(axis=1)] = False
    for group in rules.excluding:
        obeys &= _all_differ(rows[:, list(group)])
    for group in rules.separating:
        obeys &= _all_differ(problem.cluster.group_of[rows[:, list(group)]])
    return obeys


def _all_differ(values: Ints) -> Bools:
    """Return whether the values of each row, (K, N), differ from each other, (K,)."""
    ordered = np.sort(values, axis=1)
    differ: Bools = (ordered[:, 1:] != ordered[:, :-1]).all(axis=1)
    return differ
