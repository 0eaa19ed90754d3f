"""Sets of devices as counts of equal kinds, and linear conditions that every set of them meets.

Each condition is a sum of one amount per device that must reach a need: of speed, memory or slots.
It concerns the units that only some devices can run at all, because of constraints, labels, memory
or their own work, and counts only those devices. Links are not considered, except that units that
no link could separate are joined.
"""

from collections.abc import Iterator
from functools import cached_property
from math import fsum
from typing import NamedTuple

import numpy as np

from streamplace.placers.exact.decision import decision_on
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.compiled import compiled
from streamplace.scoring.registry import closed_form
from streamplace.sim.search import Instance, least_load, least_work, own_loads, unit_loads
from streamplace.util.arrays import Bools, Floats, Ints, grouped_rows

Counts = tuple[int, ...]
"""The number of devices of each kind, in a set of devices."""

ROUNDING = 1e-9  # relative margin of every condition
MAX_MASKS = 40  # distinct sets of devices, those of the most units first
MAX_SIZES = 12  # sizes of units for which slots are counted, per set of devices


class Kinds:
    """The K kinds of a problem's devices; which devices of a kind a set contains does not matter.

    Attributes
    ----------
    members
        Device indices of each kind.
    price
        (K,) price of one device of each kind.
    total
        (K,) int64 number of devices of each kind.
    kept
        (K,) bool, whether operators are pinned to the kind, of which there is one device then. Its
        loss is not survived, whatever the others can carry, so that no set has to survive it.
    """

    def __init__(self, problem: Problem, prices: Floats) -> None:
        by_key: dict[tuple[int, float], list[int]] = {}
        for d, kind in enumerate(interchangeable(problem).tolist()):
            by_key.setdefault((kind, float(prices[d])), []).append(d)
        self.members = tuple(by_key.values())
        self.price: Floats = np.array([price for _, price in by_key])
        self.total = np.array([len(members) for members in self.members])
        pinned = {problem.cluster.index[d] for d in problem.constraints.pins.values()}
        self.kept: Bools = np.array([not pinned.isdisjoint(kind) for kind in self.members])

    @cached_property
    def everything(self) -> Counts:
        """The set of all devices."""
        return tuple(self.total.tolist())

    @cached_property
    def kind_of(self) -> Ints:
        """(D,) kind of each device."""
        kinds = np.empty(int(self.total.sum()), dtype=np.int32)
        for kind, members in enumerate(self.members):
            kinds[members] = kind
        return kinds

    def with_one_less(self, kind: int) -> "Kinds":
        """Return the kinds of a cluster without one device of a kind, of which none may be left."""
        left = [members[:-1] if k == kind else members for k, members in enumerate(self.members)]
        made = object.__new__(Kinds)
        made.members, made.price, made.kept = tuple(left), self.price, self.kept
        made.total = np.array([len(members) for members in left])
        return made

    def devices(self, counts: Counts) -> tuple[int, ...]:
        """Return the indices of a set's devices: the first of each kind."""
        pairs = zip(self.members, counts, strict=True)
        return tuple(sorted(d for members, count in pairs for d in members[:count]))

    def cost(self, counts: Counts) -> float:
        """Return the total price of a set."""
        pairs = zip(self.price.tolist(), counts, strict=True)
        return fsum(price for price, count in pairs for _ in range(count))

    def counts(self, devices: Ints) -> Counts:
        """Return a set of devices as counts."""
        return tuple(np.bincount(self.kind_of[devices], minlength=len(self.price)).tolist())


def without(counts: Counts, lost: Counts) -> Counts:
    """Return what a loss leaves of a set."""
    return tuple(n - gone for n, gone in zip(counts, lost, strict=True))


def covers(counts: Counts, other: Counts) -> bool:
    """Return whether a set contains another."""
    return all(n >= m for n, m in zip(counts, other, strict=True))


def distance(counts: Counts, other: Counts) -> int:
    """Return the number of devices that only one of two sets contains."""
    return sum(abs(n - m) for n, m in zip(counts, other, strict=True))


def losses(counts: Counts, survive: int, kept: Bools) -> Iterator[Counts]:
    """Yield the distinct losses of `survive` of a set's devices, or of all if there are fewer.

    Parameters
    ----------
    kept
        (K,) bool, kinds that are not lost, see `Kinds`.
    """
    lossy = [0 if stays else count for count, stays in zip(counts, kept.tolist(), strict=True)]

    def lost(kind: int, left: int) -> Iterator[Counts]:
        if kind == len(counts):
            if left == 0:
                yield ()
            return
        for gone in range(min(lossy[kind], left), -1, -1):
            for rest in lost(kind + 1, left - gone):
                yield gone, *rest

    return lost(0, min(survive, sum(lossy)))


