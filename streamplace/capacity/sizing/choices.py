"""Choices of numbers of instances."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from math import inf

from streamplace.capacity.sizing.requirements import CHOICES, Requirement
from streamplace.problem.graph import StreamGraph
from streamplace.util.groups import connected_groups

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
        own = [tuple(index[name] for name in one.task) or (v,) for v, one in enumerate(self._of)]
        self._task_of, self._tasks = own, tuple(dict.fromkeys(own))
        units = [[index[name] for name in group if name in index] for group in colocate]
        self._colocated = self._with_common(units)
        self._forward = self._with_common(_forward_groups(graph))

    def are_few(self, most: int) -> bool:
        """Return whether `by_instances` yields at most so many vectors."""
        number = 1
        for task in self._tasks:
            number *= len(self._of[task[0]].counts)
            if number > most:
                return False
        return True

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
        return sum(self.first) + min(len(task) * self._of[task[0]].run for task in self._tasks)

    def counts(self, vector: Vector) -> Counts:
        """Return operator -> number of instances."""
        return {one.operator: count for one, count in zip(self._of, vector, strict=True)}

    def neighbours(self, vector: Vector) -> Iterator[Vector]:
        """Yield vectors in which one operator, task or group has its next number.

        Larger numbers come before smaller ones, and operators whose instances have the highest
        loads first, since those are hard to place.
        """
        loads = [one.load(count) for one, count in zip(self._of, vector, strict=True)]
        order = sorted(self._tasks, key=lambda task: -max(loads[v] for v in task))
        for larger in (True, False):
            for group in (*self._forward, *self._colocated):
                count = self._common(group, max(vector[v] for v in group) + 1) if larger else None
                if count is not None:
                    yield _with(vector, group, count)
            for task in order:
                counts, now = self._of[task[0]].counts, vector[task[0]]
                beyond = [count for count in counts if (count > now if larger else count < now)]
                if beyond:
                    yield _with(vector, task, min(beyond) if larger else max(beyond))

    def by_instances(self) -> Iterator[Vector]:
        """Yield the vectors of the operators' own numbers, those of the fewest instances first."""
        counts_of = [self._of[task[0]].counts for task in self._tasks]
        start = (0,) * len(counts_of)
        pending, known = [(sum(self.first), start)], {start}
        while pending:
            number, index = heappop(pending)
            pairs = zip(counts_of, index, strict=True)
            chosen = dict(zip(self._tasks, (counts[i] for counts, i in pairs), strict=True))
            yield tuple(chosen[task] for task in self._task_of)
            for t, (task, counts) in enumerate(zip(self._tasks, counts_of, strict=True)):
                if (after := index[t] + 1) < len(counts):
                    larger = _with(index, [t], after)
                    if larger not in known:
                        known.add(larger)
                        more = len(task) * (counts[after] - counts[index[t]])
                        heappush(pending, (number + more, larger))

    def _with_common(self, groups: Iterable[Sequence[int]]) -> list[Sequence[int]]:
        """Return the groups of two or more, with whole tasks, that can have a common number."""
        whole = [sorted({w for v in group for w in self._task_of[v]}) for group in groups]
        return [each for each in whole if len(each) > 1 and self._common(each, 0) is not None]

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
    forward = [e for e, kind in graph.partitioning.items() if kind == "forward"]
    ends = zip(graph.stream_source[forward], graph.stream_target[forward], strict=True)
    return [sorted(group) for group in connected_groups((int(u), int(v)) for u, v in ends)]


def with_parallelism(graph: StreamGraph, counts: Counts) -> StreamGraph:
    """Return a graph that states numbers of instances."""
    stated = {graph.index[name]: count for name, count in counts.items()}
    return graph.with_numbers(parallelism=stated)[0]
