"""Plans on equal devices: the source rate that 1, 2, … of them sustain."""

from collections.abc import Callable
from dataclasses import replace
from math import ceil

import numpy as np

from streamplace.capacity.plan.latency import planned_within
from streamplace.capacity.plan.result import Plan, PlanRow
from streamplace.capacity.settings import PlanSettings
from streamplace.capacity.subset.sustained import Sustained, sustained
from streamplace.errors import (
    InfeasibleError,
    PlacementError,
    ProblemError,
    StreamplaceError,
)
from streamplace.latency.within_limit import refuse_disproved
from streamplace.placers.auto import evaluations_by_default
from streamplace.placers.budget import Budget
from streamplace.placers.search.balance import CARRIED, linear_problem
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Throughput
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import throughput_evaluator
from streamplace.scoring.throughput import bound, ceiling
from streamplace.sim.closed_form.bounds import least_shares
from streamplace.util.running_search import DEVICES, report
from streamplace.util.text import counted
from streamplace.workflows.loss_conflict import loss_conflict
from streamplace.workflows.too_heavy import (
    bandwidth_helps,
    full_link,
    refuse_unlimited,
    too_heavy,
)

MAX_BY_DEFAULT = 64  # devices to try, unless `most` is set
STALLED = 4  # stop when this many more devices changed nothing, so that links are the limit
# Of CPU time for a number, after which a search that is limited by changes ends; a guess.
SECONDS_OF_A_NUMBER = 20.0
# Operators times numbers of devices, up to which numbers have a row that do not decide which is the
# fewest: all 64 of 300 operators, two of 10,000. They take a few seconds.
OTHERS = 20_000


def plan_equal(
    graph: StreamGraph,
    cluster: Cluster,
    objective: Throughput,
    constraints: Constraints,
    settings: PlanSettings,
) -> Plan:
    """Return the capacity of increasing numbers of equal devices; see `plan`.

    The bound rules out the numbers below `least`. From there on, numbers are searched until one
    keeps up; on large graphs with growing gaps, which are then bisected. Other numbers have a row
    if the work for all of them is below a limit.
    """
    default = max(MAX_BY_DEFAULT, len(cluster.devices))
    largest = default if settings.most is None else settings.most
    report(DEVICES, None)  # before any search
    table = _Table(graph, _named_first(cluster, constraints), objective, constraints, settings)
    least = table.least(largest)
    spare = OTHERS // len(graph.names)
    first = min(least, largest)
    if first - 1 <= spare:
        first = 1
    elif settings.survive and first > 1:  # what is left after a loss
        first -= 1
    skips = spare < MAX_BY_DEFAULT and not settings.survive  # a loss is about one device fewer
    table.report(least)
    count, gap = first, 0
    while count <= largest:
        row = table.add(count)
        table.report(least)
        is_large = len(table.rows) >= spare
        if (settings.most is None or is_large) and table.is_last(whole=not is_large):
            break
        if skips and count >= least and not (row and row.keeps_up):
            gap = max(1, 2 * gap)  # undecided numbers take long: skip some, and come back to them
            count = max(count + 1, min(count + gap, largest))
        else:
            count += 1
    if skips:
        table.bisect(least)
    count = max(row.devices for row in table.rows) if table.rows else largest
    last = max(count, len(cluster.devices)) if settings.most is None else largest
    return table.plan(least, last, proven=least > largest)


