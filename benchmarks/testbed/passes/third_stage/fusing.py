"""Fusion of operators, so that few are left."""

from collections import defaultdict

from streamplace import StreamGraph


def fused(graph: StreamGraph, most: int) -> StreamGraph:
    """Return a graph with at most so many operators, or as few as fusion leaves.

    The pair with the least work together is fused, again and again, among the streams of which one
    end has no other stream on this side; this never makes a cycle. Ties go to the first
    stream. An output that several operators of a group read is sent to the group once.
    """
    ends = list(zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True))
    work = dict(enumerate(graph.instructions.tolist()))
    group = list(work)
    while len(work) > most:
        streams = sorted({(group[v], group[w]) for v, w in ends if group[v] != group[w]})
        outputs, inputs = [v for v, _ in streams], [w for _, w in streams]
        single = [(v, w) for v, w in streams if outputs.count(v) == 1 or inputs.count(w) == 1]
        if not single:
            break
        v, w = min(single, key=lambda pair: work[pair[0]] + work[pair[1]])
        work[v] += work.pop(w)
        group = [v if own == w else own for own in group]
    return _graph_of(graph, ends, group, list(work.values()))


def _graph_of(
    graph: StreamGraph, ends: list[tuple[int, int]], group: list[int], work: list[float]
) -> StreamGraph:
    """Return the graph of groups, each named after the operator that the others joined."""
    number = {own: i for i, own in enumerate(sorted(set(group)))}
    sent: dict[tuple[int, int], dict[int, float]] = defaultdict(dict)
    for (v, w), size in zip(ends, graph.stream_payload_bytes.tolist(), strict=True):
        if group[v] != group[w]:
            own = sent[number[group[v]], number[group[w]]]
            own[v] = max(own.get(v, 0.0), size)
    return StreamGraph.from_columns(
        [graph.names[own] for own in number],
        work,
        [0.0] * len(work),
        list(sent),
        stream_payload_bytes=[sum(own.values()) for own in sent.values()],
        name=graph.name,
        firing="all",
    )
