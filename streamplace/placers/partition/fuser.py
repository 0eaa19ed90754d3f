"""The operator fuser of IBM Streams, reimplemented from its published source.

The source is OSStreams, ``com/ibm/streams/sch/composer/IEUComposer`` with its fusing rules: one
deterministic pass that balances the *number* of operators over processing elements (PEs) and counts
*connections*, not bytes.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph


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
            into, back = pes.streams_into[current], pes.streams_back[current]
            left.sort(key=lambda v: (-into[v], -back[v]))
            taken = pes.first_allowed(left, current, connected=True)
            if taken is None:
                chaining = False
                continue
        else:
            current = pes.smallest()
            left.sort(key=pes.prominence(current))
            taken = pes.first_allowed(left, current)
            if taken is None:
                pes.closed.add(current)
                if len(pes.closed) == parts:  # no PE accepts the rest: the repair places it
                    break
                continue
        full = pes.take(taken, current, len(left))
        left.remove(taken)
        chaining = not full
    return pes.part_of


class _Pes:
    """PEs being filled: sizes, members, and stream counts between each PE and every operator."""

    def __init__(self, graph: StreamGraph, constraints: Constraints, parts: int) -> None:
        count = len(graph.names)
        self.part_of = np.zeros(count, dtype=np.int32)
        self.size = [0] * parts
        self.full: set[int] = set()
        self.closed: set[int] = set()
        self.streams_into = [[0] * count for _ in range(parts)]
        self.streams_back = [[0] * count for _ in range(parts)]
        self._after: list[list[int]] = [[] for _ in range(count)]
        self._before: list[list[int]] = [[] for _ in range(count)]
        for a, b in zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True):
            self._after[a].append(b)
            self._before[b].append(a)
        self._rules = _Rules(graph, constraints)

    def smallest(self) -> int:
        """Return the open PE with the fewest operators, the first one on a tie."""
        return min(
            (c for c in range(len(self.size)) if c not in self.closed), key=self.size.__getitem__
        )

    def prominence(self, pe: int) -> Callable[[int], tuple[bool, bool, int, int, int]]:
        """Return the sort key that orders operators to open a chain in a PE."""
        before, after, group_size = self._before, self._after, self._rules.group_size
        into, back = self.streams_into[pe], self.streams_back[pe]
        return lambda v: (
            bool(before[v]),
            bool(after[v]),
            -group_size[v],
            -into[v] - back[v],
            -len(before[v]) - len(after[v]),
        )

    def first_allowed(self, left: list[int], pe: int, *, connected: bool = False) -> int | None:
        """Return the first operator that may join a PE, or None."""
        into, back = self.streams_into[pe], self.streams_back[pe]
        for v in left:
            if connected and not (into[v] or back[v]):
                continue
            if self._rules.allow(v, pe):
                return v
        return None

    def take(self, v: int, pe: int, left: int) -> bool:
        """Put an operator into a PE and return whether the PE is now full."""
        open_pes = [c for c in range(len(self.size)) if c not in self.full]
        room = left + sum(self.size[c] for c in open_pes)
        self.part_of[v] = pe
        self.size[pe] += 1
        self._rules.note(v, pe)
        for b in self._after[v]:
            self.streams_into[pe][b] += 1
        for a in self._before[v]:
            self.streams_back[pe][a] += 1
        if not open_pes or self.size[pe] >= -(-room // len(open_pes)):
            self.full.add(pe)
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
        """Return whether an operator may join a PE."""
        return self._bound.get(v, pe) == pe and (v, pe) not in self._barred

    def note(self, v: int, pe: int) -> None:
        """Record that an operator joined a PE, which other operators must now join or avoid."""
        for group in self._together:
            if v in group:
                self._bound.update(dict.fromkeys(group, pe))
        for group in self._apart:
            if v in group:
                self._barred.update((other, pe) for other in group)
