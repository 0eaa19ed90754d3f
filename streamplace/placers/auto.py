"""The default placer: several others, then a search from their answers, within a time limit."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from math import inf

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.base import Placer
from streamplace.placers.search.annealing import Budget, check_limits
from streamplace.placers.search.consolidate import consolidate, fewest_devices
from streamplace.placers.search.exhaustive import best_of_all, count_of
from streamplace.placers.search.search import best_of_chains, starts
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.quality import qualities
from streamplace.scoring.registry import evaluator
from streamplace.util import work_clock

SECONDS = 1.0
LARGE = 5_000  # operators x devices
FEW = 5_000  # placements that are all tried
STARTS = 4  # placements that the second search sets out from: the best
FIRST, SECOND = 0.5, 0.75  # of what is left, for each search: the rest is for using fewer devices
CLOSE = 1.0 - 1e-12


@dataclass(frozen=True)
class Auto:
    """Ask several placers, search on from their best answers, and spare what costs no throughput.

    Among placements within 0.1% of the best throughput it takes the fewest devices, and among
    those the least traffic between devices. It stops early where the bound is reached. Of devices
    that are alike it uses the first, unless it sets out from a placement that does otherwise.

    Parameters
    ----------
    placers
        Whom to ask, the quickest first.
    of_large
        Whom to ask where operators x devices is above 5,000: partitioners that try every number
        of parts, and the fuser, whose time grows with the square of the graph, take too long there.
    policy
        Loads a policy, asked last of `placers`; weights that cannot be read are told, since without
        them the answer would be another.
    seconds
        Wall time, 1 unless told or limited by `evaluations`. Answers then depend on the machine.
    evaluations
        Changes that the search tries, if that is to be the limit.
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
        """Return the best placement, or raise what the last placer raised if none had any."""
        budget = Budget(self.seconds, self.evaluations)
        if self.seconds is None and self.evaluations is None:
            budget = Budget(SECONDS)
        found, enough = self._answers(problem, rng, start, budget)
        if evaluator(problem).best_possible is None:
            return fewest_devices(problem, found)
        if not enough:
            found = self._searched(problem, rng, start, found, budget)
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
        """Search from where `search` sets out, as it would alone, then from the best placements."""
        known = list(found)
        if not _is_large(problem):
            alone = deepcopy(rng)
            rows = starts(problem, alone, start)
            known.append(best_of_chains(problem, alone, rows, budget.share(FIRST)))
        order = np.argsort(-qualities(problem, known), kind="stable")
        rows = [known[i].devices for i in order[:STARTS]]
        anywhere = np.full(problem.feasibility.unit_count, -1, dtype=np.int32)
        if count_of(anywhere, len(problem.cluster.devices), 0) <= FEW:
            known.append(best_of_all(problem, anywhere, np.zeros(len(anywhere)), 0, known[0]))
        return [*known, best_of_chains(problem, rng, rows, budget.share(SECOND))]

    def _answers(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None, budget: Budget
    ) -> tuple[list[Placement], bool]:
        """Ask one placer after another while there is time; the bound ends it too.

        Each answers as it would alone with the same seed.
        """
        best_possible = evaluator(problem).best_possible
        limit = inf if best_possible is None else best_possible * CLOSE
        found, failure = [] if start is None else [start], PlacementError("no placer was asked")
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


def _is_large(problem: Problem) -> bool:
    return len(problem.graph.names) * len(problem.cluster.devices) > LARGE
