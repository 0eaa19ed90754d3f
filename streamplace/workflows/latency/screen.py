"""The screen: placements of low latency by estimate, found from others by single moves."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from sim import work_clock
from sim.tuples import Arrivals
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.tuples import busiest, deployed, estimate
from streamplace.util.arrays import Ints
from streamplace.workflows.latency.limit import LatencyLimit

FEW = 500  # placements up to which all are screened
PER_UNIT = 100  # moves per unit
SECONDS = 2.0
NEAR = 0.5  # share of moves to the device of a neighbour
ROUNDING = 1e-9  # relative error of utilisations


class Screened(NamedTuple):
    """A placement, (V,), and its estimate.

    The first two values order placements: whether it counts as overloaded, because queues grow or
    it is above the target utilisation; then its latency in seconds, or its largest utilisation if
    it does.
    """

    overloaded: bool
    value: float
    devices: Ints

    @property
    def order(self) -> tuple[bool, float]:
        """What to sort placements by."""
        return self.overloaded, self.value


def screened(
    problem: Problem, devices: Ints, limit: LatencyLimit, target_utilisation: float = 1.0
) -> Screened:
    """Return a placement with its estimate.

    Parameters
    ----------
    problem
        The problem with devices and links at their full speed.
    target_utilisation
        Everything may be used for this share of its time at most; at 1, for less, because queues
        grow without limit otherwise.
    """
    found = estimate(problem, devices, Arrivals(limit.arrivals), exponential=limit.exponential)
    if found.is_finite and target_utilisation == 1.0:
        return Screened(False, found.value(limit.quantity), devices)
    used = busiest(problem, deployed(problem, devices)).utilisation
    if found.is_finite and used <= target_utilisation * (1.0 + ROUNDING):
        return Screened(False, found.value(limit.quantity), devices)
    return Screened(True, used, devices)


def of_low_latency(
    problem: Problem,
    start: Ints,
    limit: LatencyLimit,
    rng: np.random.Generator,
    target_utilisation: float = 1.0,
) -> list[Screened]:
    """Return feasible placements of low latency, the lowest first.

    Where there are few placements, all are screened. Otherwise a climb by random moves of single
    units, also to the device of a neighbour, begins at `start` and at the best of the placements on
    one device each, and ends once the limit holds with its margin. See `screened` for the problem
    and the target utilisation.
    """

    def of(row: Ints) -> Screened:
        return screened(problem, row, limit, target_utilisation)

    every = feasible_rows(problem, most=FEW)
    if every is not None:
        return _sorted([of(row) for row in every])
    budget = Budget(SECONDS, 2 * PER_UNIT * problem.feasibility.unit_count)
    starts = [of(start)]
    alone = _sorted([of(row) for row in _on_one_device(problem)])
    starts += alone[:1]
    found = [
        _climbed(problem, one, limit, rng, budget.share(1 / (len(starts) - i)), of)
        for i, one in enumerate(starts)
    ]
    return _sorted([*found, *starts])


def _climbed(
    problem: Problem,
    best: Screened,
    limit: LatencyLimit,
    rng: np.random.Generator,
    budget: Budget,
    of: Callable[[Ints], Screened],
) -> Screened:
    """Return the best placement, screened by `of`, by moves that are not worse."""
    rules, flow = problem.feasibility, compiled(problem).flow
    units, targets = np.nonzero(rules.allowed)
    first, other = flow.ends[:2]
    while budget.left() > 0 and (best.overloaded or not limit.holds(best.value)):
        begun = work_clock.now()
        i = int(rng.integers(len(units)))
        unit, device = int(units[i]), int(targets[i])
        if rng.random() < NEAR:
            v = int(rng.choice(np.flatnonzero(rules.unit_of == unit)))
            near = other[first[v] : first[v + 1]]
            device = int(best.devices[rng.choice(near)]) if len(near) else device
        row = np.where(rules.unit_of == unit, np.int32(device), best.devices)
        if (row != best.devices).any() and rules.violation(row) is None:
            moved = of(row)
            best = moved if moved.order <= best.order else best
        budget.charge(1, work_clock.now() - begun)
    return best


def _on_one_device(problem: Problem) -> list[Ints]:
    """Return the feasible placements on one device each, one for each speed and kind."""
    rules, cluster = problem.feasibility, problem.cluster
    rows, known = [], set[tuple[float, int, str | None]]()
    for d, device in enumerate(cluster.devices):
        row = np.full(len(problem.graph.names), d, np.int32)
        trait = device.mips, device.cores, device.kind
        if trait not in known and rules.violation(row) is None:
            rows.append(row)
            known.add(trait)
    return rows


def _sorted(found: Sequence[Screened]) -> list[Screened]:
    return sorted(found, key=lambda one: one.order)
