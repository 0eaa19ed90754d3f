"""The default placer: runs other placers, then searches from their results, in limited time."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from math import inf

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.base import Placer
from streamplace.placers.search.annealing import Budget, check_limits
from streamplace.placers.search.consolidate import AS_GOOD, consolidate, fewest_devices
from streamplace.placers.search.exhaustive import best_of_all, cheapest_of_all, count_of
from streamplace.placers.search.search import best_of_chains, starts
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.quality import qualities
from streamplace.scoring.registry import evaluator
from streamplace.util import work_clock

SECONDS = 1.0
LARGE = 5_000  # operators x devices above which `of_large` is used
FEW = 5_000  # number of placements up to which all of them are tried
STARTS = 4  # the second search starts from this many of the best placements
FIRST, SECOND = 0.5, 0.75  # each search's share of the remaining budget; the rest is to consolidate
CLOSE = 1.0 - 1e-12


@dataclass(frozen=True)
class Auto:
    """Run several placers, search from their best placements, then reduce devices and traffic.

    Among placements within 0.1% of the best throughput it chooses the fewest devices, and among
    those the least traffic between devices. It stops early when a placement reaches the bound.
    Identical devices are used in the order of the cluster, unless there is an initial placement.

    Parameters
    ----------
    placers
        The placers to run, the fastest first.
    of_large
        The placers to run when operators x devices exceeds 5,000. Partitioners that try every
        number of parts, and the fuser, whose time is quadratic in the graph, take too long there.
    policy
        Loads a policy, which runs after `placers`. Weights that cannot be read are an error, since
        the result would differ without them.
    seconds
        Wall time in seconds; default 1 unless `evaluations` is set. Results then depend on the
        machine.
    evaluations
        Number of changes that the search tries, to limit it by a count.
    """

    placers: tuple[Placer, ...]
    of_large: tuple[Placer, ...]
    policy: Callable[[], Placer]
    seconds: float | None = None
    evaluations: int | None = None

    def __post_init__(self) -> None:
        check_limits("auto", self.seconds, self.evaluations)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement, or raise the last placer's error if none found one."""
        budget = Budget(self.seconds, self.evaluations)
        if self.seconds is None and self.evaluations is None:
            budget = Budget(SECONDS)
        found, enough = self._results(problem, rng, start, budget)
        if evaluator(problem).best_possible is None:
            return fewest_devices(problem, found)
        if not enough:
            found = self._searched(problem, rng, start, found, budget)
        if _is_tiny(problem) and (cheapest := cheapest_of_all(problem, AS_GOOD)) is not None:
            found.append(cheapest)
        best = consolidate(problem, rng, found, budget)
        return best.canonical() if start is None else best

    def _searched(
        self,
        problem: Problem,
        rng: np.random.Generator,
        start: Placement | None,
        found: list[Placement],
        budget: Budget,
    ) -> list[Placement]:
        """Search from the starts of `search`, as it would alone, then from the best placements."""
        known = list(found)
        if not _is_large(problem):
            alone = deepcopy(rng)
            rows = starts(problem, alone, start)
            known.append(best_of_chains(problem, alone, rows, budget.share(FIRST)))
        order = np.argsort(-qualities(problem, known), kind="stable")
        rows = [known[i].devices for i in order[:STARTS]]
        anywhere = np.full(problem.feasibility.unit_count, -1, dtype=np.int32)
        if _is_tiny(problem):
            known.append(best_of_all(problem, anywhere, np.zeros(len(anywhere)), 0, known[0]))
        return [*known, best_of_chains(problem, rng, rows, budget.share(SECOND))]

    def _results(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None, budget: Budget
    ) -> tuple[list[Placement], bool]:
        """Run the placers in turn until time is up or a placement reaches the bound.

        Each returns what it would return alone with the same seed. The result is the placements
        and whether the bound was reached.
        """
        best_possible = evaluator(problem).best_possible
        limit = inf if best_possible is None else best_possible * CLOSE
        found, failure = [] if start is None else [start], PlacementError("no placer was run")
        for placer in self._placers_for(problem):
            try:
                found.append(placer(problem, deepcopy(rng), start))
            except PlacementError as error:
                failure = error
                continue
            if qualities(problem, found[-1:])[0] >= limit:
                return found, True
            if budget.seconds_left() <= 0:
                break
        if not found:
            raise failure
        return found, False

    def _placers_for(self, problem: Problem) -> Iterator[Placer]:
        if _is_large(problem):
            yield from self.of_large
            return
        yield from self.placers
        with work_clock.loading():
            policy = self.policy()
        yield policy


def _is_tiny(problem: Problem) -> bool:
    anywhere = np.full(problem.feasibility.unit_count, -1, dtype=np.int32)
    return count_of(anywhere, len(problem.cluster.devices), 0) <= FEW


def _is_large(problem: Problem) -> bool:
    return len(problem.graph.names) * len(problem.cluster.devices) > LARGE
