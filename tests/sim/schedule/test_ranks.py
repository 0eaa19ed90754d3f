"""Connected parts against a plain search."""

import heapq

import numpy as np

from streamplace.families import Recipe
from streamplace.sim.schedule.queues import no_events
from streamplace.sim.schedule.ranks import Neighbours, grow, neighbours_of
from streamplace.util.arrays import Floats, Ints

GRAPHS = 200


def plain(neighbours: Neighbours, start: int, size: int, keys: Floats, devices: Ints) -> set[int]:
    """Return the operators of a part, found with a heap of Python."""
    heap: list[tuple[float, int]] = [(-np.inf, start)]
    taken: set[int] = set()
    while heap and len(taken) < size:
        _, v = heapq.heappop(heap)
        if v in taken:
            continue
        taken.add(v)
        for i in range(neighbours.first[v], neighbours.first[v + 1]):
            other = int(neighbours.operator[i])
            if other not in taken and (not len(devices) or devices[other] == devices[start]):
                heapq.heappush(heap, (keys[i], other))
    return taken


def test_parts_are_those_of_a_plain_search() -> None:
    recipe = Recipe("layered", GRAPHS, range(10, 80), 5)
    for number in range(GRAPHS):
        rng, graph = np.random.default_rng(number), recipe.graph(number)
        count, streams = len(graph.names), len(graph.streams)
        ends = graph.stream_source, graph.stream_target
        neighbours = neighbours_of(count, *ends, rng.random(streams))
        keys, start = rng.random(2 * streams), int(rng.integers(count))
        size = int(rng.integers(1, count + 1))
        devices = rng.integers(2, size=count * (number % 2)).astype(np.int32)
        taken = np.zeros(count, np.bool_)
        grow(neighbours, start, size, keys, devices, no_events(2 * streams + 1), taken)
        expected = plain(neighbours, start, size, keys, devices)
        assert set(np.flatnonzero(taken).tolist()) == expected


def test_neighbours_are_at_the_other_ends() -> None:
    graph = Recipe("layered", 1, range(20, 21), 5).graph(0)
    source, target = graph.stream_source, graph.stream_target
    seconds = np.arange(1.0, len(source) + 1.0)
    neighbours = neighbours_of(20, source, target, seconds)
    for v in range(20):
        own = range(neighbours.first[v], neighbours.first[v + 1])
        found = sorted((int(neighbours.operator[i]), float(neighbours.seconds[i])) for i in own)
        expected = [(int(t), s) for a, t, s in zip(source, target, seconds, strict=True) if a == v]
        expected += [(int(a), s) for a, t, s in zip(source, target, seconds, strict=True) if t == v]
        assert found == sorted(expected)
