"""Examination of sets of devices: whether each carries everything offered."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum

import numpy as np

from streamplace.capacity.subset.conditions import (
    Counts,
    Kinds,
    conditions,
    covers,
    distance,
    losses,
    without,
)
from streamplace.capacity.subset.sustained import Sustained, sustained
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.budget import Budget
from streamplace.placers.exact.decision import decision_on
from streamplace.placers.repair import feasible
from streamplace.placers.search.balance import CARRIED
from streamplace.problem.losses import restricted
from streamplace.problem.objective import MAX_RATE
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import throughput_evaluator
from streamplace.scoring.throughput import ceiling, throughput_where_scored
from streamplace.sim.greedy import least_loaded
from streamplace.util.arrays import Floats, Ints

CHANGES, CHANGES_PER_UNIT = 10_000, 100  # tried per set at effort 0
NODES = 10_000  # partial placements examined by a proof at effort 0
QUICK = -1  # an effort: a search from placements on other sets, and no proof
NODES_TO_GROW = 2_000  # the same, to refute a larger set than one already refuted
GROWTH = 8  # factor of both from one effort to the next
STARTS, RECENT = 3, 40  # placements on other sets from which a search starts, of the latest ones


class Verdict(Enum):
    """The result of an examination."""

    CARRIES = 1
    REFUTED = 2
    OPEN = 3


class Examiner:
    """Examines sets of devices and keeps what is known about them.

    A set that contains one that carries everything does so too, and no part of a refuted set does.

    Parameters
    ----------
    changes
        Changes tried by the search for a placement on each set, at effort 0; None: 10,000 plus 100
        per unit.
    budget
        The time that is left.

    Attributes
    ----------
    conditions
        Conditions that every set meets which carries everything.
    results
        The best placement found on each set that was searched.
    refuted
        All sets for which a proof was found, in order, besides those that violate the conditions.
    """

    def __init__(
        self, problem: Problem, kinds: Kinds, seed: int, changes: int | None, budget: Budget
    ) -> None:
        self.problem, self.kinds, self.budget = problem, kinds, budget
        self.conditions = conditions(problem, kinds, CARRIED)
        self.results: dict[Counts, Sustained] = {}
        self._highest: dict[Counts, float] = {}
        self.refuted: list[Counts] = []
        self._seed = seed
        units = problem.feasibility.unit_count
        self._changes = CHANGES + CHANGES_PER_UNIT * units if changes is None else changes
        self._fatal = Counter[Counts]()  # how often a set did not carry everything after a loss
        self._carrying: list[Counts] = []
        self._largest_refuted: list[Counts] = []

    def examine(self, counts: Counts, effort: int = 0) -> Verdict:
        """Return whether a set carries everything; a higher effort searches longer.

        Parameters
        ----------
        effort
            A number from 0, or `QUICK`.
        """
        verdict = self._known(counts)
        if verdict is not Verdict.OPEN:
            return verdict
        problem = self._restricted(counts)
        if problem is None or self._is_bounded(problem):
            self._refute(counts)
            return Verdict.REFUTED
        self.measure(counts, effort, enough=True, problem=problem)
        verdict = self._known(counts)
        if verdict is not Verdict.OPEN or effort == QUICK:
            return verdict
        if throughput_evaluator(problem).bound < problem.source_rate * CARRIED:
            self._refute(counts)
            return Verdict.REFUTED
        return self._prove(counts, problem, NODES * GROWTH**effort)

    def survives(self, counts: Counts, survive: int, effort: int = 0) -> Verdict:
        """Return whether what is left of a set carries everything after any loss of devices."""
        verdict, possible = Verdict.CARRIES, losses(counts, survive, self.kinds.kept)
        for lost in sorted(possible, key=lambda lost: -self._fatal[lost]):
            after = self.examine(without(counts, lost), effort)
            self._fatal[lost] += after is not Verdict.CARRIES
            if after is Verdict.REFUTED:
                return after
            if after is Verdict.OPEN:
                verdict = after
                if effort <= 0 or self.budget.seconds_left() <= 0:
                    return verdict
        return verdict

    def is_refuted(self, counts: Counts) -> bool:
        """Return whether a short proof shows that a set does not carry everything."""
        verdict = self._known(counts)
        if verdict is not Verdict.OPEN:
            return verdict is Verdict.REFUTED
        problem = self._restricted(counts)
        if problem is None or self._is_bounded(problem):
            return True
        return self._prove(counts, problem, NODES_TO_GROW) is Verdict.REFUTED

    def grow(self, counts: Counts) -> Counts:
        """Return a refuted set that contains a refuted set and is as large as short proofs show."""
        grown = counts
        for kind in np.argsort(self.kinds.price, kind="stable").tolist():
            for wanted in (self.kinds.everything[kind], grown[kind] + 1):
                if not grown[kind] < wanted <= self.kinds.everything[kind]:
                    continue
                larger = (*grown[:kind], wanted, *grown[kind + 1 :])
                if self.budget.seconds_left() > 0 and self.is_refuted(larger):
                    grown = larger
                    break
        self._refute(grown)
        return grown

    def measure(
        self,
        counts: Counts,
        effort: int = 0,
        *,
        enough: bool = False,
        problem: Problem | None = None,
    ) -> Sustained | None:
        """Search for the best placement on a set; None if there is none, or none was found.

        Parameters
        ----------
        enough
            Whether to stop at a placement that carries everything.
        """
        problem = self._restricted(counts) if problem is None else problem
        if problem is None:
            return None
        seconds = self.budget.seconds_left() if self.budget.seconds is not None else None
        changes = self._changes * GROWTH ** max(0, effort)
        budget = Budget(None if seconds is None else max(0.0, seconds), changes)
        rng = np.random.default_rng([self._seed, effort + 1, *counts])
        before = self.results.get(counts)
        try:
            known = self._moved_here(problem, counts)
            found = sustained(problem, rng, known, budget, enough=enough, quick=effort == QUICK)
        except InfeasibleError:
            self._refute(counts)
            return None
        except PlacementError:
            return None
        if before is None or _rank(found) > _rank(before):
            self.results[counts] = found
        if found.carries_all:
            self._carry(counts)
        elif found.is_best:
            self._refute(counts)
        return self.results[counts]

    def inherit(self, counts: Counts, found: Sustained) -> Sustained | None:
        """Return what a set sustains with a placement on a part of it."""
        problem = self._restricted(counts)
        if problem is None:
            return None
        both = (found.placement, found.carrying)
        rows = [Placement.of(problem, each.assignment).devices for each in both]
        rng = np.random.default_rng(self._seed)
        return sustained(problem, rng, rows, Budget(None, 1), quick=True)

    def highest(self, counts: Counts) -> float:
        """Return an upper bound on the source rate that a set sustains, in tuples/s.

        It is 0 if the set has no placement, and at most `MAX_RATE`.
        """
        if (found := self.results.get(counts)) is not None:
            return found.bound
        if counts not in self._highest:
            problem = self._restricted(counts)
            self._highest[counts] = 0.0 if problem is None else min(ceiling(problem), MAX_RATE)
        return self._highest[counts]

    def _known(self, counts: Counts) -> Verdict:
        if any(covers(counts, other) for other in self._carrying):
            return Verdict.CARRIES
        if any(covers(other, counts) for other in self._largest_refuted):
            return Verdict.REFUTED
        if not self.conditions.hold(np.array([counts]))[0]:
            return Verdict.REFUTED
        return Verdict.OPEN

    def _restricted(self, counts: Counts) -> Problem | None:
        """Return the problem on a set; None if it is infeasible."""
        if not any(counts):
            return None
        try:
            return restricted(self.problem, self.kinds.devices(counts))
        except InfeasibleError:
            return None

    def _is_bounded(self, problem: Problem) -> bool:
        """Return whether the quick bound on throughput is too low."""
        return ceiling(problem) < problem.source_rate * CARRIED

    def _prove(self, counts: Counts, problem: Problem, nodes: int) -> Verdict:
        decision = decision_on(problem, CARRIED)
        if decision is None:
            return Verdict.OPEN
        outcome = decision.search(nodes, self.budget)
        if outcome.proven:
            self._refute(counts)
            return Verdict.REFUTED
        if outcome.found is None:
            return Verdict.OPEN
        devices = outcome.found.devices
        reached = throughput_where_scored(problem, devices[None])[0]
        if reached < CARRIED * problem.source_rate or problem.feasibility.violation(devices):
            return Verdict.OPEN
        budget = Budget(None, 1)
        rng = np.random.default_rng(self._seed)
        self.results[counts] = sustained(problem, rng, [devices], budget, enough=True)
        self._carry(counts)
        return Verdict.CARRIES

    def _carry(self, counts: Counts) -> None:
        smaller = [other for other in self._carrying if not covers(other, counts)]
        self._carrying = [*smaller, counts]

    def _refute(self, counts: Counts) -> None:
        self.refuted.append(counts)
        others = [other for other in self._largest_refuted if not covers(counts, other)]
        self._largest_refuted = [*others, counts]

    def _moved_here(self, problem: Problem, counts: Counts) -> list[Ints]:
        """Return placements on other sets, moved to the devices of this one."""
        recent = list(self.results)[-RECENT:]
        near = sorted(recent, key=lambda other: distance(counts, other))
        rows = []
        for other in near[:STARTS]:
            with suppress(InfeasibleError, PlacementError):
                rows.append(moved(problem, self.results[other].carrying.assignment))
        return rows


def _rank(found: Sustained) -> tuple[bool, float, float]:
    """Return a key by which a result is better."""
    return found.carries_all, found.max_source_rate, found.relative_throughput


def moved(problem: Problem, assignment: Mapping[str, str]) -> Ints:
    """Return a feasible placement, (V,), near an assignment that may use other devices.

    Units without a device go to the least loaded one, those with the most work first.

    Parameters
    ----------
    assignment
        Operator -> device, for all operators.

    Raises
    ------
    PlacementError, InfeasibleError
        If no feasible placement is found.
    """
    feasibility, index, capacity = (
        problem.feasibility,
        problem.cluster.index,
        problem.cluster.capacity,
    )
    work: Floats = np.bincount(feasibility.unit_of, flow(problem).work).astype(np.float64)
    first = [problem.graph.names[v] for v in feasibility.first_of]
    on = np.array([index.get(assignment[name], -1) for name in first], dtype=np.int32)
    placed = on >= 0
    load = np.bincount(on[placed], work[placed], len(capacity)) / capacity
    left = np.flatnonzero(~placed)
    order = left[np.argsort(-work[left], kind="stable")]
    least_loaded(on, order, work, np.ascontiguousarray(feasibility.allowed), capacity, load)
    return feasible(problem, on[feasibility.unit_of]).devices
