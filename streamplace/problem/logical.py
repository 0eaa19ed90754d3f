"""Logical graphs: operators with their parallelism and the distribution of tuples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from streamplace.errors import GraphError
from streamplace.problem.graph import StreamGraph
from streamplace.util.arrays import Ints


class Distribution(Enum):
    """Distribution of a stream's tuples over the instances of its target."""

    POINTWISE = "pointwise"
    """Each instance feeds its own share of the others, one to one if there are as many.

    Shares are those of Flink (``VertexInputInfoComputationUtils``). Of S sources and T targets, if
    T ≤ S, target t has the sources from ⌊t·S/T⌋ on, else source s the targets from ⌈s·T/S⌉ on.
    """
    ALL = "all"
    """Each instance feeds all others, the tuples divided."""
    BROADCAST = "broadcast"
    """Each instance feeds all others, every tuple copied."""
    FIRST = "first"
    """Each instance feeds the first."""


@dataclass(frozen=True)
class GroupedDistribution:
    """Distribution within groups: all instances of the source feed all of the target.

    Parameters
    ----------
    groups
        Number of groups. The instances of both ends are divided, in their order, into this many
        groups of equal size.
    copies
        Number of target instances that get each tuple. With 1 the tuples are divided.
    """

    groups: int
    copies: int = 1


AnyDistribution = Distribution | GroupedDistribution
"""Distribution of one stream."""


def instance_names(operator: str, count: int) -> list[str]:
    """Return the names of an operator's instances; a single instance has the operator's name."""
    return [operator] if count == 1 else [f"{operator}[{i}]" for i in range(count)]


@dataclass(frozen=True)
class LogicalGraph:
    """A stream graph before its parallel operators become instances.

    Parameters
    ----------
    graph
        Every operator of the document, however parallel, is one operator here, and its memory is
        that of one instance. Numbers that the document lacks are `UNKNOWN`.
    parallelism
        Operator -> its number of instances, for operators with more than one.
    distributions
        (source, target) -> the distribution of each stream between them, in the graph's order of
        streams, which sorts parallel streams by selectivity and payload. `ALL` if absent.
    guessed
        Streams (source, target) that the document does not determine.
    notes
        Other ambiguities of the document, one line each.
    by_channel
        Groups of the graph's ``colocate`` whose instances of equal number stay together: all first
        ones, all second ones, and so on. Of the other groups all instances stay together.

    Raises
    ------
    GraphError
        If a parallelism is below 1.
    """

    graph: StreamGraph
    parallelism: Mapping[str, int] = field(default_factory=dict)
    distributions: Mapping[tuple[str, str], Sequence[AnyDistribution]] = field(default_factory=dict)
    guessed: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    by_channel: Sequence[Sequence[str]] = ()

    def __post_init__(self) -> None:
        for name, count in self.parallelism.items():
            if count < 1:
                raise GraphError(f"{name!r}: its parallelism must be at least 1 (got {count})")

    @property
    def stream_distributions(self) -> list[AnyDistribution]:
        """The distribution of each stream of the graph."""
        seen: dict[tuple[str, str], int] = {}
        found: list[AnyDistribution] = []
        for stream in self.graph.streams:
            ends = stream.source, stream.target
            number = seen.get(ends, 0)
            seen[ends] = number + 1
            known = self.distributions.get(ends, ())
            found.append(known[number] if number < len(known) else Distribution.ALL)
        return found

    def with_graph(self, graph: StreamGraph, before: Ints) -> "LogicalGraph":
        """Return this logical graph with the result of `StreamGraph.with_numbers`.

        Every stream keeps its distribution.

        Parameters
        ----------
        before
            (E,) index that each stream had.
        """
        if all(len({*several}) <= 1 for several in self.distributions.values()):
            return replace(self, graph=graph)
        old = self.stream_distributions
        distributions: dict[tuple[str, str], list[AnyDistribution]] = {}
        for stream, e in zip(graph.streams, before.tolist(), strict=True):
            ends = stream.source, stream.target
            if ends in self.distributions:
                distributions.setdefault(ends, []).append(old[e])
        return replace(self, graph=graph, distributions=distributions)
