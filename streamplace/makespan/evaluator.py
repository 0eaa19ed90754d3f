"""The evaluator of makespans."""

from typing import Any

import numpy as np

from streamplace.errors import ProblemError, SimulationError
from streamplace.makespan.compiled_pass import CompiledPass, compiled_pass, in_sequence, names_of
from streamplace.makespan.page import order_to, tasks_to
from streamplace.makespan.score import MakespanScore
from streamplace.problem.device_kinds import why_impossible
from streamplace.problem.makespan import DispatchOrder
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import LocalSearch, Placements, ScheduleTrace
from streamplace.scoring.registry import evaluator_of_pass
from streamplace.sim.schedule.fifo import serves
from streamplace.sim.schedule.passes import makespans, timetable
from streamplace.sim.schedule.state import Order
from streamplace.sim.schedule.task_graph import TaskGraph
from streamplace.util.arrays import Floats, Ints
from streamplace.util.running_search import count


class MakespanEvaluator:
    """Evaluator of placements under the makespan objective; see `Evaluator`.

    With the order ``any``, the makespan of a placement is the shortest under the orders of
    `streamplace.problem.makespan.CHOICES`; with noise, it is the mean over the repeats.

    Attributes
    ----------
    problem
        The problem.
    compiled
        Arrays of the problem, bounds, and constraints as kernels take them.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.compiled: CompiledPass = compiled_pass(problem)
        self.order_names: tuple[DispatchOrder, ...] = names_of(problem.makespan_objective.order)

    @property
    def tasks(self) -> TaskGraph:
        """One pass as arrays."""
        return self.compiled.tasks

    @property
    def orders(self) -> tuple[Order, ...]:
        """The orders of which the best counts, in the order of `order_names`."""
        return tuple(self.compiled.order(name) for name in self.order_names)

    @property
    def is_fast(self) -> bool:
        """Whether the fast engine of ``fifo`` computes the makespans."""
        aim = self.problem.makespan_objective
        return aim.order == "fifo" and not aim.noise and serves(self.tasks.columns)

    @property
    def parts(self) -> int:
        """The number of operators and streams of all passes that evaluate one placement."""
        return (self.tasks.operators + len(self.tasks.source)) * self.passes

    @property
    def passes(self) -> int:
        """The number of passes that the engine runs to evaluate one placement."""
        return len(self.order_names) * len(self.compiled.noises)

    @property
    def least_s(self) -> float:
        """The quick lower bound on the loss of every placement without noise, in seconds."""
        return self.compiled.bounds.best

    @property
    def bound_s(self) -> float | None:
        """The lower bound that is printed, in seconds; None with noise.

        It also follows from what cannot be apart (`CompiledPass.together_s`) and from what must
        cross (`CompiledPass.busiest_s`), which takes about .2 s with 3,000 operators.
        """
        if self.problem.makespan_objective.noise:
            return None
        return max(self.compiled.together_s, self.compiled.busiest_s)

    @property
    def bound(self) -> float | None:
        """The bound that is printed, in the unit of scores; see `bound_s`."""
        return self.bound_s

    def makespans(self, devices: Placements) -> Floats:
        """Return the makespan of each placement in seconds, (K,)."""
        shortest: Floats = np.min([self.under(order, devices) for order in self.orders], axis=0)
        return shortest

    def under(self, order: Order, devices: Placements) -> Floats:
        """Return the makespan of each placement under one order in seconds, (K,)."""
        drawn = self._repeats(order, devices)
        return drawn[0] if len(drawn) == 1 else np.asarray(drawn.mean(axis=0))

    def in_sequence(self, operators: Ints, devices: Placements) -> Floats:
        """Return the makespan of each placement, (K,), in seconds, in the order of a list.

        Parameters
        ----------
        operators
            (V,) all operators, each after its inputs; a device waits for the next of its own.
        """
        return self.under(in_sequence(self.tasks, operators), devices)

    def _repeats(self, order: Order, devices: Placements) -> Floats:
        """Return the makespans of each repeat and placement, (r, K), in seconds."""
        rows = rows_of(devices)
        count(len(rows) * len(self.compiled.noises))
        return np.stack([makespans(self.tasks, order, rows, n) for n in self.compiled.noises])

    def quality(self, devices: Placements) -> Floats:
        """Return the lower bound over the loss of each placement, (K,); 1 if the loss is 0."""
        seconds = self.loss(devices)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(seconds > 0.0, np.minimum(self.least_s / seconds, 1.0), 1.0)

    def loss(self, devices: Placements) -> Floats:
        """Return the makespan of each placement in seconds, (K,)."""
        return self.makespans(devices)

    def trace(self, devices: Placements) -> ScheduleTrace:
        """Return starts, ends and busy shares under each placement, of the first repeat."""
        tables = [
            timetable(self.tasks, self.best(row)[1], row, self.compiled.noises[0])
            for row in rows_of(devices)
        ]
        return ScheduleTrace(
            device_loads=np.stack([table.busy for table in tables]),
            start_s=np.stack([table.start for table in tables]),
            finish_s=np.stack([table.end for table in tables]),
        )

    def best(self, devices: Placements) -> tuple[DispatchOrder, Order]:
        """Return the order, with its name, under which a placement, (V,), is shortest."""
        if len(self.orders) == 1:
            return self.order_names[0], self.orders[0]
        best = int(np.argmin([self.under(order, devices)[0] for order in self.orders]))
        return self.order_names[best], self.orders[best]

    def score(self, devices: Placements) -> MakespanScore:
        """Return the score of one placement, (V,).

        Raises
        ------
        ProblemError
            If an operator is on a device that cannot run it.
        SimulationError
            If a time overflows.
        """
        name, order = self.best(devices)
        repeats = self._repeats(order, devices)[:, 0]
        self.check_finite(repeats, devices, "the pass never ends")
        noises = self.compiled.noises
        return MakespanScore(
            problem=self.problem,
            timetable=timetable(self.tasks, order, rows_of(devices)[0], noises[0]),
            order=name,
            makespan_s=float(repeats.mean()),
            deviation_s=float(repeats.std()) if len(repeats) > 1 else None,
            bound_s=self.bound_s,
            fastest=self.compiled.fastest,
        )

    def check_finite(self, seconds: Floats, devices: Placements, fault: str) -> None:
        """Raise ProblemError or SimulationError, see `score`, unless all times are finite."""
        if not np.isfinite(seconds).all():
            if why := why_impossible(self.problem.graph, self.problem.cluster, rows_of(devices)[0]):
                raise ProblemError(why)
            raise SimulationError(f"{fault}: a time overflows")

    @property
    def best_possible(self) -> float | None:
        """1: the quality of a placement whose makespan is the lower bound; None with noise."""
        return None if self.problem.makespan_objective.noise else 1.0

    def as_json(self) -> dict[str, Any]:
        """Return the pass and the orders of which the best counts; see `makespan.page`."""
        named = zip(self.order_names, self.orders, strict=True)
        return {
            "tasks": tasks_to(self.tasks),
            "orders": [{"name": name, **order_to(order)} for name, order in named],
        }

    def local_search(self) -> LocalSearch | None:
        """Return None: the search for short makespans has its own kernels."""
        return None


def evaluator_for_pass(problem: Problem) -> MakespanEvaluator:
    """Return a new evaluator of a problem whose objective is about one pass."""
    made: MakespanEvaluator = (problem.objective.evaluator or MakespanEvaluator)(problem)
    return made


def makespan_evaluator(problem: Problem) -> MakespanEvaluator:
    """Return the evaluator of a problem; see `evaluator_of_pass`."""
    made: MakespanEvaluator = evaluator_of_pass(problem)
    return made


def rows_of(devices: Placements) -> Ints:
    """Return placements as (K, V) int32, contiguous and writable, so that kernels compile once."""
    rows = np.ascontiguousarray(np.atleast_2d(devices), dtype=np.int32)
    return rows if rows.flags.writeable else rows.copy()
