"""Comparisons, and the differences of pairs."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from streamplace import Cluster, Constraints, Recipe, StreamGraph, compare
from streamplace.errors import PlacementError, UsageError
from streamplace.util.effect import mean_intervals

RECIPE = Recipe("dream", 70, seed=11)
GRAPHS = [RECIPE.graph(number) for number in range(70)]


def test_rows_summarise_the_graphs() -> None:
    found = compare(GRAPHS, ["metis", "single"], [1e4, 2e4], model="path-average", jobs=1)
    assert [(row.placer, row.source_rate) for row in found.rows] == [
        ("metis", 1e4), ("single", 1e4), ("metis", 2e4), ("single", 2e4),
    ]  # fmt: skip
    achieved = found.values[0]
    single = found.rows[1]
    assert single.mean == pytest.approx(achieved[1].mean())
    assert single.q1 == pytest.approx(np.percentile(achieved[1], 25))
    assert single.share_above_0_97 == (achieved[1] > 0.97).mean()
    ahead = achieved[1] - achieved[0]
    assert single.better_than_metis == (ahead > 0.001).mean()
    assert single.worse_than_metis == (ahead < -0.001).mean()
    assert single.tied_with_metis == (np.abs(ahead) <= 0.001).mean()
    assert single.mean_devices == 1
    assert found.rows[0].tied_with_metis == 1


def test_without_metis_no_shares_are_compared_with_it() -> None:
    (row,) = compare(GRAPHS[:3], ["single"]).rows
    assert row.source_rate is None
    assert row.better_than_metis is row.tied_with_metis is row.worse_than_metis is None


def test_results_do_not_depend_on_the_number_of_processes() -> None:
    alone, together = (compare(GRAPHS, ["random", "greedy"], jobs=jobs) for jobs in (1, 2))
    assert (alone.values == together.values).all()
    assert (alone.figures.devices_used == together.figures.devices_used).all()


def test_a_graph_without_a_placement_is_an_error() -> None:
    graph = GRAPHS[0]
    apart = StreamGraph(
        graph.operators, graph.streams, name="apart", source_rate=1e4,
        constraints=Constraints(exlocate=[graph.names[:2]]),
    )  # fmt: skip
    with pytest.raises(PlacementError, match="apart: single: no single device"):
        compare([graph, apart], ["single"])


def test_a_wrong_name_is_found_before_anything_runs() -> None:
    with pytest.raises(UsageError, match="unknown placer 'metsi'"):
        compare(GRAPHS, ["metis", "metsi"])


def test_saved_tables_hold_every_graph(tmp_path: Path) -> None:
    found = compare(GRAPHS[:4], ["metis", "single"], [1e4], jobs=1)
    found.save(tmp_path / "deep" / "out")
    names = sorted(path.name for path in (tmp_path / "deep" / "out").iterdir())
    assert names == ["compare.json", "graphs.csv", "table.csv"]
    with (tmp_path / "deep" / "out" / "graphs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert float(rows[1]["relative_throughput"]) == found.values[0, 1, 0]


def test_single_arguments_equal_lists_of_one() -> None:
    found = compare(GRAPHS[0], "metis", 1e4, cluster="3x2500")
    several = compare(GRAPHS[:1], ["metis"], [1e4], cluster=Cluster.equal(3))
    assert (found.values == several.values).all()
    assert found.placers == ("metis",)
    assert found.source_rates == (1e4,)
    named = compare(iter(GRAPHS[:2]), {"k-way": "metis:parts=2", "mine": "single"})
    assert named.placers == ("k-way", "mine")


def test_equal_source_rates_count_once() -> None:
    found = compare(GRAPHS[:2], "single", [2e4, 1e4, 20_000, None, None])
    assert found.source_rates == (2e4, 1e4, None)
    assert len(found.rows) == 3


@pytest.mark.parametrize("graphs", ["dataset:real", ["a"], [GRAPHS[0], None], []])
def test_objects_that_are_not_graphs_are_refused_in_one_line(graphs: Any) -> None:
    with pytest.raises(UsageError, match="compare") as caught:
        compare(graphs, "metis")
    assert len(str(caught.value)) < 80


PAIRED = sp.Recipe("layered", 12, range(6, 12), seed=4)
PAIRED_GRAPHS = [PAIRED.graph(number) for number in range(12)]
CLUSTERS = [sp.Cluster.equal(2), sp.Cluster.equal(3)]


def test_the_difference_is_the_mean_over_graphs_clusters_and_rates() -> None:
    found = sp.compare(
        PAIRED_GRAPHS, ["greedy", "random"], [1e4, 4e4], clusters=CLUSTERS, cross=True, jobs=1
    )
    over = found.difference("greedy", "random")
    reached = found.values
    assert over.mean == pytest.approx((reached[:, 0] - reached[:, 1]).mean())
    assert 0.0 < over.low < over.mean < over.high
    means = np.zeros(len(PAIRED_GRAPHS))
    for case, (graph, _) in enumerate(found.cases.numbers()):
        means[graph] += (reached[:, 0, case] - reached[:, 1, case]).mean() / len(CLUSTERS)
    assert (over.low, over.high) == pytest.approx(tuple(mean_intervals(means[None])[0]))
    back = found.difference("random", "greedy")
    assert (back.mean, back.low) == pytest.approx((-over.mean, -over.high))


def test_the_interval_is_narrower_than_that_of_unpaired_means() -> None:
    found = sp.compare(PAIRED_GRAPHS, ["search:evaluations=50", "greedy"], 4e4, jobs=1)
    over = found.difference("search:evaluations=50", "greedy")
    spread = np.sqrt(found.values[0].var(axis=1).sum() / len(PAIRED_GRAPHS))
    assert over.high - over.low < 2 * 1.96 * spread


def test_the_ratio_of_makespans_is_paired_by_graph() -> None:
    found = sp.compare(PAIRED_GRAPHS, ["climb", "heft"], objective=sp.Makespan(), jobs=1)
    over = found.ratio("climb", "heft")
    assert over.mean == pytest.approx(found.rows[0].mean_over_heft)
    own, others = found.values[0]
    back = found.ratio("heft", "climb")
    assert back.mean == pytest.approx((others / own).mean())
    assert back.low <= back.mean <= back.high


def test_placers_that_were_not_compared_are_named() -> None:
    found = sp.compare(PAIRED_GRAPHS[:2], ["greedy", "random"], jobs=1)
    with pytest.raises(UsageError, match="'gredy' was not compared; did you mean 'greedy'"):
        found.difference("random", "gredy")
    makespans = sp.compare(PAIRED_GRAPHS[:2], ["heft"], objective=sp.Makespan(), jobs=1)
    with pytest.raises(UsageError, match="'peft' was not compared"):
        makespans.ratio("heft", "peft")


def apart(graph: sp.StreamGraph) -> sp.StreamGraph:
    """Return the graph with two operators that must not share a device."""
    rules = sp.Constraints(exlocate=[graph.names[:2]])
    return sp.StreamGraph(graph.operators, graph.streams, name="apart", constraints=rules)


def test_graphs_that_only_one_placed_are_left_out() -> None:
    graphs = [PAIRED_GRAPHS[0], apart(PAIRED_GRAPHS[1])]
    found = sp.compare(graphs, ["single", "heft"], objective=sp.Makespan(), jobs=1)
    own, others = found.values[0, :, 0]
    assert found.ratio("single", "heft").mean == pytest.approx(own / others)
    alone = sp.compare([*graphs[1:]], ["single", "heft"], objective=sp.Makespan(), jobs=1)
    with pytest.raises(UsageError, match="no case that both single and heft placed"):
        alone.ratio("single", "heft")


def test_every_row_has_its_difference_from_the_first_placer() -> None:
    run: Any = {"clusters": CLUSTERS, "cross": True, "jobs": 1}
    found = sp.compare(PAIRED_GRAPHS, ["greedy", "random"], [1e4, 4e4], **run)
    assert [row.minus_first is None for row in found.rows] == [True, False] * 2
    for i, rate in enumerate((1e4, 4e4)):
        alone = sp.compare(PAIRED_GRAPHS, ["greedy", "random"], rate, **run)
        over, row = alone.difference("random", "greedy"), found.rows[2 * i + 1]
        got = (row.minus_first, row.minus_first_low, row.minus_first_high)
        assert got == (over.mean, over.low, over.high)
        assert [found.columns[name].cell(row) for name in ("difference", "interval")] == [
            f"{over.mean:+.3f}", f"{over.low:+.3f} to {over.high:+.3f}",
        ]  # fmt: skip
    single = sp.compare(PAIRED_GRAPHS[:2], ["greedy", "random"], 4e4)
    assert single.rows[1].minus_first_low is None
    assert single.columns["difference"].heading == "difference to greedy"
    assert "interval" not in single.columns
    assert "difference" not in sp.compare(PAIRED_GRAPHS[:3], "greedy").columns


def test_throughput_of_placers_that_improve_a_placement_stands_beside_that_of_their_start() -> None:
    climbed = "climb:evaluations=30:start=random"
    found = sp.compare(PAIRED_GRAPHS[:3], ["random", climbed, "climb:evaluations=1"], 4e4, jobs=1)
    assert found.figures.starts[0, 1].tolist() == found.values[0, 0].tolist()
    drawn, improved, _ = found.rows
    assert (drawn.start, drawn.over_start) == (None, None)
    assert drawn.cpu_seconds_per_graph == found.figures.cpu_seconds[0, 0].mean()
    expected = found.values[0, 1] / found.figures.starts[0, 1]
    assert improved.over_start == pytest.approx(expected.mean())
    assert expected.mean() > 1
    assert [found.columns["start"].cell(row) for row in found.rows] == ["-", "random", "one device"]
    assert "start" not in found.of_placers(["random"]).columns


def test_a_renamed_reference_stays_the_reference() -> None:
    named = {"METIS": "metis", "ours": "greedy", "mine": own_placer}
    found = sp.compare(PAIRED_GRAPHS[:3], named, 4e4, jobs=1)
    plain = sp.compare(PAIRED_GRAPHS[:3], ["metis", "greedy"], 4e4, jobs=1)
    assert found.reference == "METIS"
    assert found.rows[1].better_than_metis == plain.rows[1].better_than_metis
    labels = {"METIS": "metis", "ours": "greedy", "mine": "own_placer"}
    assert found.to_dict()["labels"] == labels
    assert "labels" not in plain.to_dict()
    timed = sp.compare(PAIRED_GRAPHS[:3], {"x": "heft", "y": "peft"}, objective=sp.Makespan())
    assert timed.reference == "x"
    assert timed.rows[1].mean_over_heft == timed.rows[1].over_first


def own_placer(problem: sp.Problem, rng: object, start: object = None) -> sp.Placement:
    return sp.Placement(problem, np.zeros(len(problem.graph.names), dtype=np.int64))


def test_some_of_the_placers() -> None:
    found = sp.compare(PAIRED_GRAPHS[:3], ["metis", "greedy", "random"], 4e4, jobs=1)
    part = found.of_placers(["random", "metis"])
    assert part.placers == ("random", "metis")
    assert (part.values == found.values[:, [2, 0]]).all()
    with pytest.raises(UsageError, match="placer 'gredy' was not compared; did you mean 'greedy'"):
        found.of_placers(["gredy"])
