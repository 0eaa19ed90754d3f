"""Comparisons of makespans: numbers by hand, pairs of graph and cluster, and failures."""

import csv
import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import PlacementError, ProblemError, SimulationError, UsageError
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.problem.makespan import Makespan
from streamplace.scoring.values import without_rounding
from streamplace.util.effect import mean_intervals
from streamplace.workflows.cases import CaseList
from streamplace.workflows.comparison import Comparison, Figures
from streamplace.workflows.ratios import RatioMeasure
from tests.support.comparisons import makespans_by_hand
from tests.support.makespan_problems import makespan_score

RECIPE = sp.Recipe("dream", 70, seed=11)
GRAPHS = [RECIPE.graph(number) for number in range(70)]
CLUSTERS = [sp.Cluster.parse(text) for text in ("2x1000", "3x2000", "1x500,1x4000")]


def in_order(problem: sp.Problem, rng: np.random.Generator, start: Any = None) -> sp.Placement:
    """Place operators on devices in turn: a placer that simulates nothing."""
    return sp.Placement(problem, np.arange(len(problem.graph.names)) % len(problem.cluster.names))


def test_rows_by_hand() -> None:
    found = makespans_by_hand()
    heft, other = found.rows
    assert (heft.mean_over_heft, heft.over_heft_low, heft.over_heft_high) == (1.0, 1.0, 1.0)
    assert (heft.better_than_heft, heft.worse_than_heft, heft.evaluations) == (0.0, 0.0, None)
    assert heft.mean_own_schedule_s == pytest.approx((1.5 + 4.5 + 6.0 + 0.0) / 4)
    assert heft.own_over_heft == pytest.approx((0.75 + 1.125 + 0.75 + 1.0) / 4)
    assert other.mean_own_schedule_s is other.own_over_heft is None
    assert other.mean_makespan_s == pytest.approx((1.0 + 6.0 + 8.004 + 0.0) / 4)
    assert other.mean_over_heft == pytest.approx((0.5 + 1.5 + 1.0005 + 1.0) / 4)
    assert (other.better_than_heft, other.worse_than_heft) == (0.25, 0.25)
    assert other.mean_slr == pytest.approx((1.0 + 3.0 + 2.001 + 1.0) / 4)
    assert other.median_slr == pytest.approx((1.0 + 2.001) / 2)
    assert other.mean_gap == pytest.approx((0.0 + 0.5 + 1 - 4 / 8.004 + 0.0) / 4)
    assert other.evaluations == 25
    assert (other.seconds_per_graph, other.cpu_seconds_per_graph) == (0.5, 0.25)


def test_makespans_are_those_of_the_placements() -> None:
    found = sp.compare(GRAPHS[:4], [in_order, "random"], objective=Makespan(batch=3, order="any"))
    assert found.placers == ("in_order", "random")
    for n, graph in enumerate(GRAPHS[:4]):
        problem = sp.Problem(graph, objective=Makespan(batch=3, order="any"))
        score = makespan_score(in_order(problem, np.random.default_rng(0)))
        assert found.values[0][0, n] == score.makespan_s
        measure = cast("RatioMeasure", found.measure)
        assert measure.slr(found)[0, n] == pytest.approx(score.slr)
        assert measure.gap(found)[0, n] == pytest.approx(score.gap)
    assert found.rows[0].mean_over_heft is found.rows[0].over_heft_low is None
    assert found.columns["ratio"].heading == "over in_order"


def test_evaluations_are_counted_where_a_placer_simulates() -> None:
    found = sp.compare(
        GRAPHS[:2], [in_order, "heft", "climb:evaluations=40"], objective=Makespan(), jobs=1
    )
    none, of_heft, of_climb = (row.evaluations for row in found.rows)
    assert none is of_heft is None
    assert of_climb is not None
    assert 1 <= of_climb <= 40


