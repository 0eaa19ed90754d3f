"""Graphs of training steps whose operations are merged to a few groups."""

import heapq
from collections.abc import Mapping, Sequence

from streamplace.papers.placeto.families.step import Edge, Step
from streamplace.problem.graph import StreamGraph


def merged_graph(step: Step, operators: int, name: str) -> StreamGraph:
    """Return a training step with at most `operators` operators, or as few as merging leaves.

    The group with the fewest FLOPs among those with inputs from exactly one group joins that group,
    again and again; ties go to the first. A group takes the sum of the FLOPs and memory of its
    operations, and the name and type of the most expensive one. Its payload is that of all tensors
    that leave it; a tensor that it sends to another group counts once. It has an output shape if
    one tensor leaves it.
    """
    group = _groups([o.flops for o in step.operations], step.edges, operators)
    members: dict[int, list[int]] = {}
    for v, own in enumerate(group):
        members.setdefault(own, []).append(v)
    heads = [max(each, key=lambda v: step.operations[v].flops) for each in members.values()]
    index = {own: i for i, own in enumerate(members)}
    sent: dict[tuple[int, int], dict[int, Edge]] = {}
    leaving: list[dict[int, Edge]] = [{} for _ in members]
    for edge in step.edges:
        source, target = index[group[edge.source]], index[group[edge.target]]
        if source != target:
            sent.setdefault((source, target), {})[edge.tensor] = edge
            leaving[source][edge.tensor] = edge
    payload = [_bytes(tensors) for tensors in sent.values()]
    return StreamGraph.from_columns(
        [step.operations[head].name for head in heads],
        [sum(step.operations[v].flops for v in each) for each in members.values()],
        [_bytes(tensors) for tensors in leaving],
        list(sent),
        memory_bytes=[sum(step.operations[v].memory_bytes for v in m) for m in members.values()],
        stream_payload_bytes=payload,
        type={i: step.operations[head].kind for i, head in enumerate(heads)},
        output_shape={
            i: next(iter(tensors.values())).shape
            for i, tensors in enumerate(leaving)
            if len(tensors) == 1
        },
        name=name,
        firing="all",
    )


def _bytes(tensors: Mapping[int, Edge]) -> float:
    return sum(edge.bytes for edge in tensors.values())


def _groups(flops: Sequence[float], edges: Sequence[Edge], operators: int) -> list[int]:
    """Return the group of each operation, named by the operation that the others joined."""
    before: list[set[int]] = [set() for _ in flops]
    after: list[set[int]] = [set() for _ in flops]
    for edge in edges:
        before[edge.target].add(edge.source)
        after[edge.source].add(edge.target)
    work = list(flops)
    parent = list(range(len(work)))
    left = len(work)
    queue = [(work[v], v) for v in range(len(work)) if len(before[v]) == 1]
    heapq.heapify(queue)
    while queue and left > operators:
        cost, v = heapq.heappop(queue)
        if parent[v] != v or cost != work[v] or len(before[v]) != 1:
            continue  # it has changed since it was queued
        (into,) = before[v]
        parent[v] = into
        left -= 1
        work[into] += work[v]
        after[into].discard(v)
        for w in after[v]:
            before[w].discard(v)
            before[w].add(into)
            after[into].add(w)
            if len(before[w]) == 1:
                heapq.heappush(queue, (work[w], w))
        if len(before[into]) == 1:
            heapq.heappush(queue, (work[into], into))
    return [_root(parent, v) for v in range(len(work))]


def _root(parent: list[int], v: int) -> int:
    """Return the group of an operation, and shorten the way to it."""
    root = v
    while parent[root] != root:
        root = parent[root]
    while parent[v] != root:
        parent[v], v = root, parent[v]
    return root
