"""Feasible joint placements near one: moves of one unit, and moves of two at once."""

import numpy as np

from streamplace.problem.problem import Problem
from streamplace.util.arrays import Bools, Ints

JOINED = 0.75  # share of the pairs put on one device that a stream joins


def single_moves(problem: Problem, on: Ints, rng: np.random.Generator) -> Ints:
    """Return every feasible placement of units, (K, U), that moves one unit, in random order.

    Parameters
    ----------
    on
        (U,) the device of each unit.
    """
    unit, device = np.nonzero(problem.feasibility.allowed)
    moves = rng.permutation(np.flatnonzero(on[unit] != device))
    rows = np.repeat(on[None, :], len(moves), axis=0)
    rows[np.arange(len(moves)), unit[moves]] = device[moves]
    return _feasible(problem, rows)


def double_moves(problem: Problem, on: Ints, count: int, rng: np.random.Generator) -> Ints:
    """Return up to `count` random feasible placements of units, (K, U), that move two units.

    Half of them exchange the devices of two units; the others put two units, mostly such as are
    joined by a stream, on one device.
    """
    rules, graph = problem.feasibility, problem.graph
    units, devices = rules.unit_count, len(problem.cluster.devices)
    if units == 1:
        return np.empty((0, units), dtype=np.int32)
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
    return _feasible(problem, rows[(rows != on).any(axis=1)])


def _feasible(problem: Problem, rows: Ints) -> Ints:
    kept: Ints = rows[feasible_rows(problem, rows)]
    return kept


def feasible_rows(problem: Problem, rows: Ints) -> Bools:
    """Return whether each placement of units, (K, U), is feasible, (K,)."""
    rules, (count, units) = problem.feasibility, rows.shape
    obeys: Bools = rules.allowed[np.arange(units), rows].all(axis=1)
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