def test_list_schedulers_stand_under_their_own_order_too() -> None:
    """Other placers have none, and the other numbers stay those of the order asked for."""
    run: Any = {"clusters": CLUSTERS, "objective": Makespan(batch=1000)}
    found = sp.compare(GRAPHS[:3], ["peft", "random"], **run)
    for n, (graph, cluster) in enumerate(zip(GRAPHS, CLUSTERS, strict=False)):
        placed = sp.place(graph, cluster, objective=run["objective"], placer="peft")
        assert found.values[0][0, n] == placed.score.makespan_s
        assert found.figures.own_schedules[0][0, n] == placed.own_schedule_s
    assert np.isnan(found.figures.own_schedules[0][1]).all()
    peft, other = found.rows
    assert peft.mean_own_schedule_s == pytest.approx(found.figures.own_schedules[0][0].mean())
    assert peft.own_over_heft is other.mean_own_schedule_s is None
    assert found.columns["own-order"].cell(other) == "-"
    assert "own-order" not in sp.compare(GRAPHS[:3], ["random"], **run).columns


def test_placers_that_improve_a_placement_stand_beside_their_start() -> None:
    """What a placer has added is the ratio to the very placement from which it began."""
    run: Any = {"clusters": CLUSTERS, "objective": Makespan()}
    climbed = "climb:evaluations=30:start=random"
    found = sp.compare(GRAPHS[:3], ["random", climbed, "climb:evaluations=1"], **run)
    assert found.starts == {climbed: "random", "climb:evaluations=1": "one device"}
    assert found.figures.starts[0][1].tolist() == found.values[0][0].tolist()
    random, improved, _ = found.rows
    assert random.start is random.over_start is None
    over_start = found.values[0][1] / found.figures.starts[0][1]
    assert improved.over_start == pytest.approx(over_start.mean())
    assert [found.columns["start"].cell(row) for row in found.rows] == ["-", "random", "one device"]
    assert "start" not in sp.compare(GRAPHS[:3], ["random"], **run).columns


def test_the_mean_in_the_own_order_is_about_all_cases() -> None:
    """Where a placement was repaired, it is not that of the placer's own schedule."""
    operators = [
        sp.Operator(n, 1e6, 0.0, memory_bytes=m) for n, m in zip("abc", (2, 2, 3), strict=True)
    ]
    devices = [sp.Device("big", 2.0, memory_bytes=3), sp.Device("small", 1.0, memory_bytes=4)]
    cluster = sp.Cluster(devices, sp.Network(kind="free"))
    graphs = [GRAPHS[0], sp.StreamGraph(operators)]
    found = sp.compare(graphs, "heft", cluster=cluster, objective=Makespan())
    assert np.isnan(found.figures.own_schedules[0][0]).tolist() == [False, True]
    assert found.rows[0].mean_own_schedule_s is None
    assert found.rows[0].own_over_heft == pytest.approx(
        found.figures.own_schedules[0][0, 0] / found.values[0][0, 0]
    )


@pytest.mark.long
def test_results_do_not_depend_on_the_number_of_processes() -> None:
    placers = ["random", "climb:evaluations=30"]
    alone, together = (
        sp.compare(GRAPHS, placers, objective=Makespan(noise=0.1, repeats=2), jobs=jobs)
        for jobs in (1, 2)
    )
    assert (alone.values == together.values).all()
    np.testing.assert_array_equal(alone.figures.evaluations, together.figures.evaluations)
    assert alone.rows[0].mean_gap is None


def test_what_a_prover_has_proven_bounds_all_placers() -> None:
    graph, cluster = GRAPHS[0], sp.Cluster.parse("1x900,1x2500,1x400")
    without = sp.compare(graph, ["random"], cluster=cluster, objective=Makespan())
    proven = sp.compare(graph, ["random", "exact"], cluster=cluster, objective=Makespan())
    assert proven.figures.bounds[0, 0] >= without.figures.bounds[0, 0]
    assert proven.figures.bounds[0, 0] <= proven.values[0, :, 0].min()
    assert proven.rows[1].mean_gap == pytest.approx(0.0, abs=1e-6)


