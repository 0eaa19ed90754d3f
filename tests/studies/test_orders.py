"""Tests for the study of traversal orders: the random policy, statistics and verdicts."""

import numpy as np
import pytest

from streamplace.scoring.registry import makespan_evaluator
from streamplace.studies.orders import results
from streamplace.studies.orders.guidelines import HOLDS, REFUTED, UNDECIDED, UNTESTED
from streamplace.studies.orders.outcome import outcome
from streamplace.studies.orders.published import GRAPHS, ORDERS, WINS
from streamplace.studies.orders.registered import ALL_ORDERS, FULL, Registered, problem_of
from streamplace.studies.orders.study import OrdersStudy
from streamplace.studies.study import Outcome, Plan, Row


def test_published_counts_sum_to_the_number_of_graphs() -> None:
    assert set(WINS) == {(f, d) for f in FULL.families for d in (3, 5, 8)}
    assert all(sum(wins) == GRAPHS for rows in WINS.values() for wins in rows)


TINY = Registered(families=("nmt",), graphs=1, devices=(3,), repeats=1, checkpoints=(1, 2))


@pytest.mark.long
def test_a_unit_has_a_row_for_each_method_order_and_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamplace.studies.orders.study.QUICK", TINY)
    study = OrdersStudy(quick=True, seed=3)
    plan = study.plan()
    (unit,) = plan.units
    rows = study.run(unit)
    assert study.run(unit) == rows
    problem = problem_of("nmt", 0, 3, seed=3)
    single = float(
        makespan_evaluator(problem).makespans(np.zeros(len(problem.graph.names), np.int32))[0]
    )
    by_method = {row["method"]: row for row in rows}
    assert len(rows) == 2 * len(ALL_ORDERS) + 3
    for method in (*results.BY_ORDER, results.CLIMB, results.SEARCH):
        first, last = by_method[method]["makespan_s"]
        assert last <= first <= single
    assert study.outcome(plan, rows).title


SIZE = Registered(graphs=8, devices=(3,), repeats=3)


def _outcome(factor: "dict[tuple[str, str], float]", long: int = 90) -> Outcome:
    """Return the outcome if orders have some makespans, in units of those of the others."""
    rng, rows = np.random.default_rng(0), list[Row]()
    for family in SIZE.families:
        for graph in range(SIZE.graphs):
            about = {"family": family, "graph": graph, "devices": 3, "longest_path": long + graph}
            for method in (*results.BY_ORDER, results.CLIMB, results.SEARCH, results.HEFT):
                has_order = method in results.BY_ORDER
                for order in ALL_ORDERS if has_order else (None,):
                    for repeat in range(1 if method == results.HEFT else SIZE.repeats):
                        least = factor.get((family, order or method), 1.0)
                        if method == results.RANDOM_POLICY:
                            least = 1.2
                        noise = rng.uniform(0.999, 1.001)
                        seconds = [least * noise * c for c in (1.2, 1.1, 1.0)]
                        rows.append(
                            {
                                **about,
                                "method": method,
                                "order": order,
                                "repeat": repeat,
                                "makespan_s": seconds,
                            }
                        )
    return outcome(Plan({**SIZE.settings(), "seed": 0}, ()), rows)


def test_planted_effects_are_found() -> None:
    planted = {("nmt", "reversed-topo-lifo"): 0.9, ("enas-ptb", "bfs"): 1.1}
    found = _outcome(planted)
    nmt, ptb = found.findings[:2]
    assert nmt.startswith("nmt, 3 devices: reversed-topo-lifo is confirmed after 50 sweeps")
    assert "0.900" in nmt
    assert ptb.startswith("enas-ptb, 3 devices: bfs is refuted")
    wins = dict(found.tables[0].rows)
    at = ORDERS.index("reversed-topo-lifo")
    assert wins["nmt, 3 devices, 50 sweeps"][at] == (8, 24)
    counts = wins["enas-ptb, 3 devices, 10 sweeps"]
    measured = [cell[0] for cell in counts if isinstance(cell, tuple)]
    assert sum(value for value in measured if isinstance(value, int)) == 8
    assert (
        "Placeto is better than the uniformly random policy with 95% confidence on 3 of 3"
        in (found.findings[2])
    )


def test_verdicts_on_guidelines() -> None:
    planted = {("nmt", "reversed-topo-lifo"): 0.9, ("enas-ptb", "bfs"): 1.1}
    table = _outcome(planted).tables[-1]
    words = {name: cells[-1] for name, cells in table.rows}
    assert words["nmt: reversed-topo-lifo (50 sweeps)"] == HOLDS
    assert words["enas-ptb: bfs (10 sweeps)"] == REFUTED
    assert words["enas-cifar: reversed-topo-lifo or dfs-postorder (50 sweeps)"] == UNDECIDED
    longer = "enas-cifar, longest path above 100: topological orders (50 sweeps)"
    assert words[longer] == UNTESTED
    assert words["With an ample budget, differences vanish (below 7% after 50 sweeps)"] in (
        HOLDS,
        UNDECIDED,
    )
    effects = _outcome({("enas-cifar", "dfs-preorder"): 0.8}, long=200).tables[-1].rows
    assert dict(effects)[longer][-1] == REFUTED


def test_every_guideline_is_tested_early_and_late() -> None:
    names = [name for name, _ in _outcome({}).tables[-1].rows]
    assert len(names) == len(set(names)) == 13
