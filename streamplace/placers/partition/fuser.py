"""Fusing of operators into processing elements (PEs), as IBM Streams does.

`fuse` follows the published source of OSStreams, ``com/ibm/streams/sch/composer/IEUComposer`` with
its fusing rules: one deterministic pass that balances the *number* of operators over PEs and counts
*connections*, not bytes.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamplace.placers.partition.partitioner import Partitioner
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints

FUSER_SLOW_FROM = 5_000  # operators from which the fuser takes minutes


def fuse(graph: StreamGraph, constraints: Constraints, parts: int) -> NDArray[np.int32]:
    """Return the PE, 0..parts-1, of each operator, (V,).

    PEs grow one at a time along *chains*: a chain starts with the most prominent operator left,
    in the smallest PE, and continues with operators connected to that PE until it is full.
    """
    pes = _Pes(graph, constraints, parts)
    left = list(range(len(graph.names)))
    current, chaining = 0, False
    while left:
        if len(left) <= parts and not all(pes.size):
            chaining = False
        if chaining:
            left.sort(key=pes.connections[current].__getitem__)
            taken = pes.first_allowed(left, current, connected=True)
            if taken is None:
                chaining = False
                continue
        else:
            current = pes.smallest()
            left.sort(key=pes.prominence[current].__getitem__)
            taken = pes.first_allowed(left, current)
            if taken is None:
                pes.closed.add(current)
                if len(pes.closed) == parts:  # no PE accepts the rest: the repair places it
                    break
                continue
        full = pes.take(taken, current)
        left.remove(taken)
        chaining = not full
    return pes.part_of


class _Pes:
    """PEs being filled: sizes, members, and the orders in which operators may join each.

    An order is a list of integers, one per operator, that stand for tuples: a sort by them takes a
    third of the time.

    Attributes
    ----------
    connections
        For each PE, the order that continues a chain: most streams from the PE, then to it.
    prominence
        For each PE, the order that opens a chain: sources, sinks, the largest colocated group, most
        streams to and from the PE, most streams.
    """

    def __init__(self, graph: StreamGraph, constraints: Constraints, parts: int) -> None:
        count = len(graph.names)
        self.part_of = np.zeros(count, dtype=np.int32)
        self.size = [0] * parts
        self.full: set[int] = set()
        self._members = count  # of the PEs that are not full, with all operators left
        self.closed: set[int] = set()
        self._after: list[list[int]] = [[] for _ in range(count)]
        self._before: list[list[int]] = [[] for _ in range(count)]
        for a, b in zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True):
            self._after[a].append(b)
            self._before[b].append(a)
        self._rules = _Rules(graph, constraints)
        self._more = len(graph.stream_source) + 1  # than an operator has streams
        prominence = [self._own_prominence(v) for v in range(count)]
        self.prominence = [prominence.copy() for _ in range(parts)]
        self.connections = [[0] * count for _ in range(parts)]

    def _own_prominence(self, v: int) -> int:
        """Return the number of an operator that no stream joins to a PE."""
        before, after = self._before[v], self._after[v]
        kind = 2 * bool(before) + bool(after)
        rank = kind * (len(self._before) + 1) - self._rules.group_size[v]
        return rank * self._more**2 - len(before) - len(after)

    def smallest(self) -> int:
        """Return the open PE with the fewest operators, the first one on a tie."""
        return min(
            (c for c in range(len(self.size)) if c not in self.closed), key=self.size.__getitem__
        )

    def first_allowed(self, left: list[int], pe: int, *, connected: bool = False) -> int | None:
        """Return the first operator that may join a PE, or None."""
        connections = self.connections[pe]
        for v in left:
            if connected and not connections[v]:
                continue
            if self._rules.allow(v, pe):
                return v
        return None

    def take(self, v: int, pe: int) -> bool:
        """Put an operator into a PE and return whether the PE is now full."""
        self.part_of[v] = pe
        self.size[pe] += 1
        self._rules.note(v, pe)
        connections, prominence = self.connections[pe], self.prominence[pe]
        for b in self._after[v]:
            connections[b] -= self._more
            prominence[b] -= self._more
        for a in self._before[v]:
            connections[a] -= 1
            prominence[a] -= self._more
        if pe in self.full:
            self._members -= 1
        elif self.size[pe] >= -(-self._members // (len(self.size) - len(self.full))):
            self.full.add(pe)
            self._members -= self.size[pe]
        return pe in self.full


class _Rules:
    """Colocation and exlocation constraints while PEs fill."""

    def __init__(self, graph: StreamGraph, constraints: Constraints) -> None:
        self.group_size = [1] * len(graph.names)
        self._together = [[graph.index[o] for o in group] for group in constraints.colocate]
        apart = (*constraints.exlocate, *constraints.apart_groups)
        self._apart = [[graph.index[o] for o in group] for group in apart]
        self._bound: dict[int, int] = {}
        self._barred: set[tuple[int, int]] = set()
        for group in self._together:
            for v in group:
                self.group_size[v] = max(self.group_size[v], len(group))

    def allow(self, v: int, pe: int) -> bool:
        return self._bound.get(v, pe) == pe and (v, pe) not in self._barred

    def note(self, v: int, pe: int) -> None:
        """Record that an operator joined a PE, which other operators must now join or avoid."""
        for group in self._together:
            if v in group:
                self._bound.update(dict.fromkeys(group, pe))
        for group in self._apart:
            if v in group:
                self._barred.update((other, pe) for other in group)


@dataclass(frozen=True)
class Fuser(Partitioner):
    """Fuse operators into PEs as IBM Streams does for a target number of PEs."""

    name: ClassVar[str] = "fuser"

    @property
    def slow_from(self) -> int:
        """The number of operators from which it takes minutes."""
        return FUSER_SLOW_FROM

    def part_of(self, problem: Problem, parts: int) -> Ints:
        """Return the PE of each operator, (V,)."""
        return fuse(problem.graph, problem.constraints, parts)