class Conditions(NamedTuple):
    """R conditions: the amounts of a set's devices must add up to at least 1.

    Attributes
    ----------
    amounts
        (R, K) amount of one device of each kind, relative to the need; at most 1.
    kept
        (K,) bool, kinds that are not lost, see `Kinds`.
    """

    amounts: Floats
    kept: Bools

    def hold(self, counts: Ints, survive: int = 0) -> Bools:
        """Return whether sets meet all conditions after the loss of any `survive` devices, (M,).

        Parameters
        ----------
        counts
            (M, K) sets of devices.
        """
        return self.least_met(counts, survive) >= 1.0 - ROUNDING

    def least_met(self, counts: Ints, survive: int = 0) -> Floats:
        """Return the smallest sum of amounts that sets have after losses, (M,); see `hold`."""
        least, lossy = np.full(len(counts), np.inf), np.where(self.kept, 0, counts)
        for amounts in self.amounts:
            left = counts @ amounts
            if survive:
                left -= _largest(lossy, amounts, survive)
            least = np.minimum(least, left)
        return least


def _largest(counts: Ints, amounts: Floats, survive: int) -> Floats:
    """Return the sum of the largest amounts of `survive` devices of each set, (M,)."""
    lost_amount = np.zeros(len(counts))
    to_lose = np.full(len(counts), survive)
    for kind in np.argsort(-amounts, kind="stable").tolist():
        lost = np.minimum(counts[:, kind], to_lose)
        lost_amount += lost * amounts[kind]
        to_lose -= lost
        if not to_lose.any():
            break
    return lost_amount


def conditions(problem: Problem, kinds: Kinds, share: float) -> Conditions:
    """Return the conditions for placements with a relative throughput of at least `share`."""
    limit = closed_form(problem).highest_utilisation(share)
    decision = decision_on(problem, share)
    instance = compiled(problem).instance if decision is None else decision.instance
    limit = limit if np.isfinite(limit) else 1.0 / share  # devices throttle all sources
    kind_devices = [members[0] for members in kinds.members]
    masks, inside = _masks(_able(instance, limit))
    load = limit / instance.reference
    everywhere = np.arange(len(instance.capacity))
    sums = [(least_work(instance, everywhere), instance.capacity * load)]
    if instance.class_work.shape[1]:  # times by kind say more than equal numbers of instructions
        sums.append((least_load(instance), np.full(len(instance.capacity), load)))
    # and memory and resources, of which no more than all count
    for needs, room in zip(instance.needs.T, instance.room.T, strict=True):
        sums.append((needs, np.minimum(room, needs.sum())))
    rows: list[Floats] = []
    for mask, units in zip(masks, inside, strict=True):
        rows.append(mask.astype(np.float64))  # at least one of the devices
        for needs, amounts in sums:
            if needs[units].sum() > 0:
                with np.errstate(over="ignore"):
                    rows.append(np.where(mask, amounts, 0.0) / needs[units].sum())
            rows += _slots(needs[units], amounts, mask)
    rows += apart(problem)
    amounts = np.minimum(np.array(rows)[:, kind_devices], 1.0)
    return Conditions(np.unique(amounts, axis=0), kinds.kept)


def _able(instance: Instance, limit: float) -> Bools:
    """Return whether each unit can run on each device, (U, D), if nothing else does."""
    alone = np.maximum(unit_loads(instance), own_loads(instance))
    able: Bools = instance.allowed[instance.row_of] & (
        alone * instance.reference <= limit * (1.0 + ROUNDING)
    )
    return able


def _masks(able: Bools) -> tuple[Bools, list[Ints]]:
    """Return distinct sets of devices, (M, D), and the units that can run only on each of them."""
    distinct, row_of, count = grouped_rows(able)
    masks = distinct
    if len(masks) > MAX_MASKS:
        common = np.sort(np.argsort(-count, kind="stable")[:MAX_MASKS])
        masks = masks[common]
    everywhere = np.ones((1, able.shape[1]), dtype=np.bool_)
    masks = np.unique(np.concatenate([masks, everywhere]), axis=0)
    within = (~(distinct & ~mask).any(axis=1) for mask in masks)
    return masks, [np.flatnonzero(each[row_of]).astype(np.int32) for each in within]


def _slots(needs: Floats, amounts: Floats, mask: Bools) -> list[Floats]:
    """Return conditions on slots: each of the n units that need at least s takes one.

    A device has as many slots as units of that need would fit.
    """
    sizes = np.unique(needs[needs > 0])[::-1]
    rows: list[Floats] = []
    if not len(sizes):
        return rows
    for size in sizes[np.unique(np.linspace(0, len(sizes) - 1, MAX_SIZES).astype(int))]:
        count = float((needs >= size).sum())
        with np.errstate(over="ignore"):
            slots = np.floor(amounts * (1.0 + ROUNDING) / size)
        if count > 1 and (slots[mask] < count).any():
            rows.append(np.where(mask, np.minimum(slots, count), 0.0) / count)
    return rows


def apart(problem: Problem) -> list[Floats]:
    """Return conditions for units that must be on different devices: the amounts, (D,) each."""
    feasibility = problem.feasibility
    rows: list[Floats] = []
    for units in (*feasibility.excluding, *feasibility.separating):
        if units:
            anywhere = np.any(feasibility.allowed[list(units)], axis=0)
            rows.append(np.where(anywhere, 1.0 / len(units), 0.0))
    return rows
