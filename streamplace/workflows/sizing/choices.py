"""Choices of numbers of instances."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from math import inf, prod

from streamplace.problem.graph import StreamGraph
from streamplace.workflows.sizing.requirements import CHOICES, Requirement

Vector = tuple[int, ...]
"""The number of instances of each operator."""
Counts = Mapping[str, int]
"""Operator -> number of instances."""


class Choices:
    """The numbers of instances that operators may have.

    Parameters
    ----------
    requirements
        That of each operator of the graph; all of them keep up.
    colocate
        The groups of ``colocate``: with equal numbers, only instances of the same number have to
        share a device.
    """

    def __init__(
        self,
        graph: StreamGraph,
        requirements: Sequence[Requirement],
        colocate: Iterable[Sequence[str]] = (),
    ) -> None:
        self._of = tuple(requirements)
        index = graph.index
        units = [[index[name] for name in group if name in index] for group in colocate]
        self._colocated = self._with_common(units)
        self._forward = self._with_common(_forward_groups(graph))

    @property
    def number(self) -> int:
        """The number of vectors of `by_instances`."""
        return prod(len(one.counts) for one in self._of)

    @property
    def are_all(self) -> bool:
        """Whether `by_instances` yields every vector with which all operators keep up."""
        return self.horizon == inf

    @property
    def first(self) -> Vector:
        """The vector of the fewest instances."""
        return tuple(one.counts[0] for one in self._of)

    @property
    def colocated(self) -> Vector:
        """The vector of the fewest instances with equal numbers in the groups of ``colocate``."""
        return self._joined(self.first, self._colocated)

    @property
    def together(self) -> Vector:
        """That vector, also with equal numbers at both ends of forward streams."""
        return self._joined(self.first, [*self._forward, *self._colocated])

    @property
    def horizon(self) -> float:
        """The number of instances up to which `by_instances` yields every vector; inf for all."""
        return sum(self.first) + min(one.run for one in self._of)

    def counts(self, vector: Vector) -> Counts:
        """Return operator -> number of instances."""
        return {one.operator: count for one, count in zip(self._of, vector, strict=True)}

    def neighbours(self, vector: Vector) -> Iterator[Vector]:
        """Yield vectors in which one operator, or a group, has its next number.

        Larger numbers come before smaller ones, and operators whose instances have the highest
        loads first, since those are hard to place.
        """
        loads = [one.load(count) for one, count in zip(self._of, vector, strict=True)]
        order = sorted(range(len(vector)), key=lambda v: -loads[v])
        for larger in (True, False):
            for group in (*self._forward, *self._colocated):
                count = self._common(group, max(vector[v] for v in group) + 1) if larger else None
                if count is not None:
                    yield _with(vector, group, count)
            for v in order:
                counts = self._of[v].counts
                beyond = [c for c in counts if (c > vector[v] if larger else c < vector[v])]
                if beyond:
                    yield _with(vector, [v], min(beyond) if larger else max(beyond))

    def by_instances(self) -> Iterator[Vector]:
        """Yield the vectors of the operators' own numbers, those of the fewest instances first."""
        start = (0,) * len(self._of)
        pending, known = [(sum(self.first), start)], {start}
        while pending:
            _, index = heappop(pending)
            yield tuple(one.counts[i] for one, i in zip(self._of, index, strict=True))
            for v, i in enumerate(index):
                if i + 1 < len(self._of[v].counts):
                    larger = _with(index, [v], i + 1)
                    if larger not in known:
                        known.add(larger)
                        pairs = zip(self._of, larger, strict=True)
                        heappush(pending, (sum(one.counts[i] for one, i in pairs), larger))

    def _with_common(self, groups: Iterable[Sequence[int]]) -> list[Sequence[int]]:
        """Return the groups of two or more operators that can have a common number."""
        return [each for each in groups if len(each) > 1 and self._common(each, 0) is not None]

    def _joined(self, vector: Vector, groups: Sequence[Sequence[int]]) -> Vector:
        """Return a vector in which each group has a common number, if it can, at least as large."""
        before: Vector = ()
        while vector != before:  # groups may overlap
            before = vector
            for group in groups:
                count = self._common(group, max(vector[v] for v in group))
                if count is not None:
                    vector = _with(vector, group, count)
        return vector

    def _common(self, group: Sequence[int], least: int) -> int | None:
        """Return the least number, from `least` on, with which all operators of a group keep up."""
        first = max(least, *(self._of[v].counts[0] for v in group))
        for count in range(first, first + CHOICES):
            if all(self._of[v].allows(count) for v in group):
                return count
        return None


def _with(vector: Vector, group: Sequence[int], value: int) -> Vector:
    changed = list(vector)
    for v in group:
        changed[v] = value
    return tuple(changed)


def _forward_groups(graph: StreamGraph) -> list[list[int]]:
    """Return the groups of two or more operators that forward streams join."""
    root = list(range(len(graph.names)))

    def find(v: int) -> int:
        while root[v] != v:
            root[v] = v = root[root[v]]
        return v

    for e, kind in graph.partitioning.items():
        if kind == "forward":
            root[find(int(graph.stream_target[e]))] = find(int(graph.stream_source[e]))
    members: dict[int, list[int]] = {}
    for v in range(len(root)):
        members.setdefault(find(v), []).append(v)
    return [group for group in members.values() if len(group) > 1]
