"""The results of the study as arrays.

For each graph, the order with the lowest mean running time of ten repeats scores one win, so that
the six counts of a row sum to 32 graphs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from streamplace.papers.orders.study.registered import (
    ALL_ORDERS,
    LISTED,
    LISTED_CONTROL,
    ORDERS,
    SIGN,
    VARIANTS,
)
from streamplace.papers.studies.study import Plan, Row
from streamplace.util.arrays import Floats
from streamplace.util.text import counted

PLACETO, RANDOM_POLICY, CLIMB, SEARCH, HEFT = "Placeto", "random policy", "climb", "search", "HEFT"
HEFT_WITH_CONTENTION, ONE_DEVICE = "HEFT with contention", "one device"

BY_ORDER = (PLACETO, RANDOM_POLICY)
"""The methods that sweep over the operators in an order."""

AT_EQUAL_EVALUATIONS = (CLIMB, SEARCH)
"""The searches that make as many evaluations as the sweeps."""

ONE_PASS = (HEFT, HEFT_WITH_CONTENTION, ONE_DEVICE)
"""The plain placers, which make one placement."""

WITHOUT_ORDERS = (*AT_EQUAL_EVALUATIONS, *ONE_PASS)

CONTROLS = {SIGN: RANDOM_POLICY, LISTED: LISTED_CONTROL}
"""Variant of Placeto -> the uniformly random policy on the same problems."""


@dataclass(frozen=True, eq=False)
class Results:
    """The results on G graphs of one family, on one number of devices.

    Parameters
    ----------
    makespans
        By method, in seconds, after each of C checkpoints: (G, O, R, C) for the methods that sweep
        in O orders, and (G, R, C) for the others; R repeats.
    longest_paths
        (G,) streams on the longest path of each graph.
    """

    family: str
    devices: int
    checkpoints: tuple[int, ...]
    makespans: dict[str, Floats]
    longest_paths: Floats

    @property
    def name(self) -> str:
        """The family and the number of devices, as text."""
        return f"{self.family}, {self.devices} devices"

    def sweeps(self, checkpoint: int) -> str:
        """Return the number of sweeps until a checkpoint, as text."""
        return counted(self.checkpoints[checkpoint], "sweep")

    def means(self, method: str) -> Floats:
        """Return the mean makespan over the repeats, (G, O, C) or (G, C)."""
        values = self.makespans[method]
        found: Floats = values.mean(axis=values.ndim - 2)
        return found

    @cached_property
    def over_best(self) -> dict[str, Floats]:
        """Mean makespans of each method over those of its best order, (G, O, C)."""
        return {
            method: self.means(method) / self.means(method).min(axis=1, keepdims=True)
            for method in BY_ORDER
        }

    def wins(self, checkpoint: int, method: str = PLACETO) -> list[int]:
        """Return how often each published order has the lowest mean; the first one on a tie."""
        own = [ALL_ORDERS.index(name) for name in ORDERS]
        best = self.means(method)[:, own, checkpoint].argmin(axis=1)
        counts: list[int] = np.bincount(best, minlength=len(ORDERS)).tolist()
        return counts

    def between(
        self, first: Sequence[str], others: Sequence[str], checkpoint: int, method: str = PLACETO
    ) -> Floats:
        """Return the mean makespan of a method under some orders over that under others, (G,)."""
        means = self.means(method)[..., checkpoint]
        a, b = ([ALL_ORDERS.index(name) for name in names] for names in (first, others))
        return np.asarray(means[:, a].mean(axis=1) / means[:, b].mean(axis=1))

    def over_random_policy(self, method: str, checkpoint: int) -> Floats:
        """Return the mean makespan of a method over that of the random policy, (G,).

        Makespans of methods with orders are means over the orders.
        """
        means, of_random = self.means(method)[..., checkpoint], self.means(RANDOM_POLICY)
        if method in BY_ORDER:
            means = means.mean(axis=1)
        return np.asarray(means / of_random[..., checkpoint].mean(axis=1))


def by_graph(results: Sequence[Results], values: Sequence[Floats]) -> Floats:
    """Return one value per graph, the mean over the numbers of devices on which it is placed.

    Values of the same graph are not independent, so that an interval over all of them would be too
    narrow.

    Parameters
    ----------
    values
        A value per graph for each of the results.
    """
    families: dict[str, list[Floats]] = {}
    for one, each in zip(results, values, strict=True):
        families.setdefault(one.family, []).append(each)
    means = [np.mean(of_devices, axis=0) for of_devices in families.values()]
    return np.concatenate(means) if means else np.zeros(0)


def results_of(plan: Plan, rows: Sequence[Row]) -> list[Results]:
    """Return the results by family and number of devices, in the order of the plan.

    Further numbers of devices follow once all of their graphs are done.
    """
    settings = plan.settings
    parts: dict[tuple[str, int], dict[int, list[Row]]] = {}
    for row in (one for one in rows if one["method"] in (*BY_ORDER, *WITHOUT_ORDERS)):
        parts.setdefault((row["family"], row["devices"]), {}).setdefault(row["graph"], []).append(
            row
        )
    made = []
    for family in settings["families"]:
        counts = [d for f, d in parts if f == family and len(parts[f, d]) == settings["graphs"]]
        for devices in sorted(counts):
            graphs = [graph for _, graph in sorted(parts[family, devices].items())]
            made.append(_results(family, devices, tuple(settings["checkpoints"]), graphs))
    return made


def _results(
    family: str, devices: int, checkpoints: tuple[int, ...], graphs: Sequence[Sequence[Row]]
) -> Results:
    makespans = {
        method: np.array([[_values(method, graph, o) for o in ALL_ORDERS] for graph in graphs])
        for method in BY_ORDER
    }
    for method in WITHOUT_ORDERS:
        makespans[method] = np.array([_values(method, graph) for graph in graphs])
    paths = np.array([graph[0]["longest_path"] for graph in graphs], dtype=np.float64)
    return Results(family, devices, checkpoints, makespans, paths)


def variants_of(plan: Plan, rows: Sequence[Row]) -> Iterator[tuple[str, Results]]:
    """Yield what is different in a variant, and its results on each number of devices.

    The results are those of the published orders, with their control, on the graphs that are done.
    """
    for method, (family, count) in VARIANTS.items():
        methods = {PLACETO: method, RANDOM_POLICY: CONTROLS[method]}
        checkpoints = tuple(plan.settings["checkpoints"][:count])
        for devices in plan.settings["devices"]:
            graphs: dict[int, list[Row]] = {}
            for row in rows:
                where = row["family"], row["devices"]
                if where == (family, devices) and row["method"] in methods.values():
                    graphs.setdefault(row["graph"], []).append(row)
            done = [
                graph
                for _, graph in sorted(graphs.items())
                if any(row["method"] == method for row in graph)
            ]
            if done:
                made = {
                    name: np.array([[_values(of, graph, o) for o in ORDERS] for graph in done])
                    for name, of in methods.items()
                }
                paths = np.array([graph[0]["longest_path"] for graph in done], dtype=np.float64)
                cut = {name: values[..., :count] for name, values in made.items()}
                what = method.removeprefix(f"{PLACETO}, ")
                yield what, Results(family, devices, checkpoints, cut, paths)


def _values(method: str, graph: Sequence[Row], order: str | None = None) -> list[list[float]]:
    return [row["makespan_s"] for row in graph if (row["method"], row["order"]) == (method, order)]


def extremes(values: Floats) -> tuple[Floats, Floats]:
    """Return the values on each graph, (G,) each, of the lowest and of the highest order.

    Which orders these are is decided for every graph by the means over the other graphs, since the
    lowest and the highest of several noisy means differ even if all orders are alike.

    Parameters
    ----------
    values
        (G, O): a value per graph and order, of two graphs or more.
    """
    graph, of_others = np.arange(len(values)), values.sum(axis=0) - values
    return values[graph, of_others.argmin(axis=1)], values[graph, of_others.argmax(axis=1)]
