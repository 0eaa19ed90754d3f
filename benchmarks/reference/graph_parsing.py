"""Coarsening and graph parsing of HSDAG (Duan et al. 2024) in plain Python.

Nothing is shared with `streamplace.problem.grouping` and `streamplace.papers.hsdag`.
"""

from collections.abc import Sequence
from math import inf, log

Edge = tuple[int, int]


def chains(vertices: int, edges: Sequence[Edge]) -> list[set[int]]:
    """Return the sets that co-location makes of a directed graph's vertices."""
    children: list[set[int]] = [set() for _ in range(vertices)]
    parents: list[set[int]] = [set() for _ in range(vertices)]
    for a, b in edges:
        children[a].add(b)
        parents[b].add(a)
    sets = [{v} for v in range(vertices)]
    for a in range(vertices):
        for b in children[a]:
            if children[a] == {b} and parents[b] == {a}:
                joined = next(s for s in sets if a in s) | next(s for s in sets if b in s)
                sets = [s for s in sets if not s & joined] + [joined]
    return sets


def parsed(vertices: int, edges: Sequence[Edge], scores: Sequence[float]) -> list[set[int]]:
    """Return the groups of Algorithm 2 of the paper.

    Each vertex keeps its incident edge of the highest score, its dominant edge. A group begins with
    the ends of the highest dominant edge of the vertices left, and grows by vertices whose dominant
    edge has an end in it, until none does.

    Parameters
    ----------
    edges
        Undirected edges, each listed once.
    scores
        Their scores, without ties.
    """
    dominant: dict[int, int] = {}
    for number, ends in enumerate(edges):
        for v in ends:
            if v not in dominant or scores[number] > scores[dominant[v]]:
                dominant[v] = number
    left = set(dominant)
    groups = [{v} for v in range(vertices) if v not in dominant]
    while left:
        highest = max(left, key=lambda v: scores[dominant[v]])
        group = set(edges[dominant[highest]])
        while more := {v for v in left - group if group & set(edges[dominant[v]])}:
            group |= more
        groups.append(group)
        left -= group
    return groups


def merged(
    vertices: int,
    edges: Sequence[Edge],
    scores: Sequence[float],
    least: int,
    directed: Sequence[Edge] = (),
    weight: Sequence[float] = (),
    heaviest: float = inf,
) -> list[set[int]]:
    """Return the groups that dominant edges make if they are taken one by one, highest first.

    Parameters
    ----------
    least
        An edge that would leave fewer groups is not taken.
    directed
        Edges of the graph without cycles; an edge whose groups, joined, would be on a cycle of
        groups is not taken.
    weight, heaviest
        Weights of the vertices; an edge whose groups together weigh more than the heaviest may is
        not dominant for any vertex.
    """
    groups = [{v} for v in range(vertices)]
    has_edge: set[int] = set()
    for number in sorted(range(len(edges)), key=lambda number: -scores[number]):
        if has_edge.issuperset(edges[number]):
            continue
        first, second = (next(g for g in groups if v in g) for v in edges[number])
        both = sum(weight[v] for v in first | second) if weight else 0.0
        if first is not second and both > heaviest:
            continue
        has_edge.update(edges[number])
        if first is second or len(groups) <= least:
            continue
        joined = [g for g in groups if g is not first and g is not second] + [first | second]
        if not has_cycle(joined, directed):
            groups = joined
    return groups


def has_cycle(groups: Sequence[set[int]], directed: Sequence[Edge]) -> bool:
    """Return whether the quotient graph of groups has a cycle."""
    group_of = {v: number for number, group in enumerate(groups) for v in group}
    edges = {(group_of[a], group_of[b]) for a, b in directed if group_of[a] != group_of[b]}
    left = set(range(len(groups)))
    while left:
        free = left - {b for a, b in edges if a in left}
        if not free:
            return True
        left -= free
    return False


def fractal_dimension(vertices: int, edges: Sequence[Edge], v: int) -> float:
    """Return the slope of log N(v, r) over log r by least squares.

    N(v, r) is the number of other vertices within r hops along directed edges, for every positive
    distance r of some vertex; the slope is 0 where there are fewer than two distances.
    """
    children: list[set[int]] = [set() for _ in range(vertices)]
    for a, b in edges:
        children[a].add(b)
    distance = {v: 0}
    layer = {v}
    while layer:
        layer = {b for a in layer for b in children[a]} - set(distance)
        distance |= dict.fromkeys(layer, max(distance.values()) + 1)
    radii = sorted(set(distance.values()) - {0})
    if len(radii) < 2:
        return 0.0
    x = [log(r) for r in radii]
    y = [log(sum(0 < d <= r for d in distance.values())) for r in radii]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    rise = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return rise / sum((a - mean_x) ** 2 for a in x)
