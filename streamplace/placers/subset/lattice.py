"""All sets of devices that may still be the cheapest, where these can be enumerated."""

import numpy as np

from streamplace.placers.subset.examination import Examiner
from streamplace.placers.subset.kinds import Counts, Kinds
from streamplace.util.arrays import Bools, Floats

MAX_SETS = 300_000
MAX_CELLS = 4_000_000  # sets x kinds


class Lattice:
    """The sets of devices of a cluster, cheapest first; of equal price, those of fewer devices.

    Parameters
    ----------
    survive
        Number of devices that a set must be able to lose.
    """

    def __init__(self, examiner: Examiner, survive: int) -> None:
        kinds = examiner.kinds
        sizes = kinds.total + 1
        sets = np.indices(tuple(sizes.tolist())).reshape(len(sizes), -1).T
        held = examiner.conditions.hold(sets, survive) & (sets.sum(axis=1) > survive)
        sets = sets[held]
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
            beyond = np.maximum(self._sets - np.array(counts), 0).sum(axis=1)
            self._possible &= beyond > self._survive
        self._read = len(self._examiner.refuted)

    def cheapest(self) -> float | None:
        """Return the lowest price of a set that is not excluded; None if all are."""
        left = np.flatnonzero(self._possible)
        return float(self._prices[left[0]]) if len(left) else None

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
