"""Placements that keep a limit on latency, found by estimates and confirmed by simulations."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import ClassVar, NamedTuple

import numpy as np

from streamplace.errors import InfeasibleError
from streamplace.placers.budget import Budget
from streamplace.placers.search.balance import CARRIED
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.registry import qualities
from streamplace.scoring.tuples import MOST_TUPLES, busiest, deployed, estimate, run_tuples
from streamplace.sim import work_clock
from streamplace.sim.engine import Settings
from streamplace.sim.tuples import Arrivals, expected_tuples
from streamplace.sim.tuples.errors import quantile
from streamplace.util.arrays import Ints
from streamplace.util.checks import finite
from streamplace.workflows.goal import Goal
from streamplace.workflows.latency.limit import LatencyAnswer, LatencyLimit
from streamplace.workflows.latency.proof import ROUNDING, disproved, least_latency, without_headroom

RUNS = 3  # simulations of a placement, each with its own seed
TUPLES = 5e5  # of a simulation
PHASES_S = 200.0  # simulated seconds with bursts, as far as the number of tuples allows
SETTLING = 0.1  # share of a simulation that is not measured
LEAST_SAMPLES = 1000  # tuples at sinks; of fewer, a percentile says little
NEARLY_FULL = 0.97  # utilisation above which a simulation is too short to settle
TRIED = 3  # placements that are simulated
FEW = 500  # placements up to which all are screened
PER_UNIT = 100  # moves per unit
SECONDS = 2.0  # of a climb by moves
NEAR = 0.5  # share of moves to the device of a neighbour


class LatencyGoal(Goal):
    """A limit on the latency of single tuples is kept.

    Parameters
    ----------
    limit
        The limit, or its text; see `LatencyLimit.parse`.

    Raises
    ------
    UsageError
        If it is not a limit.
    """

    report: ClassVar[str] = "latency"

    def __init__(self, limit: LatencyLimit | str) -> None:
        self._limit = LatencyLimit.of(limit)

    def check(self, problem: Problem) -> None:
        """Refuse a problem for which limits are not supported, or are provably out of reach.

        Raises
        ------
        UsageError, ProblemError
            See `disproved`.
        InfeasibleError
            If provably no placement keeps the limit.
        """
        proof = disproved(problem, self._limit)
        if proof is not None:
            raise InfeasibleError(f"latency limit {self._limit}: {proof.reason}")

    def improve(
        self, problem: Problem, start: Placement, seed: int
    ) -> tuple[Placement, LatencyAnswer]:
        """Return a placement that keeps the limit if one is found; see `within_limit`."""
        return within_limit(problem, start, self._limit, seed)


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


def within_limit(
    problem: Problem, start: Placement, limit: LatencyLimit, seed: int = 0
) -> tuple[Placement, LatencyAnswer]:
    """Return a placement that keeps a limit on latency if one is found, and the answer.

    The result is `start` if its estimate keeps the limit with the margin and the simulations
    confirm it. Otherwise placements of lower latency are looked for, among them those that carry as
    much as the best one. Without success, the result is the placement of the lowest simulated
    latency. A placement that is above the target utilisation counts as overloaded; the
    result is `start` if every placement found is.

    Parameters
    ----------
    start
        A feasible placement of the problem.
    seed
        Seed of the search and of the simulations.

    Raises
    ------
    UsageError, ProblemError
        See `disproved`.
    """
    proof = disproved(problem, limit)
    if proof is not None:
        return start, proof
    whole, target = without_headroom(problem), problem.target_utilisation
    least = least_latency(whole, limit)
    first = screened(whole, start.devices, limit, target)
    best: tuple[float, Screened] | None = None
    for one in _to_simulate(problem, first, limit, seed):
        value = _simulated(whole, one, limit, seed)
        if best is None or value < best[0]:
            best = value, one
        if _confirmed(whole, one, value, limit):
            break
    if best is None:
        return start, LatencyAnswer(limit, "unproven", None, None, least, target)
    value, chosen = best
    kept = np.array_equal(chosen.devices, start.devices)
    found = start if kept else Placement(problem, chosen.devices)
    answer = LatencyAnswer(limit, "unproven", chosen.value, finite(value), least, target)
    if _confirmed(whole, chosen, value, limit):
        answer = replace(answer, answer="feasible")
    return found, answer


def _to_simulate(
    problem: Problem, first: Screened, limit: LatencyLimit, seed: int
) -> Iterator[Screened]:
    """Yield the first placement if it is promising, then better ones among those that carry most.

    Of those, the best one is always simulated, and others only if their estimate is below the
    limit.
    """
    is_promising = not first.overloaded and limit.holds(first.value)
    if is_promising:
        yield first
    rng = np.random.default_rng(seed)
    whole, target = without_headroom(problem), problem.target_utilisation
    found = of_low_latency(whole, first.devices, limit, rng, target)
    found = [one for one in found if not one.overloaded]
    if not found:
        return
    reached = qualities(problem, [Placement(problem, one.devices) for one in found])
    carrying = np.flatnonzero(reached >= reached.max() * CARRIED)[:TRIED]
    for i, one in enumerate(found[k] for k in carrying):
        is_first = np.array_equal(one.devices, first.devices)
        if not (is_first and is_promising) and (i == 0 or one.value <= limit.seconds):
            yield one


def _confirmed(problem: Problem, one: Screened, value: float, limit: LatencyLimit) -> bool:
    """Return whether a simulated value makes a limit feasible.

    Where something is nearly full, queues grow for longer than a simulation lasts, so that the
    estimate must keep the limit as well.
    """
    if not limit.holds(value):
        return False
    fullest = busiest(problem, deployed(problem, one.devices)).utilisation
    return fullest <= NEARLY_FULL or limit.holds(one.value)


def _simulated(problem: Problem, one: Screened, limit: LatencyLimit, seed: int) -> float:
    """Return the largest value of the limit's quantity in several simulations, in seconds.

    It is inf if too few tuples reach sinks.
    """
    placement = Placement(problem, one.devices)
    rate = expected_tuples(deployed(problem, one.devices), 1.0)
    seconds = TUPLES / rate
    if Arrivals(limit.arrivals).factors != (1.0,):
        seconds = max(seconds, min(PHASES_S, 0.99 * MOST_TUPLES / rate))
    settings = Settings(
        duration_s=seconds,
        tick_s=None,
        measure_from_s=SETTLING * seconds,
        arrivals=limit.arrivals,
        service=limit.service,
    )
    values = []
    for run in range(RUNS):
        latencies_s = run_tuples(placement, replace(settings, seed=seed + run)).latencies_s
        if len(latencies_s) < LEAST_SAMPLES:
            return inf
        if limit.share is None:
            values.append(float(latencies_s.mean()))
        else:
            values.append(quantile(latencies_s, limit.share))
    return max(values)


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
