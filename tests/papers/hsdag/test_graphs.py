"""Graphs of vertices: pairs of neighbours, unions and quotients."""

import numpy as np
import pytest

from streamplace.papers.hsdag.graphs import (
    Graph,
    disjoint_union,
    graph_of_grouping,
    joined_groups,
    normalised,
    relative,
)
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.grouping import Grouping

DIAMOND = StreamGraph(
    [Operator(name, 1.0, 1.0) for name in "abcd"],
    [Stream(*ends) for ends in ("ab", "ac", "bd", "cd", "ad")],
)
ENDS = np.stack([DIAMOND.stream_source, DIAMOND.stream_target], axis=1)
TRAFFIC = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
WEIGHT = np.array([0.5, 0.25, 1.0, 2.0])


def graph_of(group_of: list[int]) -> Graph:
    weight = np.bincount(group_of, WEIGHT).astype(np.float64)
    return graph_of_grouping(Grouping(DIAMOND, group_of), weight, ENDS, TRAFFIC)


ALONE = graph_of([0, 1, 2, 3])


def pairs_of(values: np.ndarray) -> dict[tuple[int, int], float]:
    return dict(zip(map(tuple, ALONE.ends.tolist()), values.tolist(), strict=True))


def test_traffic_is_relative_to_the_mean_stream() -> None:
    of_streams = {(int(a), int(b)): t / 3.0 for (a, b), t in zip(ENDS, TRAFFIC, strict=True)}
    assert pairs_of(ALONE.traffic) == pytest.approx(of_streams)
    assert set(pairs_of(ALONE.pairs).values()) == {1.0}


@pytest.mark.parametrize("size", [0.0, 5e-319])
def test_values_without_a_normal_mean_count_as_none(size: float) -> None:
    """No division by such a mean: numpy 1.26 warns that it overflows, although it does not."""
    assert relative(np.full(8, size)).tolist() == [0.0] * 8


def test_quotients_add_up_pairs_and_traffic() -> None:
    quotient = ALONE.quotient(np.array([0, 1, 1, 1], np.int32))
    assert quotient.ends.tolist() == [[0, 1]]
    assert quotient.pairs.tolist() == [3.0]
    assert quotient.traffic[0] == pytest.approx(
        sum(value for (a, _), value in pairs_of(ALONE.traffic).items() if a == 0)
    )
    assert (quotient.sizes.tolist(), quotient.vertices) == ([2], 2)


def test_a_grouping_and_a_quotient_of_vertices_have_the_same_pairs() -> None:
    grouped = graph_of([0, 1, 1, 2])
    quotient = ALONE.quotient(np.array([0, 1, 1, 2], np.int32))
    assert grouped.ends.tolist() == quotient.ends.tolist()
    assert grouped.traffic == pytest.approx(quotient.traffic)
    assert grouped.pairs.tolist() == [1.0, 1.0, 1.0]  # of distinct edges between groups
    assert quotient.pairs.tolist() == [2.0, 1.0, 2.0]
    assert grouped.weight.tolist() == quotient.weight.tolist() == [0.5, 1.25, 2.0]


def test_unions_number_vertices_and_groups_one_after_the_other() -> None:
    pair = graph_of([0, 0, 0, 1])
    union = disjoint_union([ALONE, pair, pair])
    assert union.sizes.tolist() == [4, 2, 2]
    assert union.weight.tolist() == [*WEIGHT, 1.75, 2.0, 1.75, 2.0]
    assert union.graph_of.tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    assert union.ends.tolist()[-2:] == [[4, 5], [6, 7]]
    parts = [np.array([0, 1, 1, 0], np.int32), np.array([0, 0], np.int32), np.array([0, 1])]
    assert joined_groups(parts).tolist() == [0, 1, 1, 0, 2, 2, 3, 4]
    assert union.quotient(joined_groups(parts)).sizes.tolist() == [2, 1, 2]


def test_successors_follow_the_edges() -> None:
    first, target = ALONE.successors
    followed = {(v, int(t)) for v in range(4) for t in target[first[v] : first[v + 1]]}
    assert followed == {tuple(edge) for edge in ENDS.tolist()}


def test_convolutions_weight_edges_by_the_pairs_that_they_stand_for() -> None:
    weights = normalised(ALONE.quotient(np.array([0, 1, 1, 1], np.int32)))
    assert weights.own == pytest.approx([0.25, 0.25])
    assert weights.weight == pytest.approx([0.75, 0.75])
