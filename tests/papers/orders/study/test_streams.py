"""Tests for the study of traversal orders for streams."""

import numpy as np
import pytest

from streamplace.families import Recipe
from streamplace.papers.orders.study import streams
from streamplace.papers.orders.study.registered import ALL_ORDERS
from streamplace.papers.orders.study.streams import (
    GREEDY,
    PLACETO,
    POLICY,
    RANDOM_POLICY,
    SEARCH,
    WEIGHTED_ORDERS,
    StreamOrdersStudy,
)
from streamplace.papers.studies.study import SOURCE_RATE, Plan, Row
from streamplace.problem.cluster import Cluster
from streamplace.workflows.compare import compare

EVERY_ORDER = (*ALL_ORDERS, *WEIGHTED_ORDERS)


def row(graph: int, method: str, order: str | None, repeat: int, reached: float) -> Row:
    return {
        "graph": graph,
        "method": method,
        "order": order,
        "repeat": repeat,
        "relative_throughput": reached,
    }


def test_planted_effects_are_found() -> None:
    rng, rows, graphs = np.random.default_rng(1), list[Row](), 30
    for graph in range(graphs):
        level = rng.uniform(0.5, 0.8)
        for order in EVERY_ORDER:
            rows.append(row(graph, GREEDY, order, 0, level + 0.1 * (order == "bfs")))
            rows.append(row(graph, POLICY, order, 0, level))
        for order in ALL_ORDERS:
            for repeat in range(2):
                noise = rng.uniform(-0.01, 0.01)
                rows.append(row(graph, PLACETO, order, repeat, level + noise - 0.05))
                rows.append(row(graph, RANDOM_POLICY, order, repeat, level + noise))
        rows.append(row(graph, SEARCH, None, 0, 0.9))
    settings = {"graphs": graphs, "sweeps": 5, "orders": list(EVERY_ORDER), "seed": 0}
    found = StreamOrdersStudy().outcome(Plan(settings, ()), rows)
    assert found.findings[0].startswith("greedy: the best order is bfs, ")
    assert "by 0.100 (0.100 to 0.100)" in found.findings[0]
    assert f"confidence in 0 of {len(ALL_ORDERS)} orders, and worse in 8" in found.findings[-3]
    assert found.findings[-1] == "search reaches 0.900 with as many evaluations as 5 sweeps."
    cells = dict(found.tables[0].rows)
    assert cells["bfs"][0][1] == "+0.100 to +0.100"  # type: ignore[index]
    assert cells["b-level"][2] is None


@pytest.mark.long
def test_values_are_those_of_the_placers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"QUICK_GRAPHS": 2, "QUICK_SWEEPS": 1, "REPEATS": 1}.items():
        monkeypatch.setattr(streams, name, value)
    study = StreamOrdersStudy(quick=True, seed=4)
    plan = study.plan()
    (unit,) = plan.units
    rows = study.run(unit)
    assert len(rows) == 2 * (2 * len(EVERY_ORDER) + 2 * len(ALL_ORDERS) + 1)
    graphs = [Recipe("dream", 2, seed=4).graph(number) for number in range(2)]
    placers = [f"greedy:order={order}" for order in EVERY_ORDER if order != "random"]
    expected = compare(graphs, placers, SOURCE_RATE, cluster=Cluster.parse("5x2500"))
    for j, placer in enumerate(placers):
        order = placer.partition("=")[2]
        values = [
            r["relative_throughput"] for r in rows if (r["method"], r["order"]) == (GREEDY, order)
        ]
        np.testing.assert_allclose(values, expected.values[0, j], rtol=1e-12)
    for r in rows:
        assert 0.0 < r["relative_throughput"] <= 1.0
    assert study.outcome(plan, rows).tables