class _Table:
    """The rows so far; the search on each number of devices starts from the row before."""

    def __init__(
        self,
        graph: StreamGraph,
        cluster: Cluster,
        objective: Throughput,
        constraints: Constraints,
        settings: PlanSettings,
    ) -> None:
        self._graph, self._cluster, self._objective = graph, cluster, objective
        self._constraints, self._settings = constraints, settings
        self.rows: list[PlanRow] = []
        self._missing: list[int] = []
        self._failure: Exception | None = None
        self._found: dict[int, Sustained] = {}

    def least(self, largest: int) -> int:
        """Return the least number that no bound rules out; one more than `largest` if none.

        What fewer devices carry, more of them do too, so that a bound on a number holds for all
        below it.
        """
        alone = self._bound(1, ceiling)  # so that n devices carry n times as much at most
        rate = self._objective.source_rate * CARRIED
        likely = min(largest, max(1, ceil(rate / alone))) if alone else 1
        low = likely - 1 if likely > 1 and self._bound(likely - 1, ceiling) < rate else 0
        quick = self._first(low, likely, largest, ceiling)
        return self._first(quick - 1, quick, largest, bound)

    def _first(self, low: int, guess: int, largest: int, limit: Callable[[Problem], float]) -> int:
        """Return the first number above `low` that a bound on throughput does not rule out."""
        high, rate = largest + 1, self._objective.source_rate * CARRIED
        while high - low > 1:
            middle = min(guess, (low + high) // 2)
            if self._bound(middle, limit) < rate:
                low, guess = middle, 2 * middle
            else:
                high = guess = middle
        return high

    def _bound(self, count: int, limit: Callable[[Problem], float]) -> float:
        """Return the bound on the throughput of so many devices; 0: no placement is possible."""
        try:
            return limit(self._problem(count))
        except ProblemError:
            if count >= len(self._cluster.devices):
                raise
        except InfeasibleError:
            pass
        return 0.0

    def _problem(self, count: int) -> Problem:
        """Return the problem on the cluster's first devices, with more like them if needed."""
        kind, own = self._cluster.devices[0], self._cluster.devices[:count]
        names = [f"d{i}" for i in range(len(own), count)]  # as in ``9x2500``
        if {*self._cluster.names} != {f"d{i}" for i in range(len(self._cluster.devices))}:
            names = [f"{kind.name}+{i}" for i in range(1, count - len(own) + 1)]
        devices = [*own, *(replace(kind, name=name) for name in names)]
        cluster = Cluster(devices, self._cluster.network)
        return Problem(
            self._graph, cluster, objective=self._objective, constraints=self._constraints
        )

    def bisect(self, least: int) -> None:
        """Search between the largest number that does not keep up and the smallest that does."""
        high = next((row.devices for row in self.rows if row.keeps_up), least)
        below = [row.devices for row in self.rows if row.devices < high]
        low = max(below, default=high)
        while low >= least and high - low > 1:
            middle = (low + high) // 2
            row = self.add(middle)
            self.report(least)
            low, high = (low, middle) if row is not None and row.keeps_up else (middle, high)

    def report(self, least: int) -> None:
        """Report the fewest devices that keep up, and how many numbers were tried."""
        fewest = next((row.devices for row in self.rows if row.keeps_up), None)
        tried = len(self.rows) + len(self._missing)
        report(DEVICES, fewest, least + self._settings.survive, tried)

    def add(self, count: int) -> PlanRow | None:
        """Search on a number of devices; add its row and return it."""
        settings, before = self._settings, self._before(count)
        evaluations, seconds = settings.evaluations, settings.seconds
        if evaluations is None and seconds is None:
            evaluations = evaluations_by_default(len(self._graph.names))
            seconds = SECONDS_OF_A_NUMBER
        known = [] if before is None else [before.placement.devices, before.carrying.devices]
        try:
            rng = np.random.default_rng(settings.seed)
            found = sustained(self._problem(count), rng, known, Budget(seconds, evaluations))
        except (ProblemError, InfeasibleError, PlacementError) as error:
            # constraints may name devices that are added later, and more devices may have room
            if isinstance(error, ProblemError) and count >= len(self._cluster.devices):
                raise
            self._failure = error
            self._missing.append(count)
            return None
        if before is not None:  # sums in another order may be lower by rounding
            found = found._replace(
                max_source_rate=max(found.max_source_rate, before.max_source_rate),
                relative_throughput=max(found.relative_throughput, before.relative_throughput),
            )
        price = self._cluster.devices[0].price
        row = PlanRow(
            count,
            found.max_source_rate,
            max(self._bound_of(found), found.max_source_rate),
            found.relative_throughput,
            self._after_loss(count) if settings.survive else None,
            price=None if price is None else price * count,
            placement=found.carrying,
        )
        self._found[count] = found
        self.rows = sorted([*self.rows, row], key=lambda row: row.devices)
        return row

    def _bound_of(self, found: Sustained) -> float:
        """Return the bound on the source rate that the devices sustain, by all loads."""
        problem = found.carrying.problem
        loaded = linear_problem(problem, problem.source_rate)
        return min(found.bound, throughput_evaluator(loaded).ceiling)

    def _before(self, count: int) -> Sustained | None:
        """Return what the largest smaller number sustains; None if none was searched."""
        smaller = [number for number in self._found if number < count]
        return self._found[max(smaller)] if smaller else None

    def _growing(self) -> tuple[PlanRow, ...]:
        """Return the rows, none worse than the one before, which may have been searched later."""
        rows: list[PlanRow] = []
        for row in self.rows:
            if rows and row.relative_throughput < rows[-1].relative_throughput:
                row = replace(  # noqa: PLW2901
                    row,
                    relative_throughput=rows[-1].relative_throughput,
                    placement=rows[-1].placement,
                )
            if rows and row.max_source_rate < rows[-1].max_source_rate:
                row = replace(row, max_source_rate=rows[-1].max_source_rate)  # noqa: PLW2901
            rows.append(row)
        return tuple(rows)

    def _after_loss(self, count: int) -> float | None:
        """Return what is left after a loss, as much as one device fewer has; None: not searched."""
        if self.rows and self.rows[-1].devices == count - 1:
            return self.rows[-1].relative_throughput
        return 0.0 if count == 1 or self._missing else None

    def is_last(self, *, whole: bool) -> bool:
        """Return whether to stop: more devices are not needed, or would not help.

        They would not help if the work of a single operator is the limit, or if the last few
        devices changed nothing.

        Parameters
        ----------
        whole
            Whether numbers up to that of the cluster are wanted in any case.
        """
        if not self.rows:
            return False
        row = self.rows[-1]
        problem = self._found[row.devices].carrying.problem
        if whole and row.devices < len(self._cluster.devices):
            return False
        if row.keeps_up:  # a few more may keep a limit on latency
            enough = [one for one in self.rows if one.keeps_up]
            return self._settings.limit_on_latency is None or len(enough) > STALLED
        if row.relative_throughput >= CARRIED:  # only losses are the limit
            return False
        alone = float(least_shares(flow(problem)).alone.max())
        if row.max_source_rate >= problem.source_rate / max(1e-300, alone) * CARRIED:
            return True
        before = self.rows[-1 - STALLED :][0]
        return len(self.rows) > STALLED and before.max_source_rate >= row.max_source_rate * CARRIED

    def plan(self, least: int, last: int, *, proven: bool) -> Plan:
        """Return the plan for numbers up to `last`.

        Parameters
        ----------
        least
            The bound rules out smaller numbers.
        proven
            Whether it rules out all numbers that may be tried.
        """
        if not self.rows:
            tried = counted(last, "device")
            message = f"plan: found no placement on up to {tried}; with {tried}, {self._failure}"
            raise _infeasible(self._failure, message)
        rows, best = self._growing(), self._found[self.rows[-1].devices].carrying
        limit_on_latency = self._settings.limit_on_latency
        if limit_on_latency is not None:
            own = self._problem(max(self.rows[0].devices, min(last, len(self._cluster.devices))))
            refuse_disproved(
                best.problem,
                limit_on_latency,
                self._settings.seed,
                "plan",
                overloads=False,
                seconds=self._settings.seconds,
                asked=own,
            )
        fewest = next((row.devices for row in rows if row.keeps_up), None)
        grows = self._settings.most is None
        cause = None if fewest else too_heavy(best.problem, best.devices, grows=grows)
        refuse_unlimited(best.problem, rows[0].max_source_rate)
        left_out = sorted({*range(1, last + 1)} - {row.devices for row in rows})
        limit = None if fewest or cause else full_link(best)
        found = Plan(
            self._objective.source_rate,
            rows,
            cause,
            self._settings.survive,
            proven=proven or fewest == least + self._settings.survive,
            missing=tuple(sorted(self._missing)),
            ruled_out=tuple(n for n in left_out if n < least and n not in self._missing),
            left_out=tuple(left_out),
            limit=limit,
            wider_helps=limit is not None and bandwidth_helps(best),
            unmet=None if fewest or not self._settings.survive else loss_conflict(best.problem),
        )
        if limit_on_latency is None:
            return found
        seed, budget = self._settings.seed, Budget(self._settings.seconds)
        return planned_within(
            found, limit_on_latency, seed, budget=budget, problem_of=self._problem
        )


def _infeasible(failure: Exception | None, message: str) -> StreamplaceError:
    """Return the error of a plan; it knows the rules that cannot hold if that is proven."""
    error = InfeasibleError(message)
    if isinstance(failure, InfeasibleError):
        error.infeasible = failure.infeasible
        error.update(operators=failure.fault.operators, of_constraints=failure.fault.of_constraints)
    return error


def _named_first(cluster: Cluster, rules: Constraints) -> Cluster:
    """Return the cluster, starting with the devices of pins: all are needed."""
    named_devices = {*rules.pins.values()}
    devices = sorted(cluster.devices, key=lambda device: device.name not in named_devices)
    return Cluster(devices, cluster.network)
