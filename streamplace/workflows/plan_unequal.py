"""Plans on unequal devices: the cheapest set of a cluster's devices that keeps up."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from streamplace.errors import InfeasibleError, ProblemError, UsageError
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.balance import overloaded
from streamplace.placers.subset.cheapest import Cheapest, Search
from streamplace.placers.subset.examination import Examiner
from streamplace.placers.subset.kinds import Counts, Kinds, losses, without
from streamplace.placers.subset.sustained import NOTHING_LIMITS, Sustained
from streamplace.problem.graph_checks import listed
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats
from streamplace.util.text import counted
from streamplace.workflows.capacity_plan import Limits, Plan, PlanRow
from streamplace.workflows.device_sets import CheapestSet, DeviceLoss
from streamplace.workflows.too_heavy import too_heavy

SECONDS = 10.0  # for all sets together
SEARCHING = 0.85  # share of the time for the cheapest set; rows and losses follow
MAX_ROWS = 24  # numbers of devices in the table, at most
MAX_LOSSES = 24  # different losses of a set in the table, at most, besides the cheapest


def prices_of(problem: Problem) -> Floats | None:
    """Return the price of each device, (D,); None if no device has one.

    Raises
    ------
    UsageError
        If only some devices have a price.
    """
    devices = problem.cluster.devices
    lacking = [device.name for device in devices if device.price is None]
    if len(lacking) == len(devices):
        return None
    if lacking:
        have = "has no price" if len(lacking) == 1 else "have no price"
        fix = "set it (0 if it costs nothing), or remove the prices of all devices"
        raise UsageError(f"plan: {listed(lacking)} {have}, but other devices have one; {fix}")
    return np.array([device.price for device in devices], dtype=np.float64)


def plan_unequal(problem: Problem, limits: Limits) -> Plan:
    """Return the cheapest set of a cluster's devices that keeps up; see `workflows.plan.plan`."""
    prices = prices_of(problem)
    survive, evaluations = limits.survive, limits.evaluations
    check_losses(problem, survive)
    if overloaded(problem) is None:
        raise ProblemError(NOTHING_LIMITS)
    seconds = SECONDS if limits.seconds is None and evaluations is None else limits.seconds
    whole = Budget(seconds)
    kinds = Kinds(problem, np.ones(len(problem.cluster.devices)) if prices is None else prices)
    examiner = Examiner(problem, kinds, limits.seed, evaluations, whole.share(SEARCHING))
    found = Search(examiner, survive, limits.seed).run()
    examiner.clock = whole
    table = _Table(examiner, survive, prices is not None)
    rows = table.rows(found.counts, limits.most)
    if not rows:
        devices = counted(len(problem.cluster.devices), "device")
        raise InfeasibleError(f"plan: found no placement on any of {devices}")
    return Plan(
        problem.source_rate,
        rows,
        None if found.counts is not None else too_heavy(problem),
        survive,
        table.cheapest(found),
        table.losses(kinds.everything if found.counts is None else found.counts),
        unpriced=prices is None,
        proven=found.refuted,
    )


def check_losses(problem: Problem, survive: int) -> None:
    """Refuse operators that may run only on devices that the plan must be able to lose.

    Raises
    ------
    InfeasibleError
        If constraints, labels or memory leave an operator too few devices.
    """
    rules = problem.feasibility
    few = np.flatnonzero(rules.allowed.sum(axis=1) <= survive)
    if len(few):
        unit = int(few[0])
        devices = [problem.cluster.names[d] for d in np.flatnonzero(rules.allowed[unit])]
        raise InfeasibleError(
            f"plan: {rules.describe(unit)} may run only on {listed(devices)}, so no set of devices "
            f"survives the loss of {listed(devices)}; allow another device, or plan without losses"
        )


