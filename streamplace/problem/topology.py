"""Topological order of a graph from (E, 2) index pairs, and the cycle that prevents one."""

import heapq

import numpy as np

from streamplace.util.arrays import Floats, Ints


def topological_order(count: int, ends: Ints) -> Ints:
    """Return the vertices 0..count-1 in topological order; ties go to the smallest index.

    Vertices on a cycle or downstream of one are missing from the result.
    """
    if np.all(ends[:, 0] < ends[:, 1]):
        return np.arange(count, dtype=np.int32)
    by_source = np.argsort(ends[:, 0], kind="stable")
    targets = ends[by_source, 1].tolist()
    first = np.searchsorted(ends[by_source, 0], np.arange(count + 1)).tolist()
    waiting = np.bincount(ends[:, 1], minlength=count).tolist()
    ready = [v for v in range(count) if waiting[v] == 0]
    order = []
    while ready:
        v = heapq.heappop(ready)
        order.append(v)
        for target in targets[first[v] : first[v + 1]]:
            waiting[target] -= 1
            if waiting[target] == 0:
                heapq.heappush(ready, target)
    return np.array(order, dtype=np.int32)


def sorted_streams(order: Ints, ends: Ints, *numbers: Floats) -> Ints:
    """Return the streams, (E,) indices, sorted by source in `order`, target and numbers, (E,)."""
    position = np.empty(len(order), dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    keys: tuple[Floats | Ints, ...] = (*reversed(numbers), ends[:, 1], position[ends[:, 0]])
    by = np.lexsort(keys)
    return by.astype(np.int32)


def first_cycle(count: int, ends: Ints, order: Ints) -> list[int]:
    """Return one cycle, with its first vertex repeated at the end, from an incomplete `order`."""
    import networkx  # noqa: PLC0415 - heavy, and needed only for a graph with a cycle

    left = np.ones(count, dtype=bool)
    left[order] = False
    rest: networkx.DiGraph[int] = networkx.DiGraph()
    rest.add_edges_from(ends[left[ends].all(axis=1)].tolist())
    cycle = [a for a, _ in networkx.find_cycle(rest)]
    return [*cycle, cycle[0]]
