"""Operators that have equal numbers of instances, since instances of one number are one task."""

from collections.abc import Iterable, Sequence

from streamplace.problem.graph import StreamGraph


def tasks_of(graph: StreamGraph, colocate: Iterable[Sequence[str]]) -> list[list[int]]:
    """Return the groups of operators that must have equal numbers, as sorted indices.

    They are the groups of ``colocate`` within which all streams are ``forward``, such as the nodes
    of a sub-topology of Kafka Streams, which one task per partition runs, or a chain of Flink. With
    unequal numbers, no stream would lead from an instance to the one of its number, and all
    instances would have to share one device. Groups that have operators in common are one task.
    """
    found: list[set[int]] = []
    ends = list(zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True))
    for names in colocate:
        members = {graph.index[name] for name in names if name in graph.index}
        inside = [e for e, (u, v) in enumerate(ends) if u in members and v in members]
        kinds = {graph.partitioning.get(e) for e in inside}
        if len(members) == len(names) and kinds == {"forward"}:
            for other in [each for each in found if each & members]:
                found.remove(other)
                members |= other
            found.append(members)
    return [sorted(members) for members in found]
