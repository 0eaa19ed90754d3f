"""The placements of a pass as models for CP-SAT, the constraint solver of OR-tools."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from streamplace.placers.exact.solver import Run, cp_model
from streamplace.sim.flow import Floats, Ints
from streamplace.sim.rules import Rules
from streamplace.sim.schedule.bounds import times_on
from streamplace.sim.schedule.ranks import waits
from streamplace.sim.schedule.task_graph import ALL, NIC, NONE, TaskGraph

MAX_TERMS = 2_000_000  # streams x pairs of devices: larger models take too long to build


class Found(NamedTuple):
    """What CP-SAT has found out within its time."""

    bound: float  # no placement has a smaller loss, in seconds; at most the limit
    devices: Ints | None  # (V,) device of each operator in the best placement found


class PassModel(ABC):
    """A CP-SAT model of the placements of a pass whose loss is at most a limit.

    A subclass adds what bounds the loss, `_loss`.

    Parameters
    ----------
    alike
        (D,) the device before each one that can be exchanged with it, or -1.
    limit
        Largest loss in seconds.
    run
        What stands for the limit.
    """

    def __init__(self, tasks: TaskGraph, rules: Rules, alike: Ints, limit: float, run: Run) -> None:
        self._tasks, self._rules, self._limit, self._run = tasks, rules, limit, run
        self._model = cp_model.CpModel()
        self._masks = np.ascontiguousarray(rules.allowed), rules.row_of[rules.unit_of]
        self._times = times_on(tasks.columns, *self._masks)
        self._on = [
            [self._model.new_bool_var(f"{u} on {d}") for d in range(tasks.devices)]
            for u in range(len(rules.row_of))
        ]
        self._loss = self._model.new_int_var(0, run.limit, "loss")
        self._place_units(alike)
        self._add_loss()
        self._model.minimize(self._loss)

    @classmethod
    def is_small(cls, tasks: TaskGraph) -> bool:
        """Return whether a model of the pass can be built in reasonable time."""
        return cls.terms(tasks) + tasks.operators * tasks.devices**2 <= MAX_TERMS

    @staticmethod
    @abstractmethod
    def terms(tasks: TaskGraph) -> int:
        """Return an estimate of the number of terms of messages."""

    @staticmethod
    @abstractmethod
    def margin(tasks: TaskGraph, run: Run) -> float:
        """Return the share of a limit by which rounding can reduce a loss."""

    @abstractmethod
    def _add_loss(self) -> None:
        """Let the loss be at least that of the placement."""

    def solve(
        self, seconds: float, workers: int, seed: int, hint: tuple[Ints, Floats] | None
    ) -> Found:
        """Search for a placement with a smaller loss, or prove that there is none.

        Parameters
        ----------
        hint
            The devices, (V,), and the starts, (V,) in seconds, of a schedule to start from.
        """
        solver = self._run.solver(workers, seed, seconds)
        if hint is not None:
            self._add_hint(*hint)
        status: Any = solver.solve(self._model)
        if status == cp_model.INFEASIBLE:
            return Found(self._limit, None)
        bound = max(0.0, solver.best_objective_bound) / self._run.limit * self._limit
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Found(bound, None)
        on = np.array([[solver.value(x) for x in row] for row in self._on]).argmax(axis=1)
        return Found(bound, on.astype(np.int32)[self._rules.unit_of])

    @property
    def _operators(self) -> range:
        return range(self._tasks.operators)

    def _runs_on(self, v: int) -> list[Any]:
        return self._on[self._rules.unit_of[v]]

    def _place_units(self, alike: Ints) -> None:
        """Put every unit on one allowed device, within its limits, apart from its rivals."""
        rules, model = self._rules, self._model
        for u, row in enumerate(self._on):
            model.add_exactly_one(row)
            for d in np.flatnonzero(~rules.allowed[rules.row_of[u]]).tolist():
                model.add(row[d] == 0)
            for i in range(rules.first_rival[u], rules.first_rival[u + 1]):
                other = self._on[rules.rival[i]]
                for x, y in zip(row, other, strict=True):
                    model.add_at_most_one(x, y)
                for group in np.unique(rules.group_of) if rules.far[i] else ():
                    among = np.flatnonzero(rules.group_of == group)
                    model.add_at_most_one(each[d] for each in (row, other) for d in among)
        for d, r in np.argwhere(rules.needs.sum(axis=0) > rules.room).tolist():
            shares = rules.needs[:, r] / max(rules.room[d, r], 1.0)
            amounts = [self._run.rounded(share) for share in shares.tolist()]
            column = [row[d] for row in self._on]
            model.add(sum_of_products([*zip(amounts, column, strict=True)]) <= self._run.limit)
        for d in np.flatnonzero(alike >= 0).tolist():  # earlier units use earlier devices
            for u, row in enumerate(self._on):
                before = [self._on[other][alike[d]] for other in range(u)]
                model.add_bool_or([row[d].negated(), *before])

    def _rounded(self, seconds: float) -> int:
        """Return a duration as an integer; see `Run.rounded`."""
        # The quotient of durations that are longer than the limit could overflow.
        return self._run.rounded(seconds / self._limit if seconds <= self._limit else 2.0)

    def _add_hint(self, devices: Ints, start: Floats) -> None:
        leader = np.zeros(len(self._on), np.int32)
        leader[self._rules.unit_of] = devices
        for u, row in enumerate(self._on):
            for d, x in enumerate(row):
                self._model.add_hint(x, int(d == leader[u]))


class ScheduleModel(PassModel):
    """A CP-SAT model of all schedules that are at most as long as a limit."""

    @staticmethod
    def terms(tasks: TaskGraph) -> int:
        """Return an estimate of the number of terms of messages."""
        return Messages.terms(tasks)

    @staticmethod
    def margin(tasks: TaskGraph, run: Run) -> float:
        """Return the share of a limit by which rounding can shorten a schedule."""
        return run.margin(2 * tasks.operators + 2)  # operators, messages, a head and a tail

    def _add_loss(self) -> None:
        """Schedule all operators and messages before the makespan."""
        tasks, model, limit = self._tasks, self._model, self._run.limit
        self._before = waits(tasks.columns, *self._masks, False)
        self._after = waits(tasks.columns, *self._masks, True)
        self._start = [model.new_int_var(0, limit, f"start {v}") for v in self._operators]
        self._end = [model.new_int_var(0, limit, f"end {v}") for v in self._operators]
        for v in self._operators:
            self._execute(v)
        Messages(
            model,
            tasks,
            [self._runs_on(v) for v in self._operators],
            self._start,
            self._end,
            self._rounded,
        )
        for d in range(tasks.devices):
            self._share(d)

    def _execute(self, v: int) -> None:
        """Let an operator take its time on its device, between its head and its tail."""
        model, row = self._model, self._runs_on(v)
        start, end = self._start[v], self._end[v]
        lasts, head, tail = [], [], []
        for d, x in enumerate(row):
            whole = self._before[v, d] + self._times[v, d] + self._after[v, d]
            if not whole <= self._limit:
                model.add(x == 0)
                continue
            lasts.append((self._rounded(self._times[v, d]), x))
            head.append((self._rounded(self._before[v, d]), x))
            tail.append((self._rounded(self._after[v, d]), x))
        model.add(end == start + value_of_literals(lasts))
        model.add(start >= value_of_literals(head))
        model.add(self._loss >= end + value_of_literals(tail))

    def _share(self, d: int) -> None:
        """Let the operators on a device share its cores, which rest after each of them."""
        tasks, model = self._tasks, self._model
        intervals, demands = [], []
        cores = int(tasks.device_cores[d])
        for v in self._operators:
            lasts = self._times[v, d]
            # An operator of length 0 takes no core, but add_no_overlap (OR-Tools 9.15) would keep
            # it out of the middle of other intervals.
            if 0.0 < lasts <= self._limit:
                size = self._rounded(lasts + tasks.startup_s[d])
                x = self._runs_on(v)[d]
                intervals.append(
                    model.new_optional_fixed_size_interval_var(self._start[v], size, x, "")
                )
                demands.append(min(int(tasks.cores[v]), cores))
        # No two of them fit on the device at once, for which CP-SAT has the stronger constraint.
        if all(2 * demand > cores for demand in demands):
            model.add_no_overlap(intervals)
        else:
            model.add_cumulative(intervals, demands, cores)

    def _add_hint(self, devices: Ints, start: Floats) -> None:
        super()._add_hint(devices, start)
        for v in self._operators:
            begin = min(self._run.limit, self._rounded(float(start[v])))
            self._model.add_hint(self._start[v], begin)
            end = begin + self._rounded(self._times[v, devices[v]])
            self._model.add_hint(self._end[v], min(self._run.limit, end))


class CostModel(PassModel):
    """A CP-SAT model of all placements whose total cost is at most a limit.

    Every stream has a variable for each pair of devices, of which its ends have one. A message
    that several streams share costs at least what each of them alone would.
    """

    @staticmethod
    def terms(tasks: TaskGraph) -> int:
        """Return an estimate of the number of terms of messages, of which a variable takes ten."""
        return 10 * len(tasks.source) * tasks.devices**2

    @staticmethod
    def margin(tasks: TaskGraph, run: Run) -> float:
        """Return the share of a limit by which rounding can reduce a total cost."""
        return run.margin(tasks.operators + len(tasks.source))

    def _add_loss(self) -> None:
        """Add up the times of all operators and messages."""
        tasks, costs = self._tasks, []
        for v in self._operators:
            for x, seconds in zip(self._runs_on(v), self._times[v].tolist(), strict=True):
                if seconds > self._limit:
                    self._model.add(x == 0)
                else:
                    costs.append((self._rounded(seconds), x))
        shared: dict[tuple[int, int], Any] = {}
        for e in range(len(tasks.source)):
            v, w = int(tasks.source[e]), int(tasks.target[e])
            if tasks.silent[e] or self._runs_on(v) is self._runs_on(w):
                continue
            seconds = tasks.seconds_between(e)
            for b, crossing in enumerate(self._crossings(v, w)):
                terms = [
                    (self._rounded(seconds[a, b]), x) for a, x in enumerate(crossing) if a != b
                ]
                if tasks.multicast == NONE:
                    costs += terms
                    continue
                key = v, 0 if tasks.multicast == ALL else b
                if key not in shared:
                    shared[key] = self._model.new_int_var(0, self._run.limit, "")
                    costs.append((1, shared[key]))
                self._model.add(shared[key] >= sum_of_products(terms))
        self._model.add(self._loss >= sum_of_products(costs))

    def _crossings(self, v: int, w: int) -> list[list[Any]]:
        """Return whether w is on each device and v on each, (D, D)."""
        model, own, other = self._model, self._runs_on(v), self._runs_on(w)
        both = [[model.new_bool_var("") for _ in own] for _ in other]
        for row, y in zip(both, other, strict=True):
            model.add(sum(row) == y)
        for column, x in zip(zip(*both, strict=True), own, strict=True):
            model.add(sum(column) == x)
        return both


class Messages:
    """The messages of a pass in a CP-SAT model.

    Parameters
    ----------
    model
        The model, a ``CpModel``.
    on
        For each operator, whether it is on each device.
    start, end
        Variables of each operator.
    rounded
        Turns seconds into the units of the model.
    """

    def __init__(
        self,
        model: Any,
        tasks: TaskGraph,
        on: Sequence[list[Any]],
        start: list[Any],
        end: list[Any],
        rounded: Callable[[float], int],
    ) -> None:
        self._model, self._tasks, self._on = model, tasks, on
        self._start, self._end, self._rounded = start, end, rounded
        self._together: dict[tuple[int, int], Any] = {}
        for e in range(len(tasks.source)):
            self._send(e)
        if tasks.multicast != NONE:
            for v in np.unique(tasks.source).tolist():
                streams = range(tasks.first_out[v], tasks.end_out[v])
                sent = [e for e in streams if not tasks.silent[e]]
                for e in sent:
                    self._wait_for_largest(v, e, sent)

    @staticmethod
    def terms(tasks: TaskGraph) -> int:
        """Return an estimate of the number of terms."""
        count = len(tasks.source)
        if tasks.multicast != NONE:
            count += int((np.bincount(tasks.source).astype(np.int64) ** 2).sum())
        return count * tasks.devices**2

    def _send(self, e: int) -> None:
        """Let the target of a stream wait for a message of the stream's own size."""
        tasks, model = self._tasks, self._model
        v, w = int(tasks.source[e]), int(tasks.target[e])
        start, end = self._start[w], self._end[v]
        model.add(start >= end)
        if tasks.silent[e]:
            return
        seconds = tasks.seconds_between(e)
        if self._on[v] is self._on[w] or not seconds.any():
            return
        # All links are alike, so that one literal stands for all pairs of devices.
        if tasks.row == 0 and tasks.network != NIC:
            apart = self._same(v, w).negated()
            delay = self._rounded(seconds[0, -1])
            model.add(start >= end + delay).only_enforce_if(apart)
            return
        for b, y in enumerate(self._on[w]):
            model.add(start >= end + self._from(v, seconds[:, b])).only_enforce_if(y)

    def _wait_for_largest(self, v: int, e: int, streams: list[int]) -> None:
        """Let the target of a stream wait for larger streams to its device."""
        bits, target = self._tasks.bits, self._tasks.target
        row = self._on[target[e]]
        for other in streams:
            if bits[other] > bits[e]:
                seconds = self._tasks.seconds_between(other)
                for b, y in enumerate(self._on[target[other]]):
                    arrival = self._end[v] + self._from(v, seconds[:, b])
                    self._model.add(self._start[target[e]] >= arrival).only_enforce_if(y, row[b])

    def _same(self, v: int, w: int) -> Any:
        """Return whether two operators are on one device."""
        if (v, w) not in self._together:
            model = self._model
            same = self._together[v, w] = model.new_bool_var("")
            for x, y in zip(self._on[v], self._on[w], strict=True):
                model.add_bool_or([same.negated(), x.negated(), y])
                model.add_bool_or([same, x.negated(), y.negated()])
        return self._together[v, w]

    def _from(self, v: int, seconds: Iterable[float]) -> Any:
        """Return the value for the device of a producer."""
        values = zip(map(self._rounded, seconds), self._on[v], strict=True)
        return value_of_literals(list(values))


def sum_of_products(terms: Sequence[tuple[int, Any]]) -> Any:
    """Return the sum of integers times variables."""
    amounts = [amount for amount, _ in terms]
    return cp_model.LinearExpr.weighted_sum([each for _, each in terms], amounts)


def value_of_literals(values: Sequence[tuple[int, Any]]) -> Any:
    """Return the value of the literal that holds, of which exactly one does.

    The smallest value is a constant, so that it bounds the sum whatever the literals are.
    """
    if not values:
        return 0
    least = min(value for value, _ in values)
    rest = [(value - least, literal) for value, literal in values if value > least]
    return least + sum(amount * literal for amount, literal in rest)
