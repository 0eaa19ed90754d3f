"""The parser: groups of vertices from the scores of the edges between them."""

from typing import NamedTuple

import numpy as np

from sim.flow import Floats, Ints
from sim.jit import inner, kernel

NONE = -1


class Successors(NamedTuple):
    """The directed edges of a graph by their source."""

    first: Ints  # (n + 1,) index of each vertex's first edge
    target: Ints  # (E,)


@kernel
def parse(
    ends: Ints,
    by_score: Ints,
    graph_of: Ints,
    least: Ints,
    weight: Floats,
    heaviest: float,
    successors: Successors,
    acyclic: bool,
) -> Ints:
    """Return the group of each of n vertices, (n,), numbered by their first vertices.

    Each vertex keeps its incident edge of the highest score, its dominant edge, and the connected
    components of the edges that are kept are the groups. They are joined one by one, the edge of
    the highest score first, so that joining can stop.

    Parameters
    ----------
    ends
        (M, 2) vertices at the ends of each undirected edge.
    by_score
        (M,) the edges in the order of their scores, the highest first.
    graph_of
        (n,) the graph of each vertex, in ascending order.
    least
        (K,) the number of groups of each graph from which on no more groups are joined.
    weight, heaviest
        (n,) weight of each vertex, and the largest weight of two groups that are joined. A vertex
        whose edge is skipped for it keeps the next one that is not.
    successors
        The directed edges, which only `acyclic` needs.
    acyclic
        Whether an edge is skipped if a cycle of groups would go through its joined groups.
    """
    n = graph_of.shape[0]
    root = np.arange(n, dtype=np.int32)
    later = np.arange(n, dtype=np.int32)  # circular lists of the members of each group
    carried = weight.copy()
    is_met = np.zeros(n, np.bool_)
    reached = np.full(n, NONE, np.int32)
    stack = np.empty(n, np.int32)
    count = np.zeros(least.shape[0], np.int64)
    for v in range(n):
        count[graph_of[v]] += 1
    for i in range(by_score.shape[0]):
        a, b = ends[by_score[i], 0], ends[by_score[i], 1]
        if is_met[a] and is_met[b]:
            continue
        first, second = _root(root, a), _root(root, b)
        if first != second and carried[first] + carried[second] > heaviest:
            continue
        is_met[a] = is_met[b] = True
        graph = graph_of[a]
        if first == second or count[graph] <= least[graph]:
            continue
        if acyclic and (
            _leads_back(successors, root, later, first, second, reached, stack, 2 * i)
            or _leads_back(successors, root, later, second, first, reached, stack, 2 * i + 1)
        ):
            continue
        root[max(first, second)] = min(first, second)
        carried[min(first, second)] = carried[first] + carried[second]
        later[first], later[second] = later[second], later[first]
        count[graph] -= 1
    return _numbered(root)


@inner
def _root(root: Ints, v: int) -> int:
    while root[v] != v:
        root[v] = root[root[v]]
        v = root[v]
    return v


@inner
def _leads_back(
    successors: Successors,
    root: Ints,
    later: Ints,
    begin: int,
    end: int,
    reached: Ints,
    stack: Ints,
    mark: int,
) -> bool:
    """Return whether a path leads from a group to another one through a third.

    Parameters
    ----------
    begin, end
        The roots of the groups.
    reached, stack
        Working memory, (n,); groups that this call reaches are marked with `mark`.
    """
    stack[0] = begin
    reached[begin] = mark
    size = 1
    while size:
        size -= 1
        group = stack[size]
        v = group
        while True:
            for e in range(successors.first[v], successors.first[v + 1]):
                other = _root(root, successors.target[e])
                if other == end:
                    if group != begin:
                        return True
                elif reached[other] != mark:
                    reached[other] = mark
                    stack[size] = other
                    size += 1
            v = later[v]
            if v == group:
                break
    return False


@inner
def _numbered(root: Ints) -> Ints:
    """Return the numbers of the groups, whose roots are their first vertices."""
    number = np.empty(root.shape[0], np.int32)
    count = 0
    for v in range(root.shape[0]):
        first = _root(root, v)
        if first == v:
            number[v] = count
            count += 1
        else:
            number[v] = number[first]
    return number


def by_score(scores: Floats) -> Ints:
    """Return the edges in the order of their scores, (M,), the highest first; ties by number."""
    order: Ints = np.argsort(-scores, kind="stable").astype(np.int32)
    return order
