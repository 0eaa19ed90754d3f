"""Searches for short passes on the first devices of a cluster, and on all of them."""

from collections.abc import Callable, Iterator
from copy import copy

import numpy as np

from streamplace.errors import InfeasibleError, PlacementError
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.makespan.placers.annealing import REACHED, Step
from streamplace.placers.base import Found
from streamplace.placers.budget import Budget
from streamplace.placers.ladder import ladder
from streamplace.problem.losses import restricted
from streamplace.problem.placement import Placement
from streamplace.util.arrays import Floats, Ints
from streamplace.util.running_search import TIME, report

# With twice as much, searches that lead nowhere took half of a second; with 16 times, the first
# number of devices that leads is kept too long.
RARER = 4.0  # times as much that an evaluation counts from a search to the next worse one
# It keeps two thirds or more of the evaluations, because it may need long to lead; see `_next`.
ON_ALL = 0.5  # times as much that one of the search on all devices counts
# Small numbers of devices are soon tried, however many searches lead before them.
EARLY = 2  # rank that a search that has not begun has at most
# Searches begin one by one, when they are worth it: on 3,000 operators and 64 devices, the first
# steps of all of them would take .5 s.
TO_BEGIN = 12  # evaluations per device that take as long as the first step of a search, about


Steps = Callable[[MakespanEvaluator, np.random.Generator, Placement | None, Budget], Iterator[Step]]


def best_on_prefixes(
    scored: MakespanEvaluator,
    steps: Steps,
    rng: np.random.Generator,
    start: Placement | None,
    budget: Budget,
    *,
    fewer: bool = True,
) -> Found:
    """Run a search on each of `prefixes`, and return the shortest pass.

    What a search does depends only on its devices, the seed and the number of its steps, and each
    may make all of the evaluations. So more evaluations never give a longer pass, nor do more
    devices that are no faster than the others, if the former number of devices is on the `ladder`.
    (Ranks are means over devices, so under the order ``b-level`` that holds for equal devices
    only.) A search ends where its bound says that it cannot find a shorter pass. The clock ends all
    searches; until then they take turns that do not depend on it, see `_next`.

    Parameters
    ----------
    steps
        A search; the initial placement is given to the one on all devices only.
    fewer
        Whether to search on fewer devices, too.
    """
    seed = int(rng.integers(2**63))
    searches = [_Search(scored, steps, each, seed, start, budget) for each in prefixes(scored)]
    searches = searches if fewer else searches[:1]
    best, best_s = np.empty(0, np.int32), np.inf
    noisy = bool(scored.problem.makespan_objective.noise)  # a mean may lie below a bound without it
    enough_s = 0.0 if noisy else scored.compiled.together_s * REACHED
    while searches and best_s > enough_s and (budget.seconds_left() > 0.0 or not len(best)):
        search = _next(searches)
        row = search.advance(best_s)
        if row is not None and search.best_s < best_s:
            best, best_s = row, search.best_s
            report(TIME, best_s, enough_s or None)
        if search.is_proven and search.is_whole:
            return Found(Placement(scored.problem, best), best_s)
        # A search ends where its bound is not below the best makespan, which is exact; to give one
        # up because it is behind would not be.
        searches = [each for each in searches if not each.is_over and each.bound_s < best_s]
    return Found(Placement(scored.problem, best))


def _next(searches: list["_Search"]) -> "_Search":
    """Return the search that takes the next step: the one that would then have made the fewest.

    Evaluations count `RARER` times as much from each to the next worse search, but `ON_ALL` times
    for the search on all devices, which gets two thirds of them or more: it may need long to become
    better than one on few devices, whose first placements are good (a tree of 2,000 operators ended
    at .157 s on two devices, where sixteen need .087 s). Searches begin in turn, that on all
    devices first, and count as just worse than the one before until they begin.
    """
    begun = [each for each in searches if each.has_begun]
    waiting = [each for each in searches if not each.has_begun][:1]
    ranked = sorted(begun, key=lambda each: (each.best_s, len(each.devices)))
    costs = [
        each.planned * (ON_ALL if each.is_whole else RARER**rank)
        for rank, each in enumerate(ranked)
    ]
    if waiting:
        larger = max((rank for rank, each in enumerate(ranked) if each is begun[-1]), default=-1)
        costs.append(waiting[0].planned * RARER ** min(larger + 1, EARLY))
    return (ranked + waiting)[int(np.argmin(costs))]


