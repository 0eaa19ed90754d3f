"""Logical graphs: operators with parallelism, and streams with a distribution of tuples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from streamplace.errors import GraphError
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.key_groups import key_shares_of
from streamplace.problem.parallelism import NO_SHARES, KeyShares
from streamplace.util.arrays import Floats, Ints


class Distribution(Enum):
    """Rule that distributes a stream's tuples over the instances of its target."""

    POINTWISE = "pointwise"
    """Each source instance feeds its own target instances, one to one if the numbers are equal.

    The assignment is Flink's (``VertexInputInfoComputationUtils``). With S sources and T targets,
    if T ≤ S, target t receives from the sources ⌊t·S/T⌋ to ⌊(t+1)·S/T⌋ - 1; otherwise source s
    feeds the targets ⌈s·T/S⌉ to ⌈(s+1)·T/S⌉ - 1.
    """
    ALL = "all"
    """Each source instance divides its tuples equally among all target instances."""
    BROADCAST = "broadcast"
    """Each source instance sends a copy of every tuple to each target instance."""
    FIRST = "first"
    """Each source instance sends all its tuples to the first target instance."""


@dataclass(frozen=True)
class GroupedDistribution:
    """Distribution within groups: each source instance feeds all target instances of its group.

    Parameters
    ----------
    groups
        Number of groups. The instances of source and target are divided, in order, into this many
        groups of equal size.
    copies
        Number of target instances that get each tuple. With 1, the tuples are divided among them.
    """

    groups: int
    copies: int = 1


@dataclass(frozen=True)
class KeyedDistribution:
    """Distribution by keys: each source instance sends every key to the instance that has it.

    Parameters
    ----------
    groups
        Number of key groups; None: unknown, so that keys without a share are spread evenly.
    keys
        Shares of named keys.
    """

    groups: int | None = None
    keys: KeyShares = NO_SHARES

    def shares(self, count: int) -> Floats:
        """Return the share of the tuples that each of p instances receives, (p,)."""
        return key_shares_of(self.groups, self.keys, count)


@dataclass(frozen=True)
class MeasuredDistribution:
    """Distribution as it was measured: each source instance divides its tuples by these shares.

    Parameters
    ----------
    shares
        The share of the tuples that each target instance received.
    rule
        The rule by which another number of target instances would receive them.
    """

    shares: tuple[float, ...]
    rule: Distribution | KeyedDistribution


BY_KEY = KeyedDistribution()
"""The distribution by keys of which nothing is known; they are spread evenly."""
AnyDistribution = Distribution | GroupedDistribution | KeyedDistribution | MeasuredDistribution
"""The distribution of one stream."""


def instance_names(operator: str, count: int) -> list[str]:
    """Return the names of an operator's instances; a single instance has the operator's name."""
    return [operator] if count == 1 else [f"{operator}[{i}]" for i in range(count)]


@dataclass(frozen=True)
class LogicalGraph:
    """A stream graph whose parallel operators are not yet expanded into instances.

    Parameters
    ----------
    graph
        The graph of the imported file. A parallel operator is one operator here, with the
        memory of one instance. Numbers that the file lacks are `UNKNOWN`.
    parallelism
        Operator -> its number of instances, for operators with more than one.
    distributions
        (source, target) -> the distribution of each stream between them, in the graph's order of
        streams, which sorts parallel streams by selectivity and payload. Default: `ALL`.
    guessed
        Streams (source, target) that the file does not determine.
    notes
        Other ambiguities of the file, one line each.
    partitions
        Source -> the number of partitions, which its instances divide among them; without it, all
        instances have equal shares.
    source_parts
        Source -> the measured share of its tuples that each of its instances emits, which counts
        instead of partitions.
    max_parallelism
        Operator -> the largest number of instances that its state allows.
    by_channel
        Groups of the graph's ``colocate`` that keep instances with the same number together: all
        first instances, all second instances, and so on. Other groups keep all instances together.
    per_partition
        Whether every operator, or group of `by_channel`, runs once per partition that its sources
        read, as the tasks of Kafka Streams do. Known numbers of instances are then no choice.
    cluster
        The devices and links that the file describes, or that its format is used with; None: the
        file has none.
    assignment
        Operator -> the device of `cluster` on which it ran, if the file records a run; None: it
        does not, or not for every operator.

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
    partitions: Mapping[str, int] = field(default_factory=dict)
    source_parts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    max_parallelism: Mapping[str, int] = field(default_factory=dict)
    by_channel: Sequence[Sequence[str]] = ()
    per_partition: bool = False
    cluster: Cluster | None = None
    assignment: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        for name, count in self.parallelism.items():
            if count < 1:
                raise GraphError(f"{name!r}: parallelism must be at least 1 (got {count})")

    @property
    def measured_shares(self) -> dict[str, tuple[float, ...]]:
        """Operator -> the measured shares of its instances, where they are uneven."""
        found = dict(self.source_parts)
        for (_, target), several in self.distributions.items():
            for each in several:
                if isinstance(each, MeasuredDistribution):
                    found[target] = each.shares
        return found

    @property
    def stream_distributions(self) -> list[AnyDistribution]:
        """The distribution of each of the graph's E streams, in their order."""
        visited: dict[tuple[str, str], int] = {}
        found: list[AnyDistribution] = []
        for stream in self.graph.streams:
            ends = stream.source, stream.target
            number = visited.get(ends, 0)
            visited[ends] = number + 1
            known = self.distributions.get(ends, ())
            found.append(known[number] if number < len(known) else Distribution.ALL)
        return found

    @property
    def tasks(self) -> list[Sequence[str]]:
        """The groups of `by_channel`, and each other operator alone."""
        grouped = {name for group in self.by_channel for name in group}
        return [*self.by_channel, *([name] for name in self.graph.names if name not in grouped)]

    def with_graph(self, graph: StreamGraph, before: Ints) -> "LogicalGraph":
        """Return this logical graph with another graph; every stream keeps its distribution.

        Parameters
        ----------
        graph, before
            The result of `StreamGraph.with_numbers`: the new graph, and the index that each of its
            streams had, (E,).
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
