"""The results of the study for streams, by method and order."""

from collections.abc import Mapping, Sequence

import numpy as np

from streamplace.studies.study import Plan, Row
from streamplace.util.arrays import Floats

GREEDY, POLICY = "greedy", "shipped policy, one pass"
PLACETO, RANDOM_POLICY = "Placeto", "random policy"
SEARCH = "search"
WEIGHTED_ORDERS = ("heaviest-operator", "heaviest-stream", "b-level", "by-depth")
"""Orders that only the methods of one pass run in."""

Reached = Mapping[str, Mapping[str | None, Floats]]
"""By method and order, the mean relative throughput over the repeats on each graph, (G,)."""


def reached_by(plan: Plan, rows: Sequence[Row]) -> Reached:
    """Return relative throughput by method and order; methods without an order have None."""
    found: dict[str, dict[str | None, list[list[float]]]] = {}
    for row in rows:
        graphs = found.setdefault(row["method"], {}).setdefault(
            row["order"], [[] for _ in range(plan.settings["graphs"])]
        )
        graphs[row["graph"]].append(row["relative_throughput"])
    return {
        method: {
            order: np.array([np.mean(repeats) for repeats in graphs])
            for order, graphs in by_order.items()
        }
        for method, by_order in found.items()
    }
