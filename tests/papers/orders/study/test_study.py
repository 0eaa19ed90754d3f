"""Tests for the study of traversal orders: the random policy, and statistics."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from streamplace.families import Recipe
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.orders.study import results
from streamplace.papers.orders.study.outcome import outcome
from streamplace.papers.orders.study.registered import (
    ALL_ORDERS,
    LISTED,
    LISTED_CONTROL,
    ORDERS,
    SIGN,
    VARIANTS,
    WINS,
    Registered,
    listed_at_random,
    problem_of,
)
from streamplace.papers.orders.study.study import OrdersStudy
from streamplace.papers.studies.study import Outcome, Plan, Row
from streamplace.scoring.orders import traversal_order
from tests.support.studies import unit_of

TINY = Registered(("nmt",), graphs=1, devices=(3,), repeats=1, checkpoints=(1, 2), of_variants=1)


@pytest.mark.long
def test_a_unit_has_a_row_for_each_method_order_and_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamplace.papers.orders.study.study.QUICK", TINY)
    study = OrdersStudy(quick=True, seed=3)
    plan = study.plan()
    unit = plan.units[0]
    rows = study.run(unit)
    assert study.run(unit) == rows
    problem = problem_of("nmt", 0, 3, seed=3)
    single = float(
        makespan_evaluator(problem).makespans(np.zeros(len(problem.graph.names), np.int32))[0]
    )
    by_method = {row["method"]: row for row in rows}
    assert len(rows) == 2 * len(ALL_ORDERS) + len(results.WITHOUT_ORDERS)
    for method in (*results.BY_ORDER, results.CLIMB, results.SEARCH):
        first, last = by_method[method]["makespan_s"]
        assert last <= first <= single
    assert study.outcome(plan, rows).title


def test_further_devices_keep_the_units_and_the_plan_of_kept_results() -> None:
    plan = OrdersStudy().plan()
    keys = [unit.key for unit in plan.units]
    assert plan.settings["devices"] == [3, 8]
    assert keys[95:97] == ["enas-ptb 15 on 8", "enas-cifar 0 on 5"]
    assert len({*keys}) == len(keys) == 96 + 48 + 2 * 32


def test_a_further_number_of_devices_counts_once_all_of_its_graphs_are_done() -> None:
    plan = Plan({**SIZE.settings(), "seed": 0}, ())
    rows = _rows({}, 90, replace(SIZE, devices=(3, 5)))
    some = [row for row in rows if row["graph"] > 0 or row["devices"] == 3]
    for part, known in ((rows, {3, 5}), (some, {3})):
        assert {one.devices for one in results.results_of(plan, part)} == known


SIZE = Registered(graphs=8, devices=(3,), repeats=3)


RANDOM_MAKESPAN = {"enas-cifar": 1.2, "nmt": 1.2, "enas-ptb": 0.8}


def _rows(factor: "dict[tuple[str, str], float]", long: int, size: Registered) -> list[Row]:
    """Return results in which orders have some makespans, in units of those of the others."""
    rng, rows = np.random.default_rng(0), list[Row]()
    methods = (*results.BY_ORDER, *results.WITHOUT_ORDERS)
    for family, devices, graph in product(size.families, size.devices, range(size.graphs)):
        about = {"family": family, "graph": graph, "devices": devices, "longest_path": long + graph}
        for method in methods:
            repeats = range(1 if method in results.ONE_PASS else size.repeats)
            for order, repeat in product(
                ALL_ORDERS if method in results.BY_ORDER else (None,), repeats
            ):
                least = factor.get((family, order or method), 1.0)
                if method == results.RANDOM_POLICY:
                    least = RANDOM_MAKESPAN[family]
                noise = rng.uniform(0.999, 1.001)
                rows.append(
                    {
                        **about,
                        "method": method,
                        "order": order,
                        "repeat": repeat,
                        "makespan_s": [least * noise * c for c in (1.2, 1.1, 1.0)],
                    }
                )
    return rows


def _outcome(
    factor: "dict[tuple[str, str], float]", long: int = 90, size: Registered = SIZE
) -> Outcome:
    """Return the outcome of such results."""
    return outcome(Plan({**size.settings(), "seed": 0}, ()), _rows(factor, long, size))


def test_planted_effects_are_found() -> None:
    planted = {("nmt", "reversed-topo-lifo"): 0.9, ("enas-ptb", "bfs"): 1.1}
    found = _outcome(planted)
    nmt, ptb = found.findings[:2]
    assert nmt.startswith(
        "nmt, 3 devices: after 50 sweeps, the makespan with reversed-topo-lifo is"
    )
    assert "0.900" in nmt
    assert ptb.startswith("enas-ptb, 3 devices: after 50 sweeps, the makespan with bfs is 1.1")
    wins = dict(found.tables[0].rows)
    at = ORDERS.index("reversed-topo-lifo")
    assert wins["nmt, 3 devices, 50 sweeps"][at] == (8, 24)
    counts = wins["enas-ptb, 3 devices, 10 sweeps"]
    measured = [cell[0] for cell in counts if isinstance(cell, tuple)]
    assert sum(value for value in measured if isinstance(value, int)) == 8
    assert (
        "Placeto is better than the uniformly random policy with 95% confidence on 2 of 3"
        in found.findings[2]
    )
    assert found.findings[3].endswith("shorter on 2 of 3 families, longer on 1.")


def test_a_graph_counts_once_in_the_comparison_by_family() -> None:
    alone, both = (
        _outcome({}, size=replace(SIZE, devices=devices)).findings for devices in ((3,), (3, 8))
    )
    assert alone[3].endswith("shorter on 2 of 3 families, longer on 1.")
    (together,) = (text for text in both if "all numbers of devices" in text)
    assert together.endswith("shorter on 2 of 3 families, longer on 1.")


def test_published_counts_are_those_after_as_many_sweeps() -> None:
    other = replace(SIZE, graphs=1, checkpoints=(2, 10, 50))
    wins = dict(_outcome({}, size=other).tables[0].rows)
    theirs = {
        name: [cell[1] for cell in cells if isinstance(cell, tuple)] for name, cells in wins.items()
    }
    assert theirs["nmt, 3 devices, 2 sweeps"] == [None] * len(ORDERS)
    assert theirs["nmt, 3 devices, 10 sweeps"] == [*WINS["nmt", 3][0]]
    assert theirs["nmt, 3 devices, 50 sweeps"] == [*WINS["nmt", 3][2]]


def test_a_few_graphs_decide_nothing() -> None:
    planted = {(f, o): 0.9 for f in SIZE.families for o in ("reversed-topo-lifo", "dfs-postorder")}
    few = _outcome(planted, size=replace(SIZE, graphs=1))
    assert few.findings[0].startswith("1 graph of each family cannot decide anything")
    assert {cells[-1] for _, cells in few.tables[-1].rows} == {None}
    enough: Any = dict(_outcome(planted).tables[-1].rows)
    assert enough["Start with a backward order (10 sweeps)"][-1][0] < 1.0


def test_a_checkpoint_of_one_sweep_is_singular() -> None:
    names = dict(_outcome({}, size=replace(SIZE, graphs=1, checkpoints=(1, 2, 3))).tables[0].rows)
    assert "nmt, 3 devices, 1 sweep" in names


def test_ratios_of_guidelines() -> None:
    planted = {("nmt", "reversed-topo-lifo"): 0.9, ("enas-ptb", "bfs"): 1.1}
    ratios: Any = {name: cells[1] for name, cells in _outcome(planted).tables[-1].rows}
    assert ratios["nmt: reversed-topo-lifo (50 sweeps)"][0] == pytest.approx(0.9, rel=0.02)
    assert ratios["enas-ptb: bfs (10 sweeps)"][0] == pytest.approx(1.1, rel=0.02)
    longer = "enas-cifar, longest path above 100: topological orders (50 sweeps)"
    assert ratios[longer] is None  # no graph has such a path
    paths: Any = dict(_outcome({("enas-cifar", "dfs-preorder"): 0.8}, long=200).tables[-1].rows)
    assert paths[longer][1][0] > 1.0
    assert paths[longer][2][0] == pytest.approx(1.0, rel=0.02)  # that policy has no such effect


def test_every_guideline_is_tested_early_and_late() -> None:
    names = [name for name, _ in _outcome({}).tables[-1].rows]
    assert len(names) == len(set(names)) == 13


def test_variants_have_rows_of_their_own_beside_their_controls() -> None:
    """They may lack graphs, and do not change the figures of Placeto itself."""
    rows, planted = _rows({}, 90, SIZE), list[Row]()
    for method, family, count in ((SIGN, "enas-ptb", 1), (LISTED, "nmt", 2)):
        control = {LISTED: LISTED_CONTROL}.get(method, method)
        for graph, order, name in product(range(6), ORDERS, {method, control}):
            best = 0.8 if order == ("bfs" if method == SIGN else "dfs-postorder") else 1.0
            level = 1.0 if name == LISTED_CONTROL else best
            about = {"family": family, "graph": graph, "devices": 3, "longest_path": 90}
            seconds = [level * c for c in (1.2, 1.1)[:count]]
            planted += [
                {**about, "method": name, "order": order, "repeat": r, "makespan_s": seconds}
                for r in range(2)
            ]
    plan = Plan({**SIZE.settings(), "seed": 0}, ())
    before, after = (outcome(plan, each) for each in (rows, [*rows, *planted]))
    assert after.findings == before.findings
    wins: Any = dict(after.tables[0].rows)
    assert wins.items() >= dict(before.tables[0].rows).items()
    where = "nmt, 3 devices, 20 sweeps, operators listed at random, 6 graphs"
    at = ORDERS.index("dfs-postorder")
    assert wins[where][at] == (6, 1)
    assert wins[f"{where}, uniformly random devices"][0] == (6, None)  # all are alike
    strong: Any = dict(after.tables[1].rows)
    effect = strong["bfs on enas-ptb, 3 devices, 10 sweeps, published sign of rewards"]
    assert effect[0][0] == pytest.approx(0.8)
    assert effect[1][0] == pytest.approx(1.0, abs=1e-2)


def test_operators_listed_at_random_tell_the_backward_orders_apart() -> None:
    graph = Recipe("nmt", 1).graph(0)
    listed = listed_at_random(graph, [0, 0])
    assert listed == listed_at_random(graph, [0, 0])
    assert listed.names != graph.names
    assert {*listed.operators} == {*graph.operators}
    assert {(s.source, s.target) for s in listed.streams} == {
        (s.source, s.target) for s in graph.streams
    }
    names = [
        [listed.names[v] for v in traversal_order(listed, order)]
        for order in ("reversed-topo-lifo", "dfs-postorder")
    ]
    assert names[0] != names[1]


@pytest.mark.parametrize("method", [SIGN, LISTED])
def test_a_variant_has_a_row_for_each_published_order(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = replace(TINY, families=(VARIANTS[method][0],))
    monkeypatch.setattr("streamplace.papers.orders.study.study.QUICK", size)
    study = OrdersStudy(quick=True, seed=3)
    rows = study.run(unit_of(study, method))
    methods = (SIGN,) if method == SIGN else (LISTED, LISTED_CONTROL)
    assert [(row["method"], row["order"]) for row in rows] == [*product(methods, ORDERS)]
    assert {len(row["makespan_s"]) for row in rows} == {VARIANTS[method][1]}
