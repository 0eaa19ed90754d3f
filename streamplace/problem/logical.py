"""A job as its engine describes it: operators, how parallel each is, and how tuples are spread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from streamplace.errors import GraphError
from streamplace.problem.graph import StreamGraph
from streamplace.util.arrays import Ints


class Distribution(Enum):
    """How the tuples of a stream are spread over the instances of its target."""

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
class Grouped:
    """A stream inside groups: in each, all instances of its source feed all of its target.

    Parameters
    ----------
    groups
        Instances of both ends are in so many groups of equal size, in their order.
    copies
        So many instances of the target get each tuple; the tuples are divided otherwise.
    """

    groups: int
    copies: int = 1


Way = Distribution | Grouped
"""How a stream is spread."""


def instance_names(operator: str, count: int) -> list[str]:
    """Return what the instances of an operator are called; an only one as the operator itself."""
    return [operator] if count == 1 else [f"{operator}[{i}]" for i in range(count)]


@dataclass(frozen=True)
class LogicalGraph:
    """What a reader makes of an engine's document.

    Parameters
    ----------
    graph
        An operator of the job is one operator here, however parallel it is; its memory is that of
        one instance. What the document does not tell is `UNKNOWN`.
    parallelism
        Operator -> its number of instances, for those with more than one.
    distributions
        (source, target) -> how each stream between them is spread, in the graph's order of streams,
        which of several between the same two goes by selectivity and payload; `ALL` if not told.
    guessed
        Streams (source, target) that the document does not determine.
    notes
        What else it leaves open, a line each.
    by_channel
        Those groups of the graph's ``colocate`` of which the first instances stay together, the
        second, and so on; of the other groups all instances do.
    """

    graph: StreamGraph
    parallelism: Mapping[str, int] = field(default_factory=dict)
    distributions: Mapping[tuple[str, str], Sequence[Way]] = field(default_factory=dict)
    guessed: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    by_channel: Sequence[Sequence[str]] = ()

    def __post_init__(self) -> None:
        for name, count in self.parallelism.items():
            if count < 1:
                raise GraphError(f"{name!r}: its parallelism must be at least 1 (got {count})")

    @property
    def stream_distributions(self) -> list[Way]:
        """The distribution of each stream of the graph."""
        seen: dict[tuple[str, str], int] = {}
        found: list[Way] = []
        for stream in self.graph.streams:
            ends = stream.source, stream.target
            number = seen.get(ends, 0)
            seen[ends] = number + 1
            known = self.distributions.get(ends, ())
            found.append(known[number] if number < len(known) else Distribution.ALL)
        return found

    def with_graph(self, graph: StreamGraph, before: Ints) -> "LogicalGraph":
        """Return the same with the graph that `StreamGraph.with_numbers` returns.

        Every stream keeps its distribution.

        Parameters
        ----------
        before
            (E,) index that each stream had.
        """
        if all(len({*several}) <= 1 for several in self.distributions.values()):
            return replace(self, graph=graph)
        old = self.stream_distributions
        distributions: dict[tuple[str, str], list[Way]] = {}
        for stream, e in zip(graph.streams, before.tolist(), strict=True):
            ends = stream.source, stream.target
            if ends in self.distributions:
                distributions.setdefault(ends, []).append(old[e])
        return replace(self, graph=graph, distributions=distributions)
