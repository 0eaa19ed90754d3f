"""The shapes of graphs of the presets that are not from the paper."""

import networkx
import numpy as np
import pytest

from streamplace import Problem, Recipe, to_networkx
from streamplace.errors import UsageError
from streamplace.scoring.flow import flow
from tests.support.graphs import preset_graph

OTHERS = ("series-parallel", "layered")


@pytest.mark.parametrize("preset", OTHERS)
@pytest.mark.parametrize("size", [4, 5, 7, 40, 3000])
def test_graphs_have_the_requested_number_of_operators(preset: str, size: int) -> None:
    for seed in range(5):
        graph = preset_graph(preset, size, seed)
        assert len(graph.names) == size
        if preset == "series-parallel":  # layered graphs may be disconnected, as real jobs are
            assert networkx.is_weakly_connected(to_networkx(graph))


@pytest.mark.parametrize("preset", OTHERS)
def test_loads_need_between_two_and_five_devices(preset: str) -> None:
    for number in range(60):
        problem = flow(Problem(Recipe(preset, 60).graph(number)))
        assert 2 <= problem.work.sum() / 2.5e9 <= 5
        assert problem.work.max() <= 2.5e9
        assert problem.operator_tuples.min() > 0


@pytest.mark.parametrize("preset", OTHERS)
def test_selectivities_filter_split_copy_and_fan_out(preset: str) -> None:
    graph = preset_graph(preset, 2000)
    out = np.bincount(graph.stream_source, weights=graph.selectivity, minlength=2000)
    streams = np.bincount(graph.stream_source, minlength=2000)
    assert ((out < 0.99) & (streams > 0)).sum() > 100  # filters
    assert ((out > 1.01) & (streams == 1)).sum() > 50  # fan-outs
    assert (np.isclose(out, 1) & (streams > 1)).sum() > 50  # splits
    assert (np.isclose(out, streams) & (streams > 1)).sum() > 20  # copies
    assert (np.bincount(graph.stream_target) > 1).sum() > 200  # joins


def test_series_parallel_graphs_reduce_to_one_stream() -> None:
    reduced = networkx.DiGraph(to_networkx(preset_graph("series-parallel", 60)))
    while inner := [v for v in reduced if reduced.in_degree(v) == reduced.out_degree(v) == 1]:
        (before,), (after,) = reduced.predecessors(inner[0]), reduced.successors(inner[0])
        reduced.remove_node(inner[0])
        reduced.add_edge(before, after)  # a DiGraph merges parallel streams
    assert reduced.number_of_nodes() == 2


def test_layered_graphs_have_several_sources_with_unequal_shares_and_sinks() -> None:
    graphs = [Recipe("layered", 60).graph(number) for number in range(60)]
    assert {len(graph.sources) for graph in graphs} == {1, 2, 3, 4}
    assert {len(graph.sinks) for graph in graphs} >= {1, 2, 3, 4}
    several = next(graph for graph in graphs if len(graph.sources) == 4)
    assert len(set(several.source_share[several.sources])) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dreams", 1), "unknown family 'dreams'; did you mean 'dream'"),
        (("dream", 0), "count must be 1 to 10000000"),
        (("dream", 2**63 - 1), "count must be 1 to 10000000"),
        (("layered", 2**63), "count must be 1 to 10000000"),
        (("layered", 1, range(3, 9)), "operators must be 4 to 1000000"),
        (("layered", 1, range(4, 1_000_002)), "operators must be 4 to 1000000"),
        (("layered", 1, range(4, 5), -1), "seed must be at least 0"),
        (("layered", 1, range(4, 5), 1.5), "seed must be a whole number .got 1.5"),
        (("layered", 3, [10, 20]), "sizes must be range, not list; for example range"),
        (("layered", 3, range(0)), "sizes must not be empty .got range.0, 0"),
        (("dream", 3, range(5, 2)), "sizes must not be empty .got range.5, 2"),
        (("layered", 2.5), "count must be a whole number .got 2.5"),
        (("layered", True), "count must be a whole number .got True"),
    ],
)
def test_invalid_recipes_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Recipe(*arguments)  # type: ignore[arg-type]
