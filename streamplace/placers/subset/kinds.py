"""Kinds of interchangeable devices of equal price, and sets of devices as counts of each kind."""

from collections.abc import Iterator
from functools import cached_property
from math import fsum

import numpy as np

from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.util.arrays import Bools, Floats, Ints

Counts = tuple[int, ...]
"""The number of devices of each kind, in a set of devices."""


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
