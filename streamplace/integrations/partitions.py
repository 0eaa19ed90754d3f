"""Partitions of sources and key groups of operators, in imported graphs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from streamplace.errors import GraphError
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import AnyDistribution, KeyedDistribution, LogicalGraph


def with_partitions(logical: LogicalGraph, partitions: Mapping[str, int]) -> LogicalGraph:
    """Return a logical graph with the partitions of some of its operators.

    Those of a source are what it reads, such as the partitions of a topic: further instances are
    idle, as in Flink. Those of an operator with streams by key are its key groups, of which each
    instance needs one; see the field of `Operator`.

    Parameters
    ----------
    partitions
        Operator -> number of partitions.

    Raises
    ------
    GraphError
        If an operator has inputs, but none of them by key, or more instances than key groups.
    """
    if not partitions:
        return logical
    sources = {logical.graph.names[v] for v in logical.graph.sources.tolist()}
    distributions = dict(logical.distributions)
    for (source, target), several in logical.distributions.items():
        if target in partitions:
            distributions[source, target] = [_grouped(one, partitions[target]) for one in several]
    keyed = {
        stream.target
        for stream, kind in zip(logical.graph.streams, logical.stream_distributions, strict=True)
        if isinstance(kind, KeyedDistribution)
    }
    for name, number in partitions.items():
        if name not in sources | keyed:
            where = f"operators[{name!r:.80}].partitions"
            raise GraphError(f"{where}: only sources and operators with streams by key have them")
        if name in keyed and (count := logical.parallelism.get(name, 1)) > number:
            least = f"must be at least the parallelism, {count:,} (got {number:,})"
            raise GraphError(f"operators[{name!r:.80}].partitions: {least}")
    idle = [n for n in sources & {*partitions} if logical.parallelism.get(n, 1) > partitions[n]]
    return replace(
        logical,
        notes=[*logical.notes, *_idle(sorted(idle))],
        distributions=distributions,
        partitions={**logical.partitions, **_of(partitions, sources)},
        max_parallelism={**logical.max_parallelism, **_of(partitions, keyed)},
    )


def _idle(names: Sequence[str]) -> list[str]:
    """Return a note on sources with more instances than partitions."""
    if not names:
        return []
    return [f"{listed(names)}: more instances than partitions, so that some read nothing"]


def _grouped(distribution: AnyDistribution, groups: int) -> AnyDistribution:
    """Return a distribution by key with a number of key groups, and others as they are."""
    if not isinstance(distribution, KeyedDistribution):
        return distribution
    return KeyedDistribution(groups, distribution.keys)


def _of(partitions: Mapping[str, int], names: set[str]) -> dict[str, int]:
    return {name: number for name, number in partitions.items() if name in names}
