"""Tests for comparisons: numbers, independence of processes, and failures."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamplace import Cluster, Constraints, Recipe, StreamGraph, compare
from streamplace.errors import PlacementError, UsageError

RECIPE = Recipe("dream", 70, seed=11)
GRAPHS = [RECIPE.graph(number) for number in range(70)]


def test_rows_summarise_the_graphs() -> None:
    found = compare(GRAPHS, ["metis", "single"], [1e4, 2e4], model="path-average", jobs=1)
    assert [(row.placer, row.source_rate) for row in found.rows] == [
        ("metis", 1e4), ("single", 1e4), ("metis", 2e4), ("single", 2e4),
    ]  # fmt: skip
    achieved = found.relative_throughput[0]
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
    assert (alone.relative_throughput == together.relative_throughput).all()
    assert (alone.devices_used == together.devices_used).all()


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
    assert float(rows[1]["relative_throughput"]) == found.relative_throughput[0, 1, 0]


def test_single_arguments_equal_lists_of_one() -> None:
    found = compare(GRAPHS[0], "metis", 1e4, cluster="3x2500")
    several = compare(GRAPHS[:1], ["metis"], [1e4], cluster=Cluster.equal(3))
    assert (found.relative_throughput == several.relative_throughput).all()
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
