"""The parser and fractal dimensions against plain implementations."""

from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.reference.graph_parsing import fractal_dimension, has_cycle, merged, parsed
from streamplace.papers.hsdag.kernels import Successors, by_score, fractal_dimensions, parse
from streamplace.sim.columns import by_operator

Pairs = list[tuple[int, int]]


def graph(seed: int) -> tuple[int, Pairs, NDArray[np.float64]]:
    """Return a number of vertices, the edges of a graph without cycles, and their scores."""
    rng = np.random.default_rng(seed)
    vertices = int(rng.integers(1, 40))
    drawn = rng.integers(vertices, size=(int(rng.integers(0, 3 * vertices)), 2))
    edges = np.unique(np.sort(drawn[drawn[:, 0] != drawn[:, 1]], axis=1), axis=0)
    return vertices, [tuple(edge) for edge in edges.tolist()], rng.random(len(edges))


def successors_of(vertices: int, edges: Pairs) -> Successors:
    ends = np.array(edges, np.int32).reshape(-1, 2)
    first, order = by_operator(ends[:, 0], vertices)
    return Successors(first, np.ascontiguousarray(ends[order, 1]))


def groups(
    vertices: int,
    edges: Pairs,
    scores: np.ndarray,
    least: int = 1,
    *,
    acyclic: bool = False,
    weight: np.ndarray | None = None,
    heaviest: float = inf,
) -> set[frozenset[int]]:
    number = parse(
        np.array(edges, np.int32).reshape(-1, 2),
        by_score(scores),
        np.zeros(vertices, np.int32),
        np.array([least], np.int32),
        np.ones(vertices) if weight is None else weight,
        heaviest,
        successors_of(vertices, edges),
        acyclic,
    )
    first = [number.tolist().index(g) for g in range(int(number.max()) + 1)]
    assert first == sorted(first)
    return {frozenset(np.flatnonzero(number == g).tolist()) for g in range(len(first))}


def compare(count: int) -> None:
    for seed in range(count):
        vertices, edges, scores = graph(seed)
        expected = {frozenset(one) for one in parsed(vertices, edges, scores.tolist())}
        assert groups(vertices, edges, scores) == expected, seed


def test_groups_are_those_of_the_paper() -> None:
    compare(50)


@pytest.mark.long
def test_groups_are_those_of_the_paper_on_a_thousand_graphs() -> None:
    compare(1000)


@pytest.mark.parametrize("acyclic", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_joining_stops_at_the_least_number_of_groups(acyclic: bool, share: float) -> None:
    for seed in range(40):
        vertices, edges, scores = graph(seed)
        least = max(1, int(share * vertices))
        directed = edges if acyclic else []
        expected = merged(vertices, edges, scores.tolist(), least, directed)
        found = groups(vertices, edges, scores, least, acyclic=acyclic)
        assert found == {frozenset(one) for one in expected}, seed
        assert len(found) >= least or vertices < least


@pytest.mark.parametrize("heaviest", [0.0, 1.5, 4.0])
def test_heavy_groups_are_not_joined(heaviest: float) -> None:
    limited = 0
    for seed in range(60):
        vertices, edges, scores = graph(seed)
        weight = np.random.default_rng(seed).random(vertices)
        expected = merged(
            vertices, edges, scores.tolist(), 1, weight=weight.tolist(), heaviest=heaviest
        )
        found = groups(vertices, edges, scores, weight=weight, heaviest=heaviest)
        assert found == {frozenset(one) for one in expected}, seed
        assert all(len(one) == 1 or weight[list(one)].sum() <= heaviest for one in found)
        limited += found != groups(vertices, edges, scores)
    assert limited > 10


def test_quotients_have_no_cycle_on_request() -> None:
    plain = 0
    for seed in range(100):
        vertices, edges, scores = graph(seed)
        made = groups(vertices, edges, scores, acyclic=True)
        assert not has_cycle([set(one) for one in made], edges), seed
        plain += has_cycle([set(one) for one in groups(vertices, edges, scores)], edges)
    assert plain > 10  # without the request, many have one


def test_graphs_of_a_union_are_parsed_apart() -> None:
    first, second = graph(3), graph(4)
    vertices = first[0] + second[0]
    edges = first[1] + [(a + first[0], b + first[0]) for a, b in second[1]]
    number = parse(
        np.array(edges, np.int32),
        by_score(np.concatenate([first[2], second[2]])),
        np.repeat(np.arange(2, dtype=np.int32), [first[0], second[0]]),
        np.array([1, second[0]], np.int32),
        np.ones(vertices),
        inf,
        successors_of(vertices, edges),
        False,
    )
    own = {frozenset(np.flatnonzero(number == g).tolist()) for g in set(number[: first[0]])}
    assert own == groups(*first)
    assert len(set(number[first[0] :].tolist())) == second[0]


def test_fractal_dimensions_are_slopes() -> None:
    for seed in range(30):
        vertices, edges, _ = graph(seed)
        found = fractal_dimensions(successors_of(vertices, edges))
        expected = [fractal_dimension(vertices, edges, v) for v in range(vertices)]
        assert found == pytest.approx(expected, abs=1e-9), seed


def test_the_fractal_dimension_of_a_chain_is_one() -> None:
    found = fractal_dimensions(successors_of(9, [(v, v + 1) for v in range(8)]))
    assert found == pytest.approx([1.0] * 7 + [0.0, 0.0])