def prefixes(scored: MakespanEvaluator) -> list[Ints]:
    """Return the devices of each search as sorted indices: all devices, then fewer and fewer.

    Their numbers are 1, 2, 3, 4, 6, 8, 12, 16, …, and that of all devices. Devices to which an
    operator is pinned come first, and then the fastest. Where groups have links of their own, the
    devices of a group follow one another.
    """
    problem = scored.problem
    devices = len(problem.cluster.devices)
    allowed = problem.feasibility.allowed
    is_pin = allowed[np.count_nonzero(allowed, axis=1) == 1].any(axis=0)
    order = np.lexsort((-_speeds(scored), ~is_pin))
    if problem.cluster.network.depends_on_groups:
        groups = problem.cluster.group_of[order].tolist()
        order = order[np.argsort([groups.index(group) for group in groups], kind="stable")]
    return [np.sort(order[:count]) for count in reversed(ladder(devices))]


def _speeds(scored: MakespanEvaluator) -> Floats:
    """Return the mean speed of each device relative to each operator's fastest one, (D,).

    Operators count by their time there. Speeds that differ only by rounding are equal.
    """
    tasks = scored.tasks
    used = np.minimum(tasks.cores[:, None], tasks.device_cores)
    seconds = tasks.seconds_by_device() * used / tasks.device_cores  # of the whole device
    least = seconds.min(axis=1)
    counted = np.isfinite(least) & (least > 0.0)
    speeds = (least[counted, None] ** 2 / seconds[counted]).sum(axis=0)
    # Nine digits, so that rounding does not order devices that are equal.
    return np.asarray(np.round(speeds / max(speeds.max(), np.finfo(np.float64).tiny), 9))


class _Search:
    """A search on some devices, whose placements are scored on all of them.

    Attributes
    ----------
    best_s, bound_s
        The makespan of the best placement so far, and a bound on all placements on these devices.
    planned
        The evaluations after the next step.
    has_begun, is_over
        Whether it has taken a step, and whether there are no more.
    is_whole, is_proven
        Whether it is that on all devices, and whether no placement on its devices is shorter.
    """

    def __init__(
        self,
        scored: MakespanEvaluator,
        steps: Steps,
        devices: Ints,
        seed: int,
        start: Placement | None,
        budget: Budget,
    ) -> None:
        self.best_s, self.bound_s, self.planned = np.inf, 0.0, TO_BEGIN * len(devices)
        self.has_begun = self.is_over = self.is_proven = False
        self.is_whole = len(devices) == scored.tasks.devices
        self.devices, self._scored = devices, scored
        self._run = self._steps(steps, seed, start if self.is_whole else None, copy(budget))

    def advance(self, best_s: float) -> Ints | None:
        """Take the next step, and return its shortest placement, (V,).

        The search is over instead if constraints need other devices, if its bound is not below the
        best makespan known, or after its last step.
        """
        self._best_known_s, self.has_begun = best_s, True
        try:
            step = next(self._run, None)
        except (InfeasibleError, PlacementError):
            # Constraints may need devices beyond the first ones.
            if self.is_whole:
                raise
            step = None
        if step is None:
            self.is_over = True
            return None
        self.planned += step.ahead
        self.is_proven = step.proven
        rows: Ints = self.devices[np.stack(step.rows)].astype(np.int32)
        makespans = self._scored.makespans(rows)
        self.best_s = min(self.best_s, float(makespans.min()))
        shortest: Ints = rows[int(makespans.argmin())]
        return shortest

    def _steps(
        self, steps: Steps, seed: int, start: Placement | None, budget: Budget
    ) -> Iterator[Step]:
        problem, own = self._scored.problem, self._scored
        if not self.is_whole:
            own = MakespanEvaluator(restricted(problem, self.devices.tolist()))
            own.compiled.follow(self._scored.compiled, own.order_names)
        if not problem.makespan_objective.noise:
            self.bound_s = own.least_s
        if self.bound_s < self._best_known_s:
            rng = np.random.default_rng([seed, len(self.devices)])
            yield from steps(own, rng, start, budget)
