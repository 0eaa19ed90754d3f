"""The cheapest set of devices that carries everything offered, with a lower bound on its price."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streamplace.capacity.subset.conditions import Counts, Kinds, without
from streamplace.capacity.subset.examination import QUICK, Examiner, Verdict
from streamplace.capacity.subset.price_bound import PriceBound, price_bound
from streamplace.placers.budget import Budget
from streamplace.util.arrays import Bools, Floats
from streamplace.util.running_search import report

MAX_SETS = 300_000
MAX_CELLS = 4_000_000  # sets x kinds
CHEAPER = 1.0 - 1e-9  # factor below which a price is lower by more than rounding
EFFORTS = 4  # turns over all sets that are still possible, each with a higher effort
FEW_SETS = 300  # sets that are examined one by one without a search for a cheaper set first
# Sets that are examined from the cheapest on at once. Of more, a set is first reduced from all
# devices by short searches, so that a good one is known where the clock ends the examination.
VERY_FEW_SETS = 30
PATIENCE = 30  # rounds of removals without a cheaper set after which to stop
TINY = 1e-300  # spread of the order of removals where all devices are equally useful
ADDED = 4  # devices added before a round of removals, at most
SEARCHING = 0.4  # share of the time for rounds of removals if the examination of all sets follows


class Lattice:
    """The sets of devices of a cluster, cheapest first; of equal price, those of fewer devices.

    Parameters
    ----------
    survive
        Number of devices that a set must be able to lose.
    most
        Largest number of devices of a set.
    """

    def __init__(self, examiner: Examiner, survive: int, most: int) -> None:
        kinds = examiner.kinds
        sizes = kinds.total + 1
        sets = np.indices(tuple(sizes.tolist())).reshape(len(sizes), -1).T
        held = examiner.conditions.hold(sets, survive)
        sets = sets[held & (sets.sum(axis=1) <= most)]
        prices: Floats = sets @ kinds.price
        order = np.lexsort((sets.sum(axis=1), prices))
        self._sets, self._prices = sets[order], prices[order]
        self._possible: Bools = np.ones(len(order), dtype=np.bool_)
        self._tried: Bools = np.zeros(len(order), dtype=np.bool_)
        self._examiner, self._survive, self._read = examiner, survive, 0

    @staticmethod
    def is_small(kinds: Kinds) -> bool:
        """Return whether the sets can be enumerated."""
        sets = float(np.prod(kinds.total + 1.0))
        return sets <= MAX_SETS and sets * len(kinds.total) <= MAX_CELLS

    def exclude(self, price: float) -> None:
        """Exclude all sets of at least this price."""
        self._possible &= self._prices < price

    def refute(self, number: int) -> None:
        """Exclude a set, and all sets that the examiner has refuted since the last call."""
        self._possible[number] = False
        for counts in self._examiner.refuted[self._read :]:
            beyond = np.maximum(self._sets - np.array(counts), 0)
            kept = self._examiner.kinds.kept
            lossy = beyond[:, ~kept].sum(axis=1)
            self._possible &= (lossy > self._survive) | beyond[:, kept].any(axis=1)
        self._read = len(self._examiner.refuted)

    def cheapest(self) -> float | None:
        """Return the lowest price of a set that is not excluded; None if all are."""
        return float(self._prices[self._possible.argmax()]) if self._possible.any() else None

    def next(self) -> int | None:
        """Return the number of the cheapest set not yet tried in this turn, or None."""
        left = np.flatnonzero(self._possible & ~self._tried)
        if not len(left):
            return None
        self._tried[left[0]] = True
        return int(left[0])

    def new_turn(self) -> bool:
        """Try all sets once more; return whether any is left."""
        self._tried[:] = False
        return bool(self._possible.any())

    def counts(self, number: int) -> Counts:
        """Return a set by its number."""
        return tuple(self._sets[number].tolist())

    @property
    def left(self) -> int:
        """The number of sets that are not excluded."""
        return int(self._possible.sum())


@dataclass(frozen=True)
class Cheapest:
    """The cheapest set found.

    Parameters
    ----------
    counts
        The set; None: none was found that carries everything.
    bound
        Lower bound on the price of any such set.
    refuted
        Whether a proof shows that there is no such set.
    """

    counts: Counts | None
    bound: float
    refuted: bool = False


class Search:
    """A search for the cheapest set of devices that carries everything after any loss.

    Devices are removed from a set that carries everything in blocks, the least useful for their
    price first. Then the cheapest set that may still carry everything is examined again and again,
    until none is cheaper than the best one known. Refuted sets are extended as far as a short proof
    refutes them, so that each excludes many others.

    Parameters
    ----------
    survive
        Number of devices that a set must be able to lose.
    most
        Largest number of devices of a set; None: all.
    what
        What the price is, for reports (see `running_search.Standing`); empty: none are made.
    """

    def __init__(
        self,
        examiner: Examiner,
        survive: int,
        seed: int,
        most: int | None = None,
        what: str = "",
    ) -> None:
        self._what = what
        self.examiner, self._kinds, self._survive = examiner, examiner.kinds, survive
        total = int(examiner.kinds.total.sum())
        self._most = total if most is None else min(most, total)
        self._budget = examiner.budget
        self._rng = np.random.default_rng(seed)
        self._best: Counts | None = None
        self._price = np.inf
        self._effort = 0
        self._lattice: Lattice | None = None

    def run(self) -> Cheapest:
        """Return the cheapest set found and the bound on its price."""
        everything, lattice = self._kinds.everything, None
        if Lattice.is_small(self._kinds):
            lattice = self._lattice = Lattice(self.examiner, self._survive, self._most)
            if (first := lattice.next()) is not None:  # no condition excludes it, so try it at once
                counts = lattice.counts(first)
                if self._carries(counts) is Verdict.CARRIES:
                    self._accept(counts)
                    return Cheapest(counts, self._price)
        verdict = Verdict.OPEN
        for effort in range(EFFORTS):
            verdict = self._carries(everything, effort)
            if verdict is not Verdict.OPEN or self._budget.seconds_left() <= 0:
                break
        if verdict is not Verdict.CARRIES:
            if verdict is Verdict.REFUTED:
                return Cheapest(None, 0.0, refuted=True)
            return Cheapest(None, self._relaxation().price)
        self._accept(everything)
        if lattice is not None:
            lattice.new_turn()
            if lattice.left > FEW_SETS:
                self._remove_repeatedly(self._budget.share(SEARCHING))
            elif lattice.left > VERY_FEW_SETS:
                self._accept(self._reduced(everything, self._usefulness(), self._budget))
        return self._rest()

    def go_on(self, budget: Budget) -> Cheapest:
        """Return what `run` returns, after more time, once it has found a set."""
        self._budget = self.examiner.budget = budget
        return self._rest()

    def _rest(self) -> Cheapest:
        lattice = self._lattice
        if lattice is None:
            self._remove_repeatedly(self._budget)
            bound = self._relaxation().price
        else:
            bound = self._examine_all(lattice)
        self._remove_free()
        refuted = self._best is None and lattice is not None and not lattice.left
        return Cheapest(self._best, bound, refuted=refuted)

    def _report(self, bound: float | None) -> None:
        """Report the price of the best set, and how many sets were searched."""
        if self._what:
            best = None if self._best is None else self._price
            report(self._what, best, bound, len(self.examiner.results))

    def _carries(self, counts: Counts, effort: int = 0) -> Verdict:
        return self.examiner.survives(counts, self._survive, effort)

    def _accept(self, counts: Counts) -> bool:
        """Keep a set that carries everything if it is cheaper, or as cheap with fewer devices."""
        if sum(counts) > self._most:
            return False
        price = self._kinds.cost(counts)
        if self._best is not None and price >= self._price * CHEAPER:
            smaller = sum(counts) < sum(self._best)
            if not smaller or price > self._price / CHEAPER:
                return False
        better = price < self._price * CHEAPER
        self._best, self._price = counts, price
        self._report(None)
        return better

    def _remove_repeatedly(self, budget: Budget) -> None:
        """Add a few devices to the best set and remove others, until no round is successful."""
        usefulness = self._usefulness()
        spread = max(float(np.median(np.abs(usefulness))), TINY)
        larger = self._kinds.everything
        if self._survive:
            larger = self._with_spares(usefulness, budget)
        self._accept(self._reduced(larger, usefulness, budget))
        if self._best is None:  # the limit on the number of devices excludes what is left
            self._accept_largest(budget)
        waited = 0
        while waited < PATIENCE and budget.seconds_left() > 0 and self._best is not None:
            noise = self._rng.normal(0.0, spread, len(usefulness))
            reduced = self._reduced(self._extended(self._best), usefulness + noise, budget)
            waited = 0 if self._accept(reduced) else waited + 1

    def _accept_largest(self, budget: Budget) -> None:
        """Keep what remains of the most devices allowed, those of the largest amounts."""
        amounts = self.examiner.conditions.amounts.sum(axis=0)
        kinds = np.argsort(-amounts, kind="stable")
        order = np.repeat(kinds, self._kinds.total[kinds])
        counts = tuple(np.bincount(order[: self._most], minlength=len(amounts)).tolist())
        if budget.seconds_left() > 0 and self._carries(counts) is Verdict.CARRIES:
            self._accept(counts)

    def _with_spares(self, usefulness: Floats, budget: Budget) -> Counts:
        """Return a cheap set that carries everything after one loss less, with spare devices."""
        inner = Search(self.examiner, self._survive - 1, 0)
        inner._accept(self._kinds.everything)
        inner._remove_repeatedly(budget.share(SEARCHING))
        counts = self._kinds.everything if inner._best is None else inner._best
        order = np.argsort(-usefulness, kind="stable")
        spares = np.repeat(order, (self._kinds.total - np.array(counts))[order])
        count = self._survive
        while count < len(spares) and budget.seconds_left() > 0:
            added = np.bincount(spares[:count], minlength=len(counts))
            larger = tuple((np.array(counts) + added).tolist())
            if self._carries(larger) is Verdict.CARRIES:
                self._accept(larger)
                return larger
            count *= 2
        return self._kinds.everything

    def _usefulness(self) -> Floats:
        return self._relaxation().value - self._kinds.price

    def _relaxation(self) -> PriceBound:
        conditions = self.examiner.conditions
        return price_bound(conditions, self._kinds, self._survive, self._price)

    def _extended(self, counts: Counts) -> Counts:
        """Return a set with a few more devices at random."""
        spare = np.repeat(
            np.arange(len(counts)), np.array(self._kinds.everything) - np.array(counts)
        )
        count = min(len(spare), int(self._rng.integers(1, ADDED + 1)))
        added = self._rng.choice(spare, count, replace=False) if count else spare[:0]
        extra = np.bincount(added, minlength=len(counts))
        return tuple((np.array(counts) + extra).tolist())

    def _remove_free(self) -> None:
        """Remove devices that cost nothing from the best set if it can spare them."""
        if self._best is not None:
            usefulness = self.examiner.conditions.amounts.sum(axis=0)
            free = self._kinds.price == 0
            self._accept(self._reduced(self._best, usefulness, self._budget, free))

    def _reduced(
        self, counts: Counts, usefulness: Floats, budget: Budget, removable: Bools | None = None
    ) -> Counts:
        """Return a part of a set that carries everything too, after removing what it can spare."""
        order = np.lexsort((-self._kinds.price, usefulness))
        if removable is not None:
            order = order[removable[order]]
        pending = [int(kind) for kind in order for _ in range(counts[kind])]
        blocks: list[Sequence[int]] = [pending]
        failed = set[Counts]()  # devices of a kind are alike, so the same set comes back
        while pending and blocks and budget.seconds_left() > 0:
            block = blocks.pop()
            lost = tuple(np.bincount(block, minlength=len(counts)).tolist())
            left = without(counts, lost)
            holds = self.examiner.conditions.hold(np.array([left]), self._survive)[0]
            is_new = sum(left) and left not in failed
            if holds and is_new and self._carries(left, QUICK) is Verdict.CARRIES:
                counts = left
                continue
            failed.add(left)
            if len(block) > 1:
                middle = len(block) // 2
                blocks += [block[middle:], block[:middle]]
        return counts

    def _examine_all(self, lattice: Lattice) -> float:
        """Examine sets that may be cheaper, the cheapest first; return the lower bound on price."""
        while self._effort < EFFORTS:
            lattice.exclude(self._price * CHEAPER)
            while self._budget.seconds_left() > 0 and (number := lattice.next()) is not None:
                self._report(lattice.cheapest())
                counts, refuted = lattice.counts(number), len(self.examiner.refuted)
                verdict = self._carries(counts, self._effort)
                if verdict is Verdict.CARRIES:
                    self._accept(counts)
                    lattice.exclude(self._price * CHEAPER)
                elif verdict is Verdict.REFUTED:
                    if len(self.examiner.refuted) > refuted:
                        self._grow(lattice)
                    lattice.refute(number)
            if self._budget.seconds_left() <= 0 or not lattice.new_turn():
                break
            self._effort += 1
        cheapest = lattice.cheapest()
        return self._price if cheapest is None else min(cheapest, self._price)

    def _grow(self, lattice: Lattice) -> None:
        """Extend the latest refuted set if it is worth it."""
        if lattice.left > 2 * len(self._kinds.price):
            self.examiner.grow(self.examiner.refuted[-1])
