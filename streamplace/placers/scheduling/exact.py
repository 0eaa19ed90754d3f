"""Placements of shortest makespan, proven by enumeration and by CP-SAT."""

from contextlib import suppress
from functools import cache

import numpy as np

from sim.schedule.exhaustive import enumeration, next_placements
from sim.schedule.passes import makespans, timetable
from streamplace.errors import UnsuitableError, UsageError
from streamplace.placers.base import Proof
from streamplace.placers.exact.decision import identical_devices
from streamplace.placers.scheduling.passes import pass_evaluator
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.search import Search
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.makespan_evaluator import MakespanEvaluator
from streamplace.util.arrays import Ints

TOLERANCE = 1e-9  # relative: placements that differ by less are equally good
CHANGES, CHANGES_PER_UNIT = 2_000, 500  # of the initial search
ROWS = 128  # placements evaluated per call; with more, a better one would be used later
STEPS = 20_000  # partial placements between two checks of the time
MAX_CELLS = 1 << 24  # operators x (operators + devices): larger tables take too much memory
FIRST_SHARE = 0.15  # of the time, for the enumeration before CP-SAT
CP_SAT_SHARE = 0.6  # of the time that is then left; the rest is for the enumeration again


def prove_pass(
    problem: Problem,
    rng: np.random.Generator,
    start: Placement | None,
    seconds: float,
    workers: int,
) -> Proof:
    """Return the best placement found, and a lower bound on the makespan of all placements.

    The enumeration follows the engine, so that it proves an optimum under the order of the
    objective. CP-SAT bounds the makespan under any order, and its placements are simulated.

    Raises
    ------
    UnsuitableError
        With noise.
    PlacementError, InfeasibleError
        If no feasible placement was found, or none exists.
    """
    scored = pass_evaluator(problem, "exact")
    if problem.makespan_objective.noise:
        raise UnsuitableError("placer 'exact' supports makespans without noise only")
    _compile()  # before the clock starts
    clock = Budget(seconds)
    units = problem.feasibility.unit_count
    found = Search(evaluations=CHANGES + CHANGES_PER_UNIT * units)(problem, rng, start)
    proof = _PassProof(scored, found.devices)
    tasks = scored.tasks
    if proof.closed or tasks.operators * (tasks.operators + tasks.devices) > MAX_CELLS:
        return proof.result()
    proof.enumerate(Budget(FIRST_SHARE * clock.seconds_left()))
    if not proof.closed:
        with suppress(UsageError):  # OR-tools is not installed
            limit = CP_SAT_SHARE * clock.seconds_left()
            proof.solve(limit, workers, int(rng.integers(2**31)))
    if not proof.closed:
        proof.enumerate(clock)
    return proof.result()


class _PassProof:
    """The best known placement of a problem, and a lower bound on the makespan of all placements.

    Parameters
    ----------
    devices
        (V,) a feasible placement.
    """

    def __init__(self, scored: MakespanEvaluator, devices: Ints) -> None:
        self._scored, self._devices = scored, devices
        self._reached = float(scored.makespans(devices)[0])
        self._bound = scored.compiled.bounds.best
        self._alike = identical_devices(scored.problem)
        self._tree = enumeration(scored.tasks, scored.compiled.rules, self._alike)

    @property
    def closed(self) -> bool:
        """Whether no placement is shorter, up to rounding."""
        return self._reached <= self._bound * (1.0 + TOLERANCE)

    def result(self) -> Proof:
        """Return the placement and the bound."""
        placement = Placement(self._scored.problem, self._devices)
        return Proof(placement, min(self._bound, self._reached), self.closed)

    def enumerate(self, clock: Budget) -> None:
        """Continue the enumeration until it is complete or time is up."""
        tasks, rules = self._scored.tasks, self._scored.compiled.rules
        rows: Ints = np.empty((ROWS, tasks.operators), np.int32)
        done = False
        while not done and clock.seconds_left() > 0:
            count, done = next_placements(tasks, rules, self._tree, self._limit, rows, STEPS)
            if count:
                self._offer(rows[:count])
        if done:
            self._bound = self._reached

    def solve(self, seconds: float, workers: int, seed: int) -> None:
        """Search with CP-SAT, and keep its bound.

        Raises
        ------
        UsageError
            If OR-tools is not installed.
        """
        from streamplace.placers.scheduling.cp_sat import ScheduleModel  # noqa: PLC0415 - slow to load

        scored = self._scored
        if not ScheduleModel.is_small(scored.tasks):
            return
        _, order = scored.best(self._devices)
        hint = self._devices, timetable(scored.tasks, order, self._devices).start
        clock = Budget(seconds)
        model = ScheduleModel(scored.tasks, scored.compiled.rules, self._alike, self._limit)
        answer = model.solve(clock.seconds_left(), workers, seed, hint)
        self._bound = max(self._bound, answer.bound)
        if answer.devices is not None:
            self._offer(answer.devices[None])

    @property
    def _limit(self) -> float:
        """The makespan that a placement must reach to be shorter by more than rounding."""
        return self._reached * (1.0 - 0.5 * TOLERANCE)

    def _offer(self, rows: Ints) -> None:
        """Keep the shortest of several placements, (K, V), if it is shorter."""
        for order in self._scored.orders:
            found = makespans(self._scored.tasks, order, rows, limit=self._reached)
            if found.min() < self._reached:
                self._reached = float(found.min())
                self._devices = rows[int(found.argmin())].copy()


@cache
def _compile() -> None:
    """Compile the kernels on a problem of two operators."""
    graph = StreamGraph([Operator("a", 1e7, 1.0), Operator("b", 1e7, 1.0)], [Stream("a", "b")])
    problem = Problem(graph, Cluster.equal(2), objective=Makespan())
    Search(evaluations=10)(problem, np.random.default_rng(0))
    proof = _PassProof(pass_evaluator(problem, "exact"), np.array([0, 1], np.int32))
    proof.enumerate(Budget())
    with suppress(UsageError):
        proof.solve(1.0, 1, 0)
