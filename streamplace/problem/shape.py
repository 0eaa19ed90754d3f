"""The shape of a graph: lengths of paths, streams per operator, and width."""

from collections import Counter
from dataclasses import dataclass

from streamplace.problem.unknown_numbers import UnknownNumbers

LARGEST = 1_000
"""Operators of the largest graph whose longest shortest path is computed: O(V (V + E)) time."""


@dataclass(frozen=True)
class Shape:
    """The shape of a graph.

    Parameters
    ----------
    longest_path
        Operators on the longest path along streams.
    longest_shortest_path
        Operators on the longest of the shortest paths along streams from each operator to each one
        that it reaches; None for graphs of more than `LARGEST` operators.
    streams_per_operator
        The number of streams over that of operators, |E| / |V|.
    width
        The number of operators in the largest level, see `levels_of`.
    """

    longest_path: int
    longest_shortest_path: int | None
    streams_per_operator: float
    width: int

    @classmethod
    def of(cls, graph: UnknownNumbers) -> "Shape":
        """Return the shape of a graph, in O(V + E) time but for its longest shortest path."""
        operators, consumers = len(graph.names), _consumers(graph)
        levels = levels_of(graph)
        small = operators <= LARGEST
        return cls(
            max(levels) + 1,
            1 + max(_farthest(v, consumers) for v in range(operators)) if small else None,
            len(graph.streams) / operators,
            max(Counter(levels).values()),
        )


def _consumers(graph: UnknownNumbers) -> list[list[int]]:
    """Return the operators to which each operator has streams."""
    consumers: list[list[int]] = [[] for _ in graph.names]
    ends = zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True)
    for source, target in ends:
        consumers[source].append(target)
    return consumers


def levels_of(graph: UnknownNumbers) -> list[int]:
    """Return the level of each operator: the number of streams on the longest path to it."""
    consumers, levels = _consumers(graph), [0] * len(graph.names)
    for v in graph.order.tolist():
        for w in consumers[v]:
            levels[w] = max(levels[w], levels[v] + 1)
    return levels


def _farthest(start: int, consumers: list[list[int]]) -> int:
    """Return the distance from an operator to the farthest one that it reaches, in streams."""
    reached, latest, distance = {start}, [start], -1
    while latest:
        distance += 1
        found = {w for v in latest for w in consumers[v]} - reached
        reached |= found
        latest = [*found]
    return distance
