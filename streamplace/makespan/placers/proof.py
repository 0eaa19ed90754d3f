"""Proofs that no placement of a pass is better, by CP-SAT and by enumeration."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

import numpy as np

from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.placers.base import Found
from streamplace.placers.budget import Budget
from streamplace.problem.placement import Placement
from streamplace.problem.symmetry import identical_devices
from streamplace.scoring.score import PROVEN, ROUNDING
from streamplace.scoring.values import without_rounding
from streamplace.sim import work_clock
from streamplace.sim.schedule.exhaustive import enumeration, next_placements
from streamplace.sim.schedule.fifo_tree import fifo_tree, next_shorter, serves
from streamplace.sim.schedule.passes import makespans, timetable
from streamplace.util.arrays import Floats, Ints
from streamplace.util.plugins import load_ours
from streamplace.util.running_search import TIME, report
from streamplace.util.running_search import count as count_evaluations

ROWS = 128  # placements evaluated per call; with more, a better one would be used later
# Of CP-SAT's time for the run that searches; the rest is to confirm its bound. A guess.
SEARCH_SHARE = 0.5
RUNS = "streamplace.placers.exact.solver:RUNS"
"""The runs of CP-SAT, which are loaded with OR-tools."""
STEPS = 20_000  # partial placements between two checks of the time, few enough to keep a limit


class Proof(ABC):
    """The best known placement of a pass, and a lower bound on the loss of all placements.

    Parameters
    ----------
    devices
        (V,) a feasible placement.
    """

    model: ClassVar[str]
    """The model for CP-SAT."""

    def __init__(self, scored: MakespanEvaluator, devices: Ints) -> None:
        self._scored, self._devices, self._bound = scored, devices, scored.least_s
        self._reached = float(scored.loss(devices)[0])
        self._alike = identical_devices(scored.problem.cluster, scored.problem.constraints)

    @property
    def closed(self) -> bool:
        """Whether no placement is better by more than rounding."""
        return self._reached <= self._bound * (1.0 + ROUNDING)

    @property
    def proven(self) -> bool:
        """Whether no placement is better by more than what CP-SAT can tell."""
        return self._reached <= self._bound * (1.0 + PROVEN)

    def report(self) -> None:
        """Report how far the proof is; see `running_search.report`."""
        report(TIME, self._reached, self._bound)

    def result(self) -> Found:
        """Return the placement and the bound.

        Raises
        ------
        SimulationError
            If the bound is above the loss by more than rounding.
        """
        placement = Placement(self._scored.problem, self._devices)
        return Found(placement, without_rounding(self._bound, self._reached), self.proven)

    def solve(self, seconds: float, workers: int, seed: int) -> None:
        """Search with CP-SAT, and keep the bound that both of its runs prove.

        Raises
        ------
        UsageError
            If OR-tools is not installed.
        """
        with work_clock.loading():
            model, (searching, confirming) = load_ours(self.model), load_ours(RUNS)
        tasks, rules = self._scored.tasks, self._scored.compiled.rules
        if not model.is_small(tasks):
            return
        budget = Budget(seconds)
        _, order = self._scored.best(self._devices)
        hint = self._devices, timetable(tasks, order, self._devices).start
        first = model(tasks, rules, self._alike, self._limit, searching)
        answer = first.solve(SEARCH_SHARE * budget.seconds_left(), workers, seed, hint)
        self._offer_found(answer.devices)
        # Only a bound that helps is worth the time to confirm it.
        if answer.bound > self._bound:
            limit = answer.bound * (1.0 - model.margin(tasks, confirming))
            second = model(tasks, rules, self._alike, limit, confirming)
            answer = second.solve(budget.seconds_left(), workers, seed, None)
            self._offer_found(answer.devices)
            if answer.devices is None:  # otherwise, one of the runs is wrong
                self._bound = max(self._bound, answer.bound)

    @property
    def _limit(self) -> float:
        """The loss that a placement must reach to be better by more than rounding."""
        return self._reached * (1.0 - 0.5 * ROUNDING)

    def _offer_found(self, devices: Ints | None) -> None:
        """Keep a placement of CP-SAT if it is better, and rounding did not let it break a rule."""
        if devices is not None and self._scored.problem.feasibility.violation(devices) is None:
            self._offer(devices[None])

    def _offer(self, rows: Ints) -> None:
        """Keep the best of several feasible placements, (K, V), if it is better."""
        for losses in self._losses(rows):
            if losses.min() < self._reached:
                self._reached = float(losses.min())
                self._devices = rows[int(losses.argmin())].copy()

    @abstractmethod
    def _losses(self, rows: Ints) -> Iterator[Floats]:
        """Yield losses of placements, (K,), in each way of computing them; the least one counts."""


class PassProof(Proof):
    """A proof that no placement has a shorter makespan; see `Proof`."""

    model = "streamplace.makespan.placers.cp_sat:ScheduleModel"

    def __init__(self, scored: MakespanEvaluator, devices: Ints) -> None:
        super().__init__(scored, devices)
        self._next = self._enumeration()

    def enumerate(self, budget: Budget) -> None:
        """Continue the enumeration until it is complete or time is up."""
        rows: Ints = np.empty((ROWS, self._scored.tasks.operators), np.int32)
        done = False
        while not done and budget.seconds_left() > 0:
            count, done = self._next(self._limit, rows, STEPS)
            if count:
                self._offer(rows[:count])
        if done:
            self._bound = self._reached

    def _enumeration(self) -> Callable[[float, Ints, int], tuple[int, bool]]:
        """Return an enumeration from its beginning: in the order of time where that is possible."""
        tasks, rules = self._scored.tasks, self._scored.compiled.rules
        # In the order of time, what is known of a partial pass is exact; in any other order it
        # bounds less (sim/schedule/fifo_tree.py).
        if serves(tasks, self._scored.orders):
            return partial(next_shorter, tasks, rules, fifo_tree(tasks, rules, self._alike))
        return partial(next_placements, tasks, rules, enumeration(tasks, rules, self._alike))

    def _losses(self, rows: Ints) -> Iterator[Floats]:
        """Yield the makespans under each order; a makespan above what was reached is infinite."""
        for order in self._scored.orders:
            count_evaluations(len(rows))
            yield makespans(self._scored.tasks, order, rows, limit=self._reached)
