"""The rows of a plan on unequal devices: the best set of each number of devices."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import inf

import numpy as np

from streamplace.capacity.plan.result import PlanRow
from streamplace.capacity.subset.cheapest import CHEAPER, Cheapest
from streamplace.capacity.subset.conditions import Counts, losses, without
from streamplace.capacity.subset.examination import QUICK, Examiner, Verdict
from streamplace.capacity.subset.sustained import Sustained
from streamplace.placers.budget import Budget
from streamplace.util.arrays import Ints

MAX_ROWS = 24  # numbers of devices in the table, at most
MAX_LOSSES = 24  # different losses of a set in the table, at most, besides the cheapest
MAX_SETS = 20_000  # sets of a cluster's devices, up to which all of one size are candidates
TRIED = 300  # sets of one size that are searched where none keeps up, at most
ROUNDING = 1e-9  # of source rates, relative
DIGITS = 9  # to which relative throughputs are compared

Ranked = tuple[tuple[float, float, float], Counts]
"""A key by which a set is better if it is smaller, and the set."""


class Rows:
    """The rows of a plan, from the sets of devices that a search has examined and a few more.

    Each set is measured once. When the time is up, only what is known already is shown, besides
    the cheapest set and its losses.

    Parameters
    ----------
    survive
        Number of devices that a set must be able to lose.
    budget
        The time that is left for all rows.
    scale
        Factor of prices; None: they are not shown.

    Attributes
    ----------
    missing
        Numbers of devices on which no placement was found.
    """

    def __init__(
        self, examiner: Examiner, survive: int, budget: Budget, scale: float | None
    ) -> None:
        self._examiner, self._survive, self._budget, self._scale = examiner, survive, budget, scale
        self._measured: dict[Counts, Sustained | None] = {}
        self.missing: list[int] = []

    def of(
        self, found: Cheapest, most: int | None, *, whole: bool = False
    ) -> tuple[tuple[PlanRow, ...], Cheapest]:
        """Return the best set of each number of devices, and the cheapest set.

        The numbers go up to that of the cheapest set, or to `whole` clusters. A row that keeps up
        at a lower price replaces the cheapest set that was found before.
        """
        kinds = self._examiner.kinds
        rows: dict[int, tuple[Counts, PlanRow]] = {}
        up_to = kinds.everything if found.counts is None or whole else found.counts
        last = sum(up_to) if most is None else min(sum(up_to), most)
        sizes = np.unique(np.linspace(1, last, MAX_ROWS).round().astype(int)).tolist()
        if found.counts is not None:
            with self._share(len(sizes)):
                row = self._row(found.counts, required=True)
                assert row is not None  # a placement on this set is known
            rows[sum(found.counts)] = found.counts, row
        before: tuple[Counts, PlanRow] | None = None
        for left, size in zip(range(len(sizes), 0, -1), sizes, strict=True):
            if size not in rows:
                with self._share(left):
                    best = self._best_of(size)
                    row = None if best is None else self._row(best, required=False)
                own = None if best is None or row is None else (best, row)
                if before is not None and (own is None or _rank(own[1]) < _rank(before[1])):
                    own = self._extended(*before, size)
                if own is not None:
                    rows[size] = own
                elif best is None and not self._is_late():
                    self.missing.append(size)
            before = rows.get(size, before)
        found = self._cheaper(found, [best for best, row in rows.values() if row.keeps_up])
        last = last if found.counts is None or whole else sum(found.counts)
        return tuple(rows[size][1] for size in sorted(rows) if size <= last), found

    def others(self, rows: Sequence[PlanRow]) -> tuple[PlanRow, ...]:
        """Return further sets that keep up, of each number those that seem to carry most."""
        known, each = {row.names for row in rows}, max(1, MAX_ROWS // len(rows))
        sets = [counts for row in rows for counts in self._candidates(row.devices, 0)[:each]]
        found = [self._row(counts, required=False) for counts in sets]
        return tuple(row for row in found if row and row.keeps_up and row.names not in known)

    def after_losses(self, counts: Counts) -> Iterator[tuple[Counts, Sustained | None]]:
        """Yield the best placement found after each distinct loss."""
        for lost in losses(counts, self._survive, self._examiner.kinds.kept):
            yield lost, self.measure(without(counts, lost))

    def measure(self, counts: Counts) -> Sustained | None:
        """Return the best placement on a set; None if none was found."""
        if counts not in self._measured:
            late = self._is_late()
            known = self._examiner.results.get(counts) if late else None
            self._measured[counts] = known or self._examiner.measure(
                counts, QUICK if late else 0, enough=late
            )
        return self._measured[counts]

    def _cheaper(self, found: Cheapest, keeping_up: list[Counts]) -> Cheapest:
        """Return the cheapest set, which is one of the rows if these have a cheaper one."""
        cost = self._examiner.kinds.cost
        best = min(keeping_up, key=lambda counts: (cost(counts), sum(counts)), default=None)
        if best is None or (
            found.counts is not None and cost(best) >= cost(found.counts) * CHEAPER
        ):
            return found
        return Cheapest(best, min(found.bound, cost(best)))

    @contextmanager
    def _share(self, parts: int) -> Iterator[None]:
        """Give the examiner one of so many parts of the time that is left."""
        self._examiner.budget = self._budget.share(1.0 / parts)
        yield
        self._examiner.budget = self._budget

    def _is_late(self) -> bool:
        return self._examiner.budget.seconds_left() <= 0

    def _row(self, counts: Counts, *, required: bool) -> PlanRow | None:
        """Return the row of a set; None if it has no placement, or too many losses for the time."""
        kinds, names = self._examiner.kinds, self._examiner.problem.cluster.names
        if self._survive and not required and not self._has_time_for_losses(counts):
            return None
        found = self.measure(counts)
        if found is None:
            return None
        row = PlanRow(
            sum(counts),
            found.max_source_rate,
            max(found.bound, self._highest(sum(counts))),
            found.relative_throughput,
            price=None if self._scale is None else kinds.cost(counts) * self._scale,
            names=tuple(names[d] for d in kinds.devices(counts)),
            placement=found.carrying,
        )
        if not self._survive:
            return row
        return replace(row, relative_after_loss=self._after_loss(counts))

    def _extended(self, counts: Counts, row: PlanRow, size: int) -> tuple[Counts, PlanRow] | None:
        """Return a set with further devices, the cheapest, and its row.

        It carries as much, also after a loss: the smaller set, and what is left of it, are in it.
        """
        kinds = self._examiner.kinds
        spare = np.repeat(np.arange(len(counts)), kinds.total - np.array(counts))
        order = np.argsort(kinds.price[spare], kind="stable")[: size - sum(counts)]
        added = np.bincount(spare[order], minlength=len(counts))
        larger: Counts = tuple((np.array(counts) + added).tolist())
        found = self._measured[counts]
        assert found is not None  # it has a row
        self._measured[larger] = self._examiner.inherit(larger, found)
        after = row.relative_after_loss
        own = self._row(larger, required=True)
        if own is None:
            return None
        return larger, replace(  # sums in another order may be lower by rounding
            own,
            max_source_rate=max(row.max_source_rate, own.max_source_rate),
            relative_throughput=max(row.relative_throughput, own.relative_throughput),
            relative_after_loss=None if after is None else max(after, own.relative_after_loss or 0),
        )

    def _has_time_for_losses(self, counts: Counts) -> bool:
        if not self._is_late():
            return sum(count > 0 for count in counts) <= MAX_LOSSES
        possible = losses(counts, self._survive, self._examiner.kinds.kept)
        return all(without(counts, lost) in self._measured for lost in possible)

    def _after_loss(self, counts: Counts) -> float:
        """Return the relative throughput after the worst loss; 0 where no placement was found."""
        left = [result for _, result in self.after_losses(counts)]
        return min((0.0 if r is None else r.relative_throughput for r in left), default=0.0)

    def _best_of(self, size: int) -> Counts | None:
        """Return the best set of so many devices: the cheapest that keeps up, or the best."""
        examiner, cost = self._examiner, self._examiner.kinds.cost
        survive = self._survive if size > self._survive else 0
        candidates = self._candidates(size, survive)
        held = examiner.conditions.hold(np.array(candidates), survive)
        possible = [counts for counts, ok in zip(candidates, held, strict=True) if ok]
        for counts in sorted(possible, key=cost) if survive == self._survive else ():
            if self._is_late():
                break
            if examiner.survives(counts, survive) is Verdict.CARRIES:
                return counts
        ranked: list[Ranked] = []
        for counts in candidates[:TRIED]:
            known = examiner.results.get(counts)
            if self._is_late() and (survive or known is None):
                break
            after = round(self._after_loss(counts), DIGITS) if survive else 0.0
            whole = None if after else self._measured_above(counts, ranked)
            if after or whole is not None:
                sustained = 0.0 if whole is None else whole.max_source_rate
                ranked.append(((-after, -sustained, cost(counts)), counts))
        return min(ranked)[1] if ranked else None

    def _highest(self, size: int) -> float:
        """Return an upper bound on the source rate that any set of so many devices sustains."""
        highest, candidates = self._examiner.highest, self._candidates(size, 0)
        if len(candidates) > TRIED or self._is_late() or not self._all_listed:
            return highest(self._examiner.kinds.everything)
        return max(highest(counts) for counts in candidates)

    @property
    def _all_listed(self) -> bool:
        """Whether all sets of a number of devices can be listed."""
        return bool(np.prod(self._examiner.kinds.total + 1.0) <= MAX_SETS)

    def _measured_above(self, counts: Counts, ranked: Sequence[Ranked]) -> Sustained | None:
        """Return the best placement on a set; None if it cannot be better than the others."""
        kinds, highest = self._examiner.kinds, self._examiner.highest
        most = (highest(each) * (1.0 - ROUNDING) for each in (kinds.everything, counts))
        if ranked and any((0.0, -rate, kinds.cost(counts)) > min(ranked)[0] for rate in most):
            return None
        return self.measure(counts)

    def _candidates(self, size: int, survive: int) -> list[Counts]:
        """Return sets of so many devices, those first that seem to carry most after a loss."""
        kinds, conditions = self._examiner.kinds, self._examiner.conditions
        sets = [self._fastest(size)]
        if self._all_listed:
            every = np.indices(tuple((kinds.total + 1).tolist())).reshape(len(kinds.total), -1).T
            sets += [tuple(row) for row in every[every.sum(axis=1) == size].tolist()]
        else:
            sets += [counts for counts in self._examiner.results if sum(counts) == size]
        sets = list(dict.fromkeys(sets))
        rows: Ints = np.array(sets)
        left = conditions.least_met(rows, survive)
        order = sorted(range(len(sets)), key=lambda i: (-float(left[i]), kinds.cost(sets[i])))
        return [sets[i] for i in order]

    def _fastest(self, size: int) -> Counts:
        """Return the set of the fastest devices, after those to which operators are pinned."""
        problem = self._examiner.problem
        pinned = [problem.cluster.index[d] for d in problem.constraints.pins.values()]
        order = dict.fromkeys([*pinned, *problem.cluster.fastest_first.tolist()])
        return self._examiner.kinds.counts(np.array(list(order)[:size]))


def _rank(row: PlanRow) -> tuple[float, float]:
    """Return a key by which a row is better; all that keep up are equally good."""
    if row.keeps_up:
        return inf, inf
    after = row.relative_after_loss
    return row.relative_throughput if after is None else after, row.max_source_rate
