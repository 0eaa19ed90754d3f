"""Tuples sent to operators between two samples, of which some may wait in Flink's buffers."""

from streamplace.control.flink.sampling import Sample
from streamplace.integrations.flink.plan import Vertex
from streamplace.problem.logical import Distribution


def arrivals(before: Sample, after: Sample) -> dict[str, float]:
    """Return operator -> the tuples sent to it from other vertices.

    Operators are left out where the counters do not say it: Flink counts a tuple once, also if it
    is sent on several streams, so that the streams of a vertex with several of them are unknown.
    """
    graph, vertex_of = after.plan.logical.graph, after.plan.vertex_of
    outer = [each for each in graph.streams if vertex_of[each.source] != vertex_of[each.target]]
    senders = [vertex_of[each.source].id for each in outer]
    found: dict[str, float] = {}
    unknown: set[str] = set()
    for stream in outer:
        sender, target = vertex_of[stream.source], vertex_of[stream.target]
        sent = _sent(before, after, sender)
        if sent is None or senders.count(sender.id) > 1:
            unknown.add(stream.target)
            continue
        distributions = after.plan.logical.distributions.get((stream.source, stream.target), ())
        copies = target.parallelism if Distribution.BROADCAST in distributions else 1
        found[stream.target] = found.get(stream.target, 0.0) + sent * copies
    return {name: count for name, count in found.items() if name not in unknown}


def _sent(before: Sample, after: Sample, vertex: Vertex) -> float | None:
    """Return the tuples that the instances of a vertex sent; None if a counter is missing."""
    rows = zip(before.subtasks[vertex.id], after.subtasks[vertex.id], strict=True)
    counts = [(then.counters.records_out, now.counters.records_out) for then, now in rows]
    known = [now - then for then, now in counts if then is not None and now is not None]
    return sum(known) if len(known) == len(counts) else None
