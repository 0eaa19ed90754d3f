"""Current devices of operators, and what it costs to leave them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from streamplace.errors import ProblemError
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Bools, Floats, Ints

BITS_PER_BYTE = 8.0


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
        feasibility, count = self.problem.feasibility, len(self.problem.cluster.devices)
        settled = self.devices >= 0
        kept: Floats = np.zeros((feasibility.unit_count, count))
        np.add.at(
            kept, (feasibility.unit_of[settled], self.devices[settled]), migration_cost[settled]
        )
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
    feasibility, index = problem.feasibility, problem.cluster.index
    old_device = old.assignment if isinstance(old, Placement) else old
    names = problem.graph.names
    if old_device.keys().isdisjoint(names):
        raise ProblemError("the current placement contains none of the graph's operators")
    devices = np.array([index.get(old_device.get(name, ""), -1) for name in names], dtype=np.int32)
    settled = np.flatnonzero(devices >= 0)
    barred = settled[~feasibility.allowed[feasibility.unit_of[settled], devices[settled]]]
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
