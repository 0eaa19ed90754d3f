"""The schedules of a pass as a model for CP-SAT, the constraint solver of OR-tools.

Operators may start in any order. Channels, receivers, CPU time of messages and barriers are left
out, and a message that several streams share counts with the size of each stream alone. Every
schedule of the engine is therefore a solution, and a bound on solutions is a bound on makespans.

CP-SAT works with integers: the limit is 2^40, and durations are rounded down.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sim.flow import Floats, Ints
from sim.schedule.bounds import times_on
from sim.schedule.ranks import waits
from sim.schedule.rules import Rules
from sim.schedule.task_graph import NIC, TaskGraph
from streamplace.errors import UsageError

try:
    from ortools.sat.python import cp_model
except ImportError:
    raise UsageError("placer 'exact' needs OR-tools: pip install 'streamplace[exact]'") from None

LIMIT = 1 << 40  # the makespan that is allowed, as an integer
MAX_TERMS = 2_000_000  # streams x pairs of devices: larger models take too long to build


class Found(NamedTuple):
    """What CP-SAT has found out within its time."""

    bound: float  # no schedule is shorter, in seconds; infinity if there is none within the limit
    devices: Ints | None  # (V,) device of each operator in the best schedule found


class ScheduleModel:
    """A CP-SAT model of all schedules that are at most as long as a limit.

    Parameters
    ----------
    alike
        (D,) the device before each one that can be exchanged with it, or -1.
    limit
        Makespan in seconds.
    """

    def __init__(self, tasks: TaskGraph, rules: Rules, alike: Ints, limit: float) -> None:
        self._tasks, self._rules, self._limit = tasks, rules, limit
        self._model = cp_model.CpModel()
        allowed, row_of = np.ascontiguousarray(rules.allowed), rules.row_of[rules.unit_of]
        self._times = times_on(tasks.columns, allowed, row_of)
        self._before = waits(tasks.columns, allowed, row_of, False)
        self._after = waits(tasks.columns, allowed, row_of, True)
        self._on = [
            [self._model.new_bool_var(f"{u} on {d}") for d in range(tasks.devices)]
            for u in range(len(rules.row_of))
        ]
        self._start = [self._model.new_int_var(0, LIMIT, f"start {v}") for v in self._operators]
        self._end = [self._model.new_int_var(0, LIMIT, f"end {v}") for v in self._operators]
        self._makespan = self._model.new_int_var(0, LIMIT, "makespan")
        self._place_units(alike)
        for v in self._operators:
            self._run(v)
        for e in range(len(tasks.source)):
            self._send(e)
        for d in range(tasks.devices):
            self._share(d)
        self._model.minimize(self._makespan)

    @staticmethod
    def is_small(tasks: TaskGraph) -> bool:
        """Return whether a model of the pass can be built in reasonable time."""
        return (len(tasks.source) + tasks.operators) * tasks.devices**2 <= MAX_TERMS

    def solve(self, seconds: float, workers: int, seed: int, hint: Hint | None) -> Found:
        """Search for a shorter schedule, or prove that there is none.

        Parameters
        ----------
        hint
            The devices, (V,), and the starts, (V,) in seconds, of a schedule to start from.
        """
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = workers
        solver.parameters.random_seed = seed
        solver.parameters.max_time_in_seconds = max(0.0, seconds)
        solver.parameters.catch_sigint_signal = False  # Ctrl-C must end the process, not one solve
        if hint is not None:
            self._add_hint(*hint)
        status: Any = solver.solve(self._model)
        if status == cp_model.INFEASIBLE:
            return Found(np.inf, None)
        bound = max(0.0, solver.best_objective_bound) / LIMIT * self._limit
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Found(bound, None)
        on = np.array([[solver.value(x) for x in row] for row in self._on]).argmax(axis=1)
        return Found(bound, on.astype(np.int32)[self._rules.unit_of])
