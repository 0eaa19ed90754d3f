"""Simulated annealing on the score itself: moves and swaps, several chains side by side."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from streamplace.arrays import Bools, Ints
from streamplace.errors import PlacementError, UsageError
from streamplace.placement import Placement
from streamplace.placers.base import throughputs, throughputs_of_rows
from streamplace.placers.greedy import Greedy
from streamplace.placers.repair import feasible, feasible_ones
from streamplace.placers.simple import RoundRobin, Single
from streamplace.problem import Problem
from streamplace.score import bound

HOTTEST, COLDEST = 0.05, 0.0005  # loss of relative throughput that is accepted once in e times
SWAPS, JOINS = 0.25, 0.25  # of the changes; the others move one unit anywhere
CLOSE = 1.0 - 1e-9
LEAST = 1e-12  # tuples/s, of what cannot be simulated


@dataclass(frozen=True)
class Search:
    """Anneal chains of placements and return the best one seen.

    Parameters
    ----------
    evaluations
        Placements scored, all chains together.
    chains
        How many are annealed side by side: from `start` if there is one, a greedy placement, all
        on one device, round robin, and random ones.
    """

    evaluations: int = 20_000
    chains: int = 10

    def __post_init__(self) -> None:
        if self.chains < 1 or self.evaluations < self.chains:
            raise UsageError("search needs at least one chain, and an evaluation for each")

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement seen; it stops early at the bound."""
        chains = self._starts(problem, rng, start)
        reached = throughputs(problem, [Placement(problem, row) for row in chains])
        reached = np.maximum(reached, LEAST)
        top = int(reached.argmax())
        best, best_reached = chains[top].copy(), reached[top]
        limit = bound(problem)
        steps = self.evaluations // self.chains
        cooling = (COLDEST / HOTTEST) ** (1.0 / max(1, steps - 1))
        temperature = HOTTEST
        for _ in range(steps):
            if best_reached >= limit * CLOSE:
                break
            tried = _changed(problem, chains, rng)
            scored = _scores(problem, tried)
            with np.errstate(divide="ignore"):  # what scores nothing is never taken
                gain = np.log(scored) - np.log(reached)
            taken = gain > temperature * np.log(1.0 - rng.random(len(chains)))
            chains[taken], reached[taken] = tried[taken], scored[taken]
            top = int(reached.argmax())
            if reached[top] > best_reached:
                best, best_reached = chains[top].copy(), reached[top]
            temperature *= cooling
        return Placement(problem, best)

    def _starts(self, problem: Problem, rng: np.random.Generator, start: Placement | None) -> Ints:
        """Return feasible placements, (chains, V)."""
        made = [] if start is None else [feasible(problem, start.devices)]
        for placer in (Greedy(), Single(), RoundRobin()):
            with suppress(PlacementError):
                made.append(placer(problem, rng))
        shape = (self.chains, len(problem.graph.names))
        rows = rng.integers(len(problem.cluster.devices), size=shape, dtype=np.int32)
        for i, placement in enumerate(made[: self.chains]):
            rows[i] = placement.devices
        found = feasible_ones(problem, rows)
        return np.stack([found[i % len(found)].devices for i in range(self.chains)])


def _changed(problem: Problem, chains: Ints, rng: np.random.Generator) -> Ints:
    """Return the placements, (K, V), with one unit of each moved, or two swapped."""
    rules = problem.feasibility
    count, devices = len(chains), len(problem.cluster.devices)
    rows = np.arange(count)
    where = chains[:, rules.first_of]
    unit = rng.integers(rules.unit_count, size=count)
    other = rng.integers(rules.unit_count, size=count)
    kind = rng.random(count)
    target = rng.integers(devices, size=count)
    before = where[rows, unit]
    target = np.where(kind < SWAPS + JOINS, where[rows, other], target)
    where[rows, unit] = target
    swapped = kind < SWAPS
    where[rows[swapped], other[swapped]] = before[swapped]
    return where[:, rules.unit_of]


def _scores(problem: Problem, tried: Ints) -> np.ndarray:
    """Return the throughput of placements, (K, V); 0 for what is infeasible or has no score."""
    rules = problem.feasibility
    fine: Bools = np.ones(len(tried), dtype=np.bool_)
    if not rules.is_free:
        fine = np.array([rules.violation(row) is None for row in tried])
    scored = np.zeros(len(tried))
    if fine.any():
        scored[fine] = np.maximum(throughputs_of_rows(problem, tried[fine]), 0.0)
    return scored
