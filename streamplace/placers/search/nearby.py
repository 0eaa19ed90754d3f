"""Searches among placements near the current one, where operators run now, and what moves cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from sim.closed_form.bottleneck import worst_utilisation
from streamplace.errors import ProblemError
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.balance import CARRIED, Prefer, overloaded
from streamplace.placers.search.chains import best_of_chains, starts
from streamplace.placers.search.exhaustive import FEW, feasible_rows
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import evaluator, qualities_of_rows
from streamplace.util.arrays import Bools, Floats, Ints

BITS_PER_BYTE = 8.0
SEARCHED = 0.8  # share of a budget for annealing; moves that gain nothing are then removed
FEW_SLOW = 200  # placements that are all tried if scoring one takes long
GAIN = 1e-9  # smallest difference that counts, relative to the highest throughput
PERCENT = 100.0  # steps in which headroom counts


@dataclass(frozen=True)
class Current:
    """The current device of each operator of a problem.

    Parameters
    ----------
    devices
        (V,) device indices; -1 for an operator that is new, or whose device is gone or not allowed.
    """

    problem: Problem
    devices: Ints

    def moves(self, rows: Ints) -> Ints:
        """Return how many operators leave their device in each placement, (K,) for (K, V)."""
        counts: Ints = self.left(rows).sum(axis=1).astype(np.int32)
        return counts

    def costs(self, rows: Ints, migration_cost: Floats) -> Floats:
        """Return the cost of all moves to each placement, (K,) for (K, V).

        Parameters
        ----------
        migration_cost
            (V,) cost of each operator's move.
        """
        costs: Floats = self.left(rows).astype(np.float64) @ migration_cost
        return costs

    def left(self, rows: Ints) -> Bools:
        """Return whether each operator leaves its device in each placement, (K, V) bool."""
        left: Bools = (self.devices >= 0) & (rows != self.devices)
        return left

    def unit_costs(self, migration_cost: Floats) -> Floats:
        """Return the cost of the operators that leave if a unit goes to a device, (U, D)."""
        rules, count = self.problem.feasibility, len(self.problem.cluster.devices)
        settled = self.devices >= 0
        kept: Floats = np.zeros((rules.unit_count, count))
        np.add.at(kept, (rules.unit_of[settled], self.devices[settled]), migration_cost[settled])
        costs: Floats = kept.sum(axis=1, keepdims=True) - kept
        return costs


def current_devices(problem: Problem, old: Placement | Mapping[str, str]) -> Current:
    """Return the current devices; operators and devices are matched by name.

    Parameters
    ----------
    old
        The current placement, or operator -> device.

    Raises
    ------
    ProblemError
        If the current placement contains none of the graph's operators.
    """
    rules, index = problem.feasibility, problem.cluster.index
    old_device = old.assignment if isinstance(old, Placement) else old
    names = problem.graph.names
    if old_device.keys().isdisjoint(names):
        raise ProblemError("the current placement contains none of the graph's operators")
    devices = np.array([index.get(old_device.get(name, ""), -1) for name in names], dtype=np.int32)
    settled = np.flatnonzero(devices >= 0)
    barred = settled[~rules.allowed[rules.unit_of[settled], devices[settled]]]
    devices[barred] = -1
    return Current(problem, devices)


def moving_seconds(problem: Problem) -> Floats:
    """Return the time to send each operator's memory over a mean link, (V,) in seconds.

    The mean is over the links between two devices with their whole bandwidth, whatever the
    objective is and whatever streams may use of them: tuples load no link of a network of the kind
    ``free``, but to send memory takes as long there as elsewhere.
    """
    cluster = problem.cluster
    per_bit = 1e-6 / cluster.link_column("bandwidth_mbps")[: cluster.own_links]
    count = len(cluster.devices)
    if cluster.network.kind != "nic" and count > 1:
        per_bit = per_bit[~np.eye(count, dtype=bool).ravel()]
    seconds: Floats = problem.graph.memory_bytes * (BITS_PER_BYTE * float(per_bit.mean()))
    return seconds


@dataclass(frozen=True)
class MovesSearch:
    """The search for moves that raise the throughput; see `Nearby`.

    Parameters
    ----------
    prefer
        ``balance`` if headroom counts too where everything offered is carried.
    rng
        Seeds all chains.
    """

    current: Current
    prefer: Prefer
    rng: np.random.Generator

    def value(self, rows: Ints) -> Floats:
        """Return the value of placements, (K,) for (K, V).

        It is relative throughput. With ``balance``, 0.01 is added for each whole percent between
        the largest utilisation and 100% where everything offered is carried.
        """
        problem = self.current.problem
        quality = qualities_of_rows(problem, rows)
        if self.prefer == "fewest":
            return quality
        free = np.maximum(1.0 - worst_utilisation(flow(problem), rows), 0.0)
        return quality + np.where(quality >= CARRIED, np.floor(free * PERCENT) / PERCENT, 0.0)

    @property
    def highest_value(self) -> float:
        """A bound on the value of every placement."""
        possible = evaluator(self.current.problem).best_possible
        most = 1.0 if possible is None else possible
        return most if self.prefer == "fewest" else most + 1.0

    @property
    def gain(self) -> float:
        """The smallest difference of values that counts.

        It is relative: where the source rate is far above what devices can do, all values are low.
        """
        possible = evaluator(self.current.problem).best_possible
        return GAIN if possible is None else GAIN * possible

    def all_within(self, migration_cost: Floats, limit: float) -> Ints | None:
        """Return all feasible placements within a limit of costs; see `Nearby`."""
        problem = self.current.problem
        few = FEW if evaluator(problem).best_possible is not None else FEW_SLOW
        rows = feasible_rows(problem, self.current.unit_costs(migration_cost), limit, few)
        return rows if rows is not None and len(rows) else None

    def annealed(
        self, rows: list[Ints], migration_cost: Floats, limit: float, budget: Budget
    ) -> Ints:
        """Return the best placement found within a limit of costs; see `Nearby`."""
        return best_of_chains(
            self._searched,
            self.rng,
            rows,
            budget,
            current_device=self.current.devices,
            migration_cost=migration_cost,
            migration_budget=limit,
        ).devices

    def unlimited(self, staying: Ints, budget: Budget) -> Ints:
        """Return the best placement found, (V,), with any number of moves."""
        rows = starts(self._searched, self.rng, Placement(self._searched, staying))
        return best_of_chains(self._searched, self.rng, rows, budget).devices

    @cached_property
    def _searched(self) -> Problem:
        """The problem whose relative throughput the chains improve."""
        problem = self.current.problem
        balances = self.prefer == "balance" and evaluator(problem).best_possible is not None
        return overloaded(problem) if balances else problem


class Nearby(Protocol):
    """The search for moves that improve a placement under one objective."""

    @property
    def current(self) -> Current:
        """The current devices of operators."""
        ...

    def value(self, rows: Ints) -> Floats:
        """Return the value of placements, (K,) for (K, V); higher is better."""
        ...

    @property
    def highest_value(self) -> float:
        """A bound on the value of every placement."""
        ...

    @property
    def gain(self) -> float:
        """The smallest difference of values that counts; smaller ones are rounding."""
        ...

    def all_within(self, migration_cost: Floats, limit: float) -> Ints | None:
        """Return all feasible placements, (K, V), whose moves cost at most `limit`.

        The result is None if there are too many, or none.

        Parameters
        ----------
        migration_cost
            (V,) cost of each operator's move.
        """
        ...

    def annealed(
        self, rows: list[Ints], migration_cost: Floats, limit: float, budget: Budget
    ) -> Ints:
        """Return the best placement found, (V,), whose moves cost at most `limit`.

        Parameters
        ----------
        rows
            Initial placements, (V,) each.
        migration_cost
            (V,) cost of each operator's move.
        """
        ...

    def unlimited(self, staying: Ints, budget: Budget) -> Ints:
        """Return the best placement found, (V,), with any number of moves.

        Parameters
        ----------
        staying
            (V,) the placement after the fewest necessary moves.
        """
        ...