def test_graph_i_is_on_cluster_i() -> None:
    for objective in (Makespan(), sp.Throughput.of(1e4)):
        found = sp.compare(GRAPHS[:3], ["round-robin"], clusters=CLUSTERS, objective=objective)
        for n, (graph, cluster) in enumerate(zip(GRAPHS[:3], CLUSTERS, strict=True)):
            alone = sp.compare(graph, ["round-robin"], cluster=cluster, objective=objective)
            assert found.values[..., n] == alone.values[..., 0]


def test_cross_places_every_graph_on_every_cluster() -> None:
    for objective in (Makespan(), sp.Throughput.of(1e4)):
        found = sp.compare(
            GRAPHS[:2], ["round-robin"], clusters=CLUSTERS, cross=True, objective=objective
        )
        assert list(found.cases.numbers()) == [(i, k) for i in (0, 1) for k in (0, 1, 2)]
        for n, (i, k) in enumerate(found.cases.numbers()):
            alone = sp.compare(GRAPHS[i], ["round-robin"], cluster=CLUSTERS[k], objective=objective)
            assert found.values[..., n] == alone.values[..., 0]
        document = found.to_dict()
        assert [document[key] for key in ("graphs", "clusters", "cross")] == [2, 3, True]


def test_the_interval_of_crossed_cases_resamples_graphs() -> None:
    ratios = np.array([[1.0] * 6, [0.5, 0.7, 0.9, 1.5, 0.8, 1.0]])
    cases = CaseList(("a", "b", "c"), 2, cross=True)
    figures = Figures.of(ratios[None])
    found = Comparison("", cases, RatioMeasure(Makespan()), ("heft", "x"), (None,), figures, seed=4)
    low, high = mean_intervals(np.array([[1.0] * 3, [0.6, 1.2, 0.9]]), 4)[1]
    assert (found.rows[1].over_heft_low, found.rows[1].over_heft_high) == (low, high)
    assert (low, high) == pytest.approx((0.6, 1.2))


