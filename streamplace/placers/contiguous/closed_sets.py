"""Closed sets of items: all of them where they are few, or the prefixes of one order."""

from collections.abc import Callable, Iterable

import numpy as np

from sim.contiguous import Lattice
from streamplace.placers.contiguous.precedence import Precedence
from streamplace.util.arrays import Ints

Choice = Callable[[list[int]], int]
"""Picks the next of the items that may follow, which are in the order in which they became so."""


def all_closed_sets(items: Precedence, limit: int) -> Lattice | None:
    """Return all closed sets of items, or None if there are more than `limit`.

    They are the sets of items that have every predecessor of each of their items; Tarnawski et al.
    (2020) call them ideals.
    """
    preceding = [sum(1 << a for a in before) for before in items.before]
    free = sum(1 << v for v, before in enumerate(items.before) if not before)
    number = {0: 0}
    waiting = [(0, free)]  # closed sets, and the items that each can be extended by
    first, item, to = [0], [], []
    for inside, addable in waiting:  # breadth first, so that sets are in the order of their sizes
        for v in _members(addable):
            more = inside | 1 << v
            if more not in number:
                if len(number) == limit:
                    return None
                number[more] = len(number)
                grown = addable ^ 1 << v
                for b in items.after[v]:
                    if preceding[b] & more == preceding[b]:
                        grown |= 1 << b
                waiting.append((more, grown))
            item.append(v)
            to.append(number[more])
        first.append(len(item))
    return _lattice(first, item, to)


def prefixes(order: Iterable[int]) -> Lattice:
    """Return the prefixes of an order of all items."""
    item = list(order)
    count = len(item)
    return _lattice([*range(count + 1), count], item, list(range(1, count + 1)))


def orders(items: Precedence) -> list[list[int]]:
    """Return several orders that respect the precedences, without duplicates.

    They are the breadth-first and the depth-first one, and both from the last items backwards.
    """
    found: list[list[int]] = []
    for choice in (_oldest, _newest):
        found.append(_order(items.before, items.after, choice))
        found.append(_order(items.after, items.before, choice)[::-1])
    return [order for i, order in enumerate(found) if order not in found[:i]]


def _order(before: list[list[int]], after: list[list[int]], choice: Choice) -> list[int]:
    missing = [len(items) for items in before]
    ready = [v for v, count in enumerate(missing) if count == 0]
    made = []
    while ready:
        v = choice(ready)
        made.append(v)
        for b in after[v]:
            missing[b] -= 1
            if missing[b] == 0:
                ready.append(b)
    return made


def _oldest(ready: list[int]) -> int:
    return ready.pop(0)


def _newest(ready: list[int]) -> int:
    return ready.pop()


def _members(bits: int) -> Iterable[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _lattice(first: list[int], item: list[int], to: list[int]) -> Lattice:
    columns: list[Ints] = [np.array(column, dtype=np.int32) for column in (first, item, to)]
    return Lattice(*columns)
