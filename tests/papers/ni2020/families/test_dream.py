"""The preset `dream`: the paper's 40 classes, and the statistics of the released graphs."""

from collections import Counter
from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import ks_2samp

from streamplace import Problem, Recipe, StreamGraph
from streamplace.errors import UsageError
from streamplace.papers.ni2020.families.dream import largest_remainder
from streamplace.placers.partition.metis import Metis
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import throughput
from tests.support.graphs import preset_graph
from tests.support.released_data import needs_dream, released_graphs

Shape = tuple[int, int, int]


def shape(graph: StreamGraph) -> Shape:
    """Return a graph's load in devices, number of branches, and branch length."""
    branches = int((graph.stream_source == 0).sum())
    load = flow(Problem(graph)).work.sum() / 2.5e9
    assert load == pytest.approx(round(load), abs=1e-9)
    return round(load), branches, (len(graph.names) - 2) // branches


@lru_cache(maxsize=1)
def full_set(seed: int) -> list[StreamGraph]:
    """Return the 3,150 graphs of a seed."""
    return [Recipe("dream", 3150, seed=seed).graph(i) for i in range(3150)]


@pytest.mark.long
def test_the_full_set_has_the_classes_and_counts_of_the_paper() -> None:
    counted = Counter(map(shape, full_set(1)))
    assert len(counted) == 40
    assert {n for (load, _, _), n in counted.items() if load == 2} == {50}
    assert {n for (load, _, _), n in counted.items() if load > 2} == {100}
    assert {len(g.names) for g in full_set(1)} <= set(range(4, 28))


def test_one_graph_follows_the_recipe() -> None:
    graph = preset_graph("dream", 27)  # 5 branches of 5
    problem = flow(Problem(graph))
    assert graph.instructions[0] == graph.instructions[26] == 10_000
    stages = graph.instructions[1:26].reshape(5, 5)  # one row per stage
    assert np.ptp(stages, axis=1).max() == 0
    assert len(set(stages[:, 0])) == 5
    assert (graph.selectivity[graph.stream_source == 0] == 0.2).all()
    assert (graph.selectivity[graph.stream_source != 0] == 1.0).all()
    assert problem.work.max() <= 2.5e9
    assert graph.payload_bytes[26] == 0
    assert 0 < graph.payload_bytes[:26].min() < graph.payload_bytes.max() <= 62_500
    branch = [(0, 1), (1, 6), (6, 11), (11, 16), (16, 21), (21, 26)]
    ends = set(zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True))
    assert ends == {(a + i * (a > 0), b + i * (b < 26)) for a, b in branch for i in range(5)}


def test_smaller_sets_divide_the_classes_by_largest_remainder() -> None:
    counted = Counter(shape(Recipe("dream", 63).graph(i)) for i in range(63))
    assert (
        sum(counted.values()) == 63
    )  # a fiftieth of the set: 1 graph per class of 50, 2 per class of 100
    assert {n for (load, _, _), n in counted.items() if load == 2} == {1}
    assert {n for (load, _, _), n in counted.items() if load > 2} == {2}


def test_sizes_restrict_the_classes() -> None:
    sizes = {len(Recipe("dream", 30, range(10, 13)).graph(i).names) for i in range(30)}
    assert sizes == {10, 11, 12}
    with pytest.raises(UsageError, match="no class of dream has that many operators"):
        Recipe("dream", 30, range(28, 99))


@pytest.mark.long
@needs_dream
def test_classes_equal_those_of_the_released_set() -> None:
    assert set(map(shape, released_graphs())) == set(map(shape, full_set(1)))


def columns(graphs: list[StreamGraph]) -> list[NDArray[np.float64]]:
    """Return operator utilisation, payload of emitting operators and stream saturation."""
    flows = [flow(Problem(graph)) for graph in graphs]
    return [
        np.concatenate([f.work / 2.5e9 for f in flows]),
        np.concatenate([g.payload_bytes[g.payload_bytes > 0] for g in graphs]),
        np.concatenate([f.stream_bits / 1e9 for f in flows]),
    ]


def metis_row(graphs: list[StreamGraph]) -> NDArray[np.float64]:
    """Return mean, lower quartile, median and share above 0.97 of METIS's throughput."""
    rng = np.random.default_rng(0)
    problems = (Problem(graph, model="path-average") for graph in graphs)
    achieved = np.array([throughput(p, Metis()(p, rng).devices)[0] / 1e4 for p in problems])
    quarter, median = np.percentile(achieved, [25, 50])
    return np.array([achieved.mean(), quarter, median, (achieved > 0.97).mean()])


@pytest.mark.long
@needs_dream
def test_numbers_have_the_distribution_of_the_released_set() -> None:
    generated, released = columns(full_set(1)), columns(released_graphs())
    for one, other in zip(generated, released, strict=True):
        assert ks_2samp(one, other).statistic <= 0.03


@pytest.mark.long
@needs_dream
def test_metis_performs_as_on_the_released_set() -> None:
    generated = np.mean([metis_row(full_set(seed)) for seed in range(5)], axis=0)
    released = metis_row(released_graphs())
    assert np.abs(generated - released) == pytest.approx([0, 0, 0, 0], abs=0.02)
    assert generated[0] == pytest.approx(released[0], abs=0.01)


def test_a_number_of_operators_that_no_class_has_is_refused_with_those_that_exist() -> None:
    message = "no class of dream has that many operators; choose from 4, 5, 6, .*12, 14, .* 27$"
    with pytest.raises(UsageError, match=message):
        Recipe("dream", 10, sizes=range(13, 14))


def test_largest_remainder_shares_sum_to_the_total() -> None:
    assert largest_remainder(7, [1, 1, 2]) == [2, 2, 3]
    assert largest_remainder(0, [3, 1]) == [0, 0]
    assert sum(largest_remainder(1001, [50] * 17 + [100] * 23)) == 1001
