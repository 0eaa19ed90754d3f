"""Operators that have equal numbers of instances, since instances of one number are one task."""

from collections.abc import Iterable, Sequence

from streamplace.problem.graph import StreamGraph
from streamplace.util.groups import connected

FORWARD = "forward"


def tasks_of(graph: StreamGraph, colocate: Iterable[Sequence[str]]) -> list[list[int]]:
    """Return the groups of operators that must have equal numbers, as sorted indices.

    They are the groups of ``colocate`` within which all streams are ``forward``, such as the nodes
    of a sub-topology of Kafka Streams, which one task per partition runs, or a chain of Flink. With
    unequal numbers, no stream would lead from an instance to the one of its number, and all
    instances would have to share one device. Groups that have operators in common are one task.
    """
    ends = list(zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True))
    found: list[set[int]] = []
    for names in colocate:
        members = {graph.index[name] for name in names if name in graph.index}
        inside = [e for e, (u, v) in enumerate(ends) if u in members and v in members]
        if len(members) == len(names) and {graph.partitioning.get(e) for e in inside} == {FORWARD}:
            found.append(members)
    return [sorted(members) for members in connected(found)]