@dataclass(frozen=True)
class _Table:
    """The rows of a plan, from the sets of devices that a search has examined."""

    examiner: Examiner
    survive: int
    priced: bool

    def rows(self, cheapest: Counts | None, most: int | None) -> tuple[PlanRow, ...]:
        """Return the best set of each number of devices, up to the number of the cheapest set."""
        everything = self.examiner.kinds.everything
        last = sum(everything if cheapest is None else cheapest)
        last = last if most is None else min(last, most)
        sizes = np.unique(np.linspace(1, last, MAX_ROWS).round().astype(int)).tolist()
        rows = []
        for size in sizes:
            is_cheapest = cheapest is not None and size == sum(cheapest)
            best = cheapest if is_cheapest else self._best_of(size)
            if best is not None and (row := self._row(best, required=is_cheapest)) is not None:
                rows.append(row)
        return tuple(rows)

    def cheapest(self, found: Cheapest) -> CheapestSet | None:
        """Return the cheapest set with its devices, price and bound."""
        if found.counts is None:
            return None
        kinds, names = self.examiner.kinds, self.examiner.problem.cluster.names
        devices = kinds.devices(found.counts)
        result = self.examiner.measure(found.counts)
        assert result is not None  # a placement on this set is known
        return CheapestSet(
            tuple(names[d] for d in devices),
            tuple(name for d, name in enumerate(names) if d not in set(devices)),
            kinds.cost(found.counts),
            found.bound,
            result.carrying,
        )

    def losses(self, counts: Counts) -> tuple[DeviceLoss, ...]:
        """Return what is left after the loss of each device of a set; empty without losses."""
        if not self.survive:
            return ()
        kinds, names = self.examiner.kinds, self.examiner.problem.cluster.names
        after = dict(self._after_losses(counts))
        rows = []
        for d in kinds.devices(counts):
            lost = tuple(int(kind == kinds.kind_of[d]) for kind in range(len(counts)))
            left = after[lost]
            if left is None:
                rows.append(DeviceLoss(names[d], 0.0, 0.0))
            else:
                rows.append(DeviceLoss(names[d], left.max_source_rate, left.relative_throughput))
        return tuple(rows)

    def _row(self, counts: Counts, *, required: bool) -> PlanRow | None:
        """Return the row of a set; None if no placement is found, or if it has many losses."""
        kinds, names = self.examiner.kinds, self.examiner.problem.cluster.names
        found, after = self.examiner.measure(counts), None
        if found is None:
            return None
        if self.survive:
            if np.count_nonzero(counts) > MAX_LOSSES and not required:
                return None
            left = [result for _, result in self._after_losses(counts)]
            after = min((0.0 if r is None else r.relative_throughput for r in left), default=0.0)
        return PlanRow(
            sum(counts),
            found.max_source_rate,
            found.bound,
            found.relative_throughput,
            after,
            kinds.cost(counts) if self.priced else None,
            tuple(names[d] for d in kinds.devices(counts)),
        )

    def _after_losses(self, counts: Counts) -> Iterator[tuple[Counts, Sustained | None]]:
        """Yield the best placement found after each distinct loss."""
        for lost in losses(counts, self.survive):
            yield lost, self.examiner.measure(without(counts, lost))

    def _best_of(self, size: int) -> Counts | None:
        """Return the best set of so many devices: the cheapest that keeps up, or the best."""
        self.examiner.measure(self._fastest(size))
        same = [counts for counts in self.examiner.results if sum(counts) == size]
        return min(same, key=self._rank) if same else None

    def _rank(self, counts: Counts) -> tuple[float, float, float]:
        """Return a key by which a set is better if it is smaller.

        With losses it is the capacity, which makes it likely that a set survives them.
        """
        found, price = self.examiner.results[counts], self.examiner.kinds.cost(counts)
        if found.carries_all and not self.survive:
            return 0.0, price, 0.0
        return 1.0, -found.max_source_rate, price

    def _fastest(self, size: int) -> Counts:
        """Return the set of the fastest devices, after those to which operators are pinned."""
        problem = self.examiner.problem
        pinned = [problem.cluster.index[d] for d in problem.constraints.pins.values()]
        order = dict.fromkeys([*pinned, *problem.cluster.fastest_first.tolist()])
        return self.examiner.kinds.counts(np.array(list(order)[:size]))
