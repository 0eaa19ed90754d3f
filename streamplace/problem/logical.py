"""Logical graphs: operators with parallelism, and streams with a distribution of tuples."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeVar

import numpy as np

from streamplace.errors import GraphError
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.parallelism import FLINK, NO_SHARES, KeyShares, Partitions
from streamplace.util.arrays import Floats, Ints

Value = TypeVar("Value")
LEAST_GROUPS, MOST_GROUPS = 128, 32_768
WORD = 0xFFFFFFFF
SIGN = 0x80000000


def key_shares_of(stated: Partitions | None, keys: KeyShares, count: int) -> Floats:
    """Return the share of a stream's tuples that each of p instances receives, (p,).

    Parameters
    ----------
    stated
        K, the number of key groups, or ``flink``. None: keys that are not named are spread evenly,
        and named ones belong to the groups of Flink's default K.
    keys
        Shares of named keys.
    count
        p, the number of instances.
    """
    rest, groups = 1.0 - sum(keys.values()), groups_of(stated, count)
    shares: Floats = np.full(count, rest / count)
    if groups is not None:
        of_groups = np.bincount(instances_of_groups(groups, count), minlength=count)
        shares = rest * of_groups / groups
    known = groups or default_groups(count)
    for key, share in keys.items():
        shares[group_of(key, known) * count // known] += share
    return shares


def groups_of(stated: Partitions | None, count: int) -> int | None:
    """Return the number of partitions or key groups with p instances; None: it is unknown."""
    return default_groups(count) if stated == FLINK else stated


def most_instances(stated: Partitions) -> int:
    """Return the largest number of instances that all have a partition or key group."""
    return MOST_GROUPS if stated == FLINK else stated


def instances_of_groups(groups: int, count: int) -> Ints:
    """Return the instance of each key group, (K,)."""
    owner: Ints = (np.arange(groups, dtype=np.int64) * count // groups).astype(np.int32)
    return owner


def default_groups(count: int) -> int:
    """Return Flink's number of key groups for a parallelism where the job sets none.

    That is ``KeyGroupRangeAssignment.computeDefaultMaxParallelism``.
    """
    wanted = count + count // 2
    return min(max(1 << (wanted - 1).bit_length(), LEAST_GROUPS), MOST_GROUPS)


def most_with(groups: int) -> int:
    """Return the largest parallelism for which Flink's number of key groups is this one."""
    return groups if groups >= MOST_GROUPS else (2 * groups + 1) // 3


def group_of(key: str, groups: int) -> int:
    """Return the key group of a key of the type String."""
    return murmur(java_hash(key)) % groups


def java_hash(text: str) -> int:
    """Return ``String.hashCode()``, as an unsigned number of 32 bits."""
    code = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for i in range(0, len(units), 2):
        code = (31 * code + int.from_bytes(units[i : i + 2], "big")) & WORD
    return code


def murmur(code: int) -> int:
    """Return Flink's hash of a hash code, at least 0."""
    code = code * 0xCC9E2D51 & WORD
    code = _rotated(code, 15)
    code = code * 0x1B873593 & WORD
    code = _rotated(code, 13)
    code = (code * 5 + 0xE6546B64) & WORD
    code ^= 4
    code ^= code >> 16
    code = code * 0x85EBCA6B & WORD
    code ^= code >> 13
    code = code * 0xC2B2AE35 & WORD
    code ^= code >> 16
    if code < SIGN:
        return code
    return 0 if code == SIGN else (-code) & WORD


def _rotated(code: int, bits: int) -> int:
    return (code << bits | code >> (32 - bits)) & WORD


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
        Number of key groups, or ``flink``: as many as Flink takes by default; None: unknown, so
        that keys without a share are spread evenly.
    keys
        Shares of named keys.
    """

    groups: Partitions | None = None
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
    ids
        (source, target) -> what the file calls each stream between them, in the same order; empty
        where it has no name.
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
    open_counts
        Operators whose number of instances the file leaves open; they have one, or are ``free`` in
        a graph that states numbers.
    per_partition
        Whether every operator, or group of `by_channel`, runs once per partition that its sources
        read, as the tasks of Kafka Streams do. Known numbers of instances are then no choice.
    repartitioned
        First operator of a task -> the operators that send it all that it reads, through topics
        that have as many partitions as the largest number of their instances. Where nothing states
        the number of tasks, it is that one.
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
    ids: Mapping[tuple[str, str], Sequence[str]] = field(default_factory=dict)
    guessed: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    partitions: Mapping[str, int] = field(default_factory=dict)
    source_parts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    max_parallelism: Mapping[str, int] = field(default_factory=dict)
    by_channel: Sequence[Sequence[str]] = ()
    open_counts: Collection[str] = ()
    per_partition: bool = False
    repartitioned: Mapping[str, Sequence[str]] = field(default_factory=dict)
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
        return self._of_streams(self.distributions, Distribution.ALL)

    @property
    def stream_ids(self) -> list[str]:
        """What the file calls each of the graph's E streams, in their order; empty: nothing."""
        return self._of_streams(self.ids, "")

    def _of_streams(
        self, several: Mapping[tuple[str, str], Sequence[Value]], default: Value
    ) -> list[Value]:
        visited: dict[tuple[str, str], int] = {}
        found: list[Value] = []
        graph, names = self.graph, self.graph.names
        for u, v in zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True):
            ends = names[u], names[v]
            number = visited.get(ends, 0)
            visited[ends] = number + 1
            known = several.get(ends, ())
            found.append(known[number] if number < len(known) else default)
        return found

    @property
    def tasks(self) -> list[Sequence[str]]:
        """The groups of `by_channel`, and each other operator alone."""
        grouped = {name for group in self.by_channel for name in group}
        return [*self.by_channel, *([name] for name in self.graph.names if name not in grouped)]

    def with_graph(self, graph: StreamGraph, before: Ints) -> "LogicalGraph":
        """Return this logical graph with another graph; streams keep distributions and ids.

        Parameters
        ----------
        graph, before
            The result of `StreamGraph.with_numbers`: the new graph, and the index that each of its
            streams had, (E,).
        """
        facts = (*self.distributions.values(), *self.ids.values())
        if all(len({*several}) <= 1 for several in facts):
            return replace(self, graph=graph)
        kinds, names = self.stream_distributions, self.stream_ids
        distributions: dict[tuple[str, str], list[AnyDistribution]] = {}
        ids: dict[tuple[str, str], list[str]] = {}
        for stream, e in zip(graph.streams, before.tolist(), strict=True):
            ends = stream.source, stream.target
            if ends in self.distributions:
                distributions.setdefault(ends, []).append(kinds[e])
            if ends in self.ids:
                ids.setdefault(ends, []).append(names[e])
        return replace(self, graph=graph, distributions=distributions, ids=ids)
