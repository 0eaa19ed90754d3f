"""Whether any placement reaches a throughput, and the incumbent: the best known placement."""

from dataclasses import dataclass
from functools import cached_property
from math import inf

from streamplace.placers.base import Found
from streamplace.placers.budget import Budget
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import identical_devices
from streamplace.scoring.compiled import compiled
from streamplace.scoring.registry import closed_form
from streamplace.scoring.score import PROVEN, ROUNDING
from streamplace.scoring.throughput import bound, throughput
from streamplace.sim.exact import (
    FOUND,
    OPEN,
    REFUTED,
    dive,
    hardness,
    merged,
    refute,
    start_again,
)
from streamplace.util.arrays import Ints
from streamplace.util.running_search import RATE, report

# Far above the effect of summing loads in another order. If no placement reaches `rate_to_beat`,
# the bound is two of these margins above `reached`; this must be below ROUNDING to close the gap.
MARGIN = 0.4 * ROUNDING

# Restarts use what failures have taught about the choice of units; as they grow, one of them is
# complete. The numbers are guesses.
FIRST, GROWTH = 1_000, 2.5  # nodes until the first restart, and their growth per restart
SLICE = 10_000  # nodes between two checks of the time, few enough to keep a limit
MAX_SIZE = 4_000_000  # units x units x devices: larger problems do not fit into memory


class Incumbent:
    """Lower and upper bound on the best throughput, with the placement that reaches the lower one.

    Parameters
    ----------
    placement
        A feasible placement to start from.

    Attributes
    ----------
    reached
        The throughput of `placement`, in tuples/s.
    """

    def __init__(self, problem: Problem, placement: Placement) -> None:
        self.problem, self.placement = problem, placement
        self.reached = float(throughput(problem, placement.devices)[0])

    @cached_property
    def bound(self) -> float:
        """The upper bound on any placement, in tuples/s."""
        return bound(self.problem)

    @property
    def closed(self) -> bool:
        """Whether the bounds have met, so that no placement is better by more than rounding."""
        return self.bound <= self.reached * (1.0 + ROUNDING)

    @property
    def rate_to_beat(self) -> float:
        """Tuples/s that a placement has to reach to be better by more than rounding."""
        return self.reached * (1.0 + MARGIN)

    def offer(self, placement: Placement, reached: float | None = None) -> bool:
        """Keep a feasible placement if it is better, and return whether it is.

        Parameters
        ----------
        reached
            Its throughput in tuples/s, if known.
        """
        scored = (
            float(throughput(self.problem, placement.devices)[0]) if reached is None else reached
        )
        better = scored > self.reached
        if better:
            self.placement, self.reached = placement, scored
            self.report()
        return better

    def none_reaches(self, rate: float) -> None:
        """Record that no placement reaches `rate` tuples/s, up to rounding."""
        self.bound = min(self.bound, rate * (1.0 + MARGIN))
        self.report()

    def report(self) -> None:
        """Report both bounds; see `running_search.report`."""
        report(RATE, self.reached, self.bound)

    def proof(self) -> Found:
        """Return the current placement and bound."""
        optimal = self.bound <= self.reached * (1.0 + PROVEN)
        return Found(self.placement, max(self.bound, self.reached), optimal)


@dataclass(frozen=True)
class DecisionOutcome:
    """The outcome of a search for a better placement.

    Parameters
    ----------
    proven
        Whether there is none.
    found
        The placement, if one was found; if neither holds, the search is not finished.
    margin
        How much better than asked for a placement may still be in spite of a proof, as a share.
    """

    proven: bool = False
    found: Placement | None = None
    margin: float = 0.0

    @property
    def open(self) -> bool:
        """Whether the question is still undecided."""
        return not self.proven and self.found is None


class DecisionProblem:
    """The question whether any placement reaches `rate` tuples/s, up to rounding.

    Units that no such placement separates are joined.

    Attributes
    ----------
    instance
        The problem with the joined units.
    limit
        Upper bound on each load of such a placement, relative to the instance's reference.
    identical
        (D,) for each device the last identical device before it, or -1.
    """

    def __init__(self, problem: Problem, rate: float) -> None:
        self.problem, self.rate = problem, rate
        original = compiled(problem).instance
        self.limit = problem.source_rate / (rate * original.reference)
        known = compiled(problem).load_bounds.together(self.limit, thorough=True)
        self._is_refuted, self._group = bool(known.refuted), known.group
        self.instance = merged(original, known.group)
        self.identical = identical_devices(problem.cluster, problem.constraints)
        self._search = dive(self.instance, self.identical, self.limit, hardness(self.instance))
        self._budget = float(FIRST)
        self._left = FIRST

    def search(self, nodes: int, budget: Budget) -> DecisionOutcome:
        """Examine up to `nodes` more partial placements, while time is left."""
        if self._is_refuted:
            return DecisionOutcome(proven=True)
        while nodes > 0 and budget.seconds_left() > 0:
            step = min(SLICE, nodes, self._left)
            verdict = refute(self.instance, self._search, self.limit, step)
            if verdict != OPEN:
                found = self.placement(self._search.now.on) if verdict == FOUND else None
                return DecisionOutcome(verdict == REFUTED, found)
            nodes -= step
            self._left -= step
            if self._left == 0:
                start_again(self._search)
                self._budget *= GROWTH
                self._left = int(self._budget)
        return DecisionOutcome()

    def placement(self, on: Ints) -> Placement:
        """Return the placement with the joined units on devices `on`, (U,)."""
        return Placement(self.problem, on[self._group][self.problem.feasibility.unit_of])


def is_small(problem: Problem) -> bool:
    """Return whether a decision problem fits into memory."""
    return problem.feasibility.unit_count**2 * len(problem.cluster.devices) <= MAX_SIZE


def decision_on(problem: Problem, share: float) -> DecisionProblem | None:
    """Return the question whether any placement has a relative throughput of at least `share`.

    If it is refuted, no placement has. A placement that it finds may miss the share by rounding or,
    under ``path-average``, because a link is slightly too full. The result is None if no limit on
    utilisation is known, or if the problem is too large.
    """
    if not is_small(problem):
        return None
    limit = closed_form(problem).highest_utilisation(share) * (1.0 + MARGIN)
    return DecisionProblem(problem, problem.source_rate / limit) if limit < inf else None
