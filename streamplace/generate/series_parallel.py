"""Random series-parallel graphs: one source, one sink, and forks that join again."""

import numpy as np

from streamplace.generate.rates import furnish
from streamplace.problem.graph import StreamGraph

SERIES = 0.6  # share of steps that lengthen a path; the others add a parallel path


def series_parallel(count: int, rng: np.random.Generator, name: str) -> StreamGraph:
    """Return a graph of `count` operators, at least 2.

    It grows from one stream, from the source to the sink. Each step picks a random stream u -> v
    and either replaces it with u -> w -> v for a new operator w (series), or adds u -> w -> v next
    to it (parallel).
    """
    steps = rng.random((count - 2, 2)).tolist()
    ends = [(0, 1)]
    for w, (where, how) in enumerate(steps, start=2):
        chosen = int(where * len(ends))
        u, v = ends[chosen]
        if how < SERIES:
            ends[chosen] = (u, w)
        else:
            ends.append((u, w))
        ends.append((w, v))
    return furnish(count, *_numbered(count, ends), rng, name)


def _numbered(count: int, ends: list[tuple[int, int]]) -> tuple[np.ndarray, list[float]]:
    """Renumber operators topologically, breadth first; return sorted ends and source shares."""
    after: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for u, v in ends:
        after[u].append(v)
        waiting[v] += 1
    order = [0]
    for u in order:
        for v in after[u]:
            waiting[v] -= 1
            if waiting[v] == 0:
                order.append(v)
    number = np.empty(count, dtype=np.int64)
    number[order] = np.arange(count)
    renumbered = number[np.array(ends)]
    return renumbered[np.lexsort((renumbered[:, 1], renumbered[:, 0]))], [1.0]
