"""Differences and ratios of two placers in a comparison, paired by graph."""

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import UsageError
from streamplace.util.effect import mean_intervals

RECIPE = sp.Recipe("layered", 12, range(6, 12), seed=4)
GRAPHS = [RECIPE.graph(number) for number in range(12)]
CLUSTERS = [sp.Cluster.equal(2), sp.Cluster.equal(3)]


def test_the_difference_is_the_mean_over_graphs_clusters_and_rates() -> None:
    found = sp.compare(
        GRAPHS, ["greedy", "random"], [1e4, 4e4], clusters=CLUSTERS, cross=True, jobs=1
    )
    over = found.difference("greedy", "random")
    reached = found.relative_throughput
    assert over.mean == pytest.approx((reached[:, 0] - reached[:, 1]).mean())
    assert 0.0 < over.low < over.mean < over.high
    means = np.zeros(len(GRAPHS))
    for case, (graph, _) in enumerate(found.cases.numbers()):
        means[graph] += (reached[:, 0, case] - reached[:, 1, case]).mean() / len(CLUSTERS)
    assert (over.low, over.high) == pytest.approx(tuple(mean_intervals(means[None])[0]))
    back = found.difference("random", "greedy")
    assert (back.mean, back.low) == pytest.approx((-over.mean, -over.high))


def test_the_interval_is_narrower_than_that_of_unpaired_means() -> None:
    found = sp.compare(GRAPHS, ["search:evaluations=50", "greedy"], 4e4, jobs=1)
    over = found.difference("search:evaluations=50", "greedy")
    spread = np.sqrt(found.relative_throughput[0].var(axis=1).sum() / len(GRAPHS))
    assert over.high - over.low < 2 * 1.96 * spread


def test_the_ratio_of_makespans_is_paired_by_graph() -> None:
    found = sp.compare(GRAPHS, ["climb", "heft"], objective=sp.Makespan(), jobs=1)
    over = found.ratio("climb", "heft")
    assert over.mean == pytest.approx(found.rows[0].mean_over_heft)
    own, others = found.makespan_s
    back = found.ratio("heft", "climb")
    assert back.mean == pytest.approx((others / own).mean())
    assert back.low <= back.mean <= back.high


def test_placers_that_were_not_compared_are_named() -> None:
    found = sp.compare(GRAPHS[:2], ["greedy", "random"], jobs=1)
    with pytest.raises(UsageError, match="'gredy' was not compared; did you mean 'greedy'"):
        found.difference("random", "gredy")
    makespans = sp.compare(GRAPHS[:2], ["heft"], objective=sp.Makespan(), jobs=1)
    with pytest.raises(UsageError, match="'peft' was not compared"):
        makespans.ratio("heft", "peft")


def apart(graph: sp.StreamGraph) -> sp.StreamGraph:
    """Return the graph with two operators that must not share a device."""
    rules = sp.Constraints(exlocate=[graph.names[:2]])
    return sp.StreamGraph(graph.operators, graph.streams, name="apart", constraints=rules)


def test_graphs_that_only_one_placed_are_left_out() -> None:
    graphs = [GRAPHS[0], apart(GRAPHS[1])]
    found = sp.compare(graphs, ["single", "heft"], objective=sp.Makespan(), jobs=1)
    own, others = found.makespan_s[:, 0]
    assert found.ratio("single", "heft").mean == pytest.approx(own / others)
    alone = sp.compare([*graphs[1:]], ["single", "heft"], objective=sp.Makespan(), jobs=1)
    with pytest.raises(UsageError, match="no case that both single and heft placed"):
        alone.ratio("single", "heft")