def test_saved_tables_hold_every_case(tmp_path: Path) -> None:
    found = sp.compare(
        GRAPHS[:2], ["random", "single"], clusters=CLUSTERS, cross=True, objective=Makespan()
    )
    found.save(tmp_path / "out")
    with (tmp_path / "out" / "graphs.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 12
    assert [lines[3][key] for key in ("graph", "cluster", "placer")] == [
        GRAPHS[0].name, "1", "single",
    ]  # fmt: skip
    assert float(lines[3]["makespan_s"]) == found.values[0][1, 1]
    assert json.loads((tmp_path / "out" / "compare.json").read_text()) == found.to_dict()
    with (tmp_path / "out" / "table.csv").open() as file:
        assert [row["placer"] for row in csv.DictReader(file)] == ["random", "single"]


def test_semantics_change_the_messages() -> None:
    cluster = sp.Cluster.equal(4)
    run: Any = {"cluster": cluster, "objective": Makespan()}
    own = sp.compare(GRAPHS[:2], "round-robin", **run)
    placeto = sp.compare(GRAPHS[:2], "round-robin", **run, semantics="placeto")
    assert (own.values != placeto.values).all()
    assert placeto.to_dict()["semantics"] == "placeto"
    assert "semantics" not in own.to_dict()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clusters": CLUSTERS}, "expected 2 clusters, one per graph .got 3.; cross=True places"),
        ({"clusters": CLUSTERS[:1], "cluster": "2x100"}, "cannot combine cluster with clusters"),
        ({"cross": True}, "cross requires clusters"),
        ({"clusters": []}, "expected at least one cluster"),
        ({"clusters": CLUSTERS[0]}, "clusters must be several clusters; cluster takes one"),
        ({"objective": None, "semantics": "giph"}, "semantics requires an objective of one pass"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sp.compare(GRAPHS[:2], "single", **{"objective": Makespan(), **options})


def test_a_makespan_has_no_source_rate() -> None:
    arguments: Any = (GRAPHS[:2], "single", 1e4)
    with pytest.raises(ProblemError, match="a makespan has no source rate"):
        sp.compare(*arguments, objective=Makespan())


def apart(graph: sp.StreamGraph) -> sp.StreamGraph:
    """Return a graph that does not fit on one device."""
    return sp.StreamGraph(
        graph.operators, graph.streams, name="apart", source_rate=1e4,
        constraints=sp.Constraints(exlocate=[graph.names[:2]]),
    )  # fmt: skip


def test_a_placer_that_places_no_case_leaves_the_others() -> None:
    """Rows are about the cases that each placer placed; only ratios remain of incomplete ones."""
    graphs = [GRAPHS[0], apart(GRAPHS[1]), GRAPHS[2]]
    run: Any = {"clusters": CLUSTERS, "objective": Makespan()}
    found = sp.compare(graphs, ["heft", "single"], **run)
    without = sp.compare([graphs[0], graphs[2]], ["heft", "single"], clusters=CLUSTERS[::2],
                         objective=Makespan())  # fmt: skip
    heft, single = found.rows
    assert (heft.placed, single.placed) == (3, 2)
    assert not found.paper_table().bold, "means over fewer cases do not compare"
    assert heft.mean_makespan_s == pytest.approx(found.values[0][0].mean())
    assert single.mean_makespan_s is None
    assert np.isnan(found.values[0][1]).tolist() == [False, True, False]
    of_two = without.rows[1]
    for name in ("mean_slr", "mean_over_heft", "over_heft_low", "over_heft_high", "mean_gap"):
        assert getattr(single, name) == pytest.approx(getattr(of_two, name)), name
    [note] = found.notes
    because = "apart: cluster 1: single: no single device may run every operator"
    assert note == f"single placed 2 of 3 cases: {because}"
    assert found.cells(1)[-1] == "2"
    assert "placed" not in without.columns
    assert not without.notes


def test_a_reference_that_places_no_case(tmp_path: Path) -> None:
    """Without makespans of HEFT there are no ratios to them, but all other numbers."""
    makespans = np.array([[[np.nan, np.nan], [2.0, 3.0]]])
    known = {"seconds": makespans, "bounds": np.ones((1, 2)), "longest_paths": np.ones((1, 2))}
    figures, cases = Figures.of(makespans, **known), CaseList(("a", "b"))
    found = Comparison("", cases, RatioMeasure(Makespan()), ("heft", "x"), (None,), figures)
    heft, other = found.rows
    assert (heft.placed, heft.mean_slr, heft.mean_gap, heft.seconds_per_graph) == (0, *[None] * 3)
    assert (other.placed, other.mean_makespan_s, other.mean_over_heft) == (2, 2.5, None)
    found.save(tmp_path)
    rows = json.loads((tmp_path / "compare.json").read_text())["rows"]
    assert rows[0]["mean_makespan_s"] is None
    assert "nan" not in (tmp_path / "graphs.csv").read_text()


def test_no_placement_at_all_is_an_error() -> None:
    with pytest.raises(PlacementError, match="no placer found a placement: apart: single:"):
        sp.compare(apart(GRAPHS[0]), ["single"], objective=Makespan())


def test_a_bound_above_a_makespan_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is never lowered to the makespan unless rounding explains the difference."""
    assert without_rounding(1.0 + 1e-12, 1.0) == 1.0
    assert without_rounding(0.5, 1.0) == 0.5
    monkeypatch.setattr(MakespanEvaluator, "bound_s", 1e9)
    with pytest.raises(SimulationError, match=f"{GRAPHS[0].name}: the lower bound of 1.* is above"):
        sp.compare(GRAPHS[0], ["heft"], objective=Makespan(), jobs=1)
