"""Migration: a few moves that improve a placement after devices, rates or the graph changed."""

from dataclasses import dataclass

import numpy as np

from sim.flow import crossing_seconds
from sim.search import Instance
from streamplace.errors import ProblemError, UsageError
from streamplace.placers.repair import feasible
from streamplace.placers.search.annealing import Budget, check_limits
from streamplace.placers.search.exhaustive import best_of_all, count_of
from streamplace.placers.search.forced_moves import with_fewest_moves
from streamplace.placers.search.search import best_of_chains
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.scoring.quality import qualities
from streamplace.util.arrays import Floats, Ints

SECONDS = 1.0
BUDGETS = 12  # migration budgets tried when moves have a cost
BITS_PER_BYTE = 8.0
FEW = 20_000  # if there are at most this many placements, all of them are tried


@dataclass(frozen=True)
class Migrate:
    """Improve the current placement by a few moves, or by moves that gain more than they cost.

    An operator whose device is gone or no longer allowed must move, which costs nothing. The
    current placement may belong to another cluster, rate or version of the graph: operators and
    devices are matched by name.

    Parameters
    ----------
    old
        The current placement.
    max_moves
        Number of operators that may move, in addition to those that must.
    move_cost
        Relative throughput (throughput / source rate) that a move must gain for each second it
        takes to send the operator's memory_bytes over a mean link.
    seconds, evaluations
        Wall time in seconds (default 1 unless `evaluations` is set), or number of changes tried.

    Raises
    ------
    UsageError
        Unless exactly one of `max_moves` and `move_cost` is set, and is at least 0.
    """

    old: Placement
    max_moves: int | None = None
    move_cost: float | None = None
    seconds: float | None = None
    evaluations: int | None = None

    def __post_init__(self) -> None:
        if (self.max_moves is None) == (self.move_cost is None):
            raise UsageError("set exactly one of max_moves and move_cost")
        if self.max_moves is not None and self.max_moves < 0:
            raise UsageError(f"max_moves must be at least 0 (got {self.max_moves})")
        if self.move_cost is not None and not 0 <= self.move_cost < np.inf:
            raise UsageError(f"move_cost must be finite and at least 0 (got {self.move_cost:g})")
        check_limits("migrate", self.seconds, self.evaluations)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement within the allowed moves."""
        budget = Budget(self.seconds, self.evaluations)
        if self.seconds is None and self.evaluations is None:
            budget = Budget(SECONDS)
        staying, current_device = stay(problem, self.old)
        if self.max_moves is not None:
            migration_cost = np.bincount(problem.feasibility.unit_of).astype(np.float64)
            rows, migration_budget = [staying.devices], float(self.max_moves)
            best = best_of_chains(
                problem,
                rng,
                rows,
                budget,
                current_device=current_device,
                migration_cost=migration_cost,
                migration_budget=migration_budget,
            )
            if count_of(current_device, len(problem.cluster.devices), self.max_moves) > FEW:
                return best
            return best_of_all(problem, current_device, migration_cost, self.max_moves, best)
        migration_cost = moving_seconds(problem)
        placements = [staying]
        for migration_budget in _budgets(current_device, migration_cost):
            share = budget.share(1.0 / (1 + BUDGETS - len(placements)))
            rows = [placements[-1].devices]
            placements.append(
                best_of_chains(
                    problem,
                    rng,
                    rows,
                    share,
                    current_device=current_device,
                    migration_cost=migration_cost,
                    migration_budget=migration_budget,
                )
            )
        spent = np.array(
            [_paid(current_device, migration_cost, placement) for placement in placements]
        )
        worth = qualities(problem, placements) - (self.move_cost or 0.0) * spent
        return placements[int(worth.argmax())]


def stay(problem: Problem, old: Placement) -> tuple[Placement, Ints]:
    """Return the current placement after the necessary moves, and each unit's current device, (U,).

    Operators are matched by name. A unit has no current device (-1) if it is new, its device is
    gone or not allowed, or a constraint or the memory limit forces it to move.

    Raises
    ------
    ProblemError
        If the placement contains none of the graph's operators.
    """
    rules, names = problem.feasibility, problem.graph.names
    index = problem.cluster.index
    old_device = old.assignment
    of_operator = np.array(
        [index.get(old_device.get(name, ""), -1) for name in names], dtype=np.int32
    )
    current_device = of_operator[rules.first_of]
    current_device[rules.unit_of[of_operator != current_device[rules.unit_of]]] = -1
    if not len(np.intersect1d(list(old_device), names)):
        raise ProblemError("the current placement contains none of the graph's operators")
    instance = compiled(problem).instance
    current_device[
        (current_device >= 0) & ~instance.allowed[instance.row_of, np.maximum(current_device, 0)]
    ] = -1
    somewhere = _placed_beside(instance, current_device)
    on = somewhere
    if rules.violation(somewhere[rules.unit_of]) is not None:
        fewest = with_fewest_moves(problem, current_device, somewhere)
        on = somewhere if fewest is None else fewest
    staying = feasible(problem, on[rules.unit_of])
    current_device[staying.devices[rules.first_of] != current_device] = -1
    return staying, current_device


def moving_seconds(problem: Problem) -> Floats:
    """Return the time to send each unit's memory over a mean link, (U,) in seconds."""
    _, per_bit = crossing_seconds(flow(problem))
    return problem.feasibility.unit_memory.astype(np.float64) * (BITS_PER_BYTE * per_bit)


def _placed_beside(instance: Instance, current_device: Ints) -> Ints:
    """Return devices of units, (U,): units without one go, heaviest first, to the least loaded."""
    on = current_device.copy()
    settled = current_device >= 0
    load = (
        np.bincount(current_device[settled], instance.work[settled], len(instance.capacity))
        / instance.capacity
    )
    for u in sorted(np.flatnonzero(~settled).tolist(), key=lambda u: -instance.work[u]):
        allowed = np.flatnonzero(instance.allowed[instance.row_of[u]])
        on[u] = allowed[(load[allowed] + instance.work[u] / instance.capacity[allowed]).argmin()]
        load[on[u]] += instance.work[u] / instance.capacity[on[u]]
    return on


def _paid(current_device: Ints, migration_cost: Floats, placement: Placement) -> float:
    """Return the total cost of the moves from the current devices to a placement."""
    on = placement.devices[placement.problem.feasibility.first_of]
    return float(migration_cost[(current_device >= 0) & (on != current_device)].sum())


def _budgets(current_device: Ints, migration_cost: Floats) -> list[float]:
    """Return the budgets to try: from the cheapest move to all moves, evenly spaced by ratio."""
    migration_costs = migration_cost[current_device >= 0]
    paying = migration_costs[migration_costs > 0]
    if not len(paying):
        return [0.0]
    return [float(x) for x in np.geomspace(paying.min(), paying.sum(), BUDGETS)]
