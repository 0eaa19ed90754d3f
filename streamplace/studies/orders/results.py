"""The registered plan and problems of the study, and its results as arrays.

For each graph, the order with the lowest mean running time of ten repeats scores one win, so that
the six counts of a row sum to 32 graphs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from streamplace.families import Recipe
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan, with_published_semantics
from streamplace.problem.problem import Problem
from streamplace.scoring.orders import traversal_order
from streamplace.studies.study import Plan, Row
from streamplace.training.stages import StepReinforceStage
from streamplace.training.trials import Trial, run_trial
from streamplace.util.arrays import Floats
from streamplace.util.text import counted

LEXICO = "lexico"
ORDERS = (
    LEXICO,
    "topo-lifo",
    "dfs-preorder",
    "reversed-topo-lifo",
    "dfs-postorder",
    "bfs",
)
"""The six published orders. The topological one is that of the library's version at the time."""
CHECKPOINTS = (10, 20, 50)
"""Sweeps after which the best placement counts; the paper numbers episodes from 0: 9, 19, 49."""
GRAPHS = 32  # of each family
FAMILIES = {"enas-cifar": "cifar10", "nmt": "nmt", "enas-ptb": "ptb"}
"""Our families by the paper's names."""

Wins = tuple[int, int, int, int, int, int]
WINS: dict[tuple[str, int], tuple[Wins, Wins, Wins]] = {
    ("enas-cifar", 3): ((1, 6, 10, 10, 4, 1), (3, 3, 7, 8, 11, 0), (5, 4, 5, 8, 8, 2)),
    ("enas-cifar", 5): ((0, 9, 6, 6, 9, 2), (0, 9, 3, 10, 8, 2), (2, 6, 6, 9, 6, 3)),
    ("enas-cifar", 8): ((0, 8, 3, 10, 11, 0), (1, 4, 2, 8, 17, 0), (0, 5, 1, 11, 15, 0)),
    ("nmt", 3): ((0, 2, 0, 22, 1, 7), (0, 0, 1, 23, 1, 7), (0, 0, 1, 24, 1, 6)),
    ("nmt", 5): ((0, 0, 1, 24, 1, 6), (0, 0, 2, 26, 0, 4), (0, 0, 0, 27, 0, 5)),
    ("nmt", 8): ((0, 0, 0, 23, 3, 6), (0, 0, 0, 24, 1, 7), (0, 0, 0, 24, 3, 5)),
    ("enas-ptb", 3): ((0, 1, 6, 1, 0, 24), (0, 1, 10, 1, 2, 18), (0, 1, 8, 5, 2, 16)),
    ("enas-ptb", 5): ((0, 0, 3, 0, 2, 27), (0, 1, 3, 2, 2, 24), (0, 1, 2, 6, 5, 18)),
    ("enas-ptb", 8): ((0, 0, 2, 1, 1, 28), (0, 0, 2, 5, 4, 21), (0, 0, 2, 13, 5, 12)),
}
"""Wins by family and number of devices: a row per checkpoint, a count per order."""


ALL_ORDERS = (*ORDERS, "topo-level", "random")
"""The published orders, the topological one as the same library yields it today, and a control."""
MIPS = 1e6  # of each device: a teraflop per second, about what one GPU of a K80 sustains
BANDWIDTH_MBPS = 60_800.0  # 7600 bytes per microsecond, as in the paper's simulator
CONTROL = "random"

Pairs = Mapping[tuple[str, str], int]
"""Two orders, and the number of graphs on which they are the same."""

PLACETO, RANDOM_POLICY, CLIMB, SEARCH, HEFT = "Placeto", "random policy", "climb", "search", "HEFT"
HEFT_WITH_CONTENTION, ONE_DEVICE = "HEFT with contention", "one device"

BY_ORDER = (PLACETO, RANDOM_POLICY)
"""The methods that sweep over the operators in an order."""

AT_EQUAL_EVALUATIONS = (CLIMB, SEARCH)
"""The searches that make as many evaluations as the sweeps."""

ONE_PASS = (HEFT, HEFT_WITH_CONTENTION, ONE_DEVICE)
"""The plain placers, which make one placement."""

WITHOUT_ORDERS = (*AT_EQUAL_EVALUATIONS, *ONE_PASS)


@dataclass(frozen=True)
class Registered:
    """The size of the study.

    Parameters
    ----------
    families
        Graph families.
    graphs
        Graphs of each family.
    devices
        Numbers of devices.
    repeats
        Runs of each graph, order and number of devices, with different seeds.
    checkpoints
        Sweeps after which the best placement counts, ascending; the last one ends the run.
    further
        Numbers of devices that joined the plan when the others had been run; settings of kept
        results do not have them.
    """

    families: tuple[str, ...] = tuple(FAMILIES)
    graphs: int = 16
    devices: tuple[int, ...] = (3, 8)
    repeats: int = 5
    checkpoints: tuple[int, ...] = CHECKPOINTS
    further: tuple[int, ...] = ()

    def settings(self) -> Mapping[str, Any]:
        """Return the plan as JSON values."""
        return {
            "families": list(self.families),
            "graphs": self.graphs,
            "devices": list(self.devices),
            "repeats": self.repeats,
            "checkpoints": list(self.checkpoints),
            "orders": list(ALL_ORDERS),
            "mips": MIPS,
            "bandwidth_mbps": BANDWIDTH_MBPS,
        }


FULL = Registered(further=(5,))
QUICK = Registered(graphs=1, devices=(3,), repeats=1, checkpoints=(2, 5, 10))


def problem_of(
    family: str,
    graph: int,
    devices: int,
    seed: int,
    change: Callable[[StreamGraph], StreamGraph] = lambda graph: graph,
) -> Problem:
    """Return the makespan problem of a graph on equal devices, in the semantics of Placeto."""
    made = change(Recipe(family, graph + 1, seed=seed).graph(graph))
    network = Network("egress", bandwidth_mbps=BANDWIDTH_MBPS)
    cluster = Cluster([Device(f"gpu{d}", MIPS) for d in range(devices)], network)
    drawn, equal = with_published_semantics(made, cluster, "placeto")
    return Problem(drawn, equal, objective=Makespan())


def coinciding(problems: Iterable[Problem], orders: Sequence[str]) -> Pairs:
    """Return how often two orders are the same, by pair, the most frequent pair first.

    Pairs that never coincide are left out, and so is the random order, which has no fixed one.
    """
    names = [name for name in orders if name != CONTROL]
    counts: Counter[tuple[str, str]] = Counter()
    for problem in problems:
        visited = {name: traversal_order(problem, name).tobytes() for name in names}
        counts.update((a, b) for a, b in combinations(names, 2) if visited[a] == visited[b])
    return dict(counts.most_common())


def sentence(where: str, pairs: Pairs, graphs: int) -> str:
    """Return a sentence about the orders that coincide on some graphs.

    It names the pairs that coincide on at least half of the graphs.

    Parameters
    ----------
    where
        What the graphs are, as the sentence begins.
    """
    often = {pair: count for pair, count in pairs.items() if 2 * count >= graphs}
    texts = [f"{a} and {b} coincide on {n} of {graphs} graphs" for (a, b), n in often.items()]
    rare = len(pairs) - len(often)
    if rare:
        noun = "other pair" if often else "pair"
        texts.append(f"{counted(rare, noun)} on fewer than half")
    return f"{where}: {'; '.join(texts) or 'no two orders coincide'}."


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

    def wins(self, checkpoint: int) -> list[int]:
        """Return how often each published order has the lowest mean; the first one on a tie."""
        own = [ALL_ORDERS.index(name) for name in ORDERS]
        best = self.means(PLACETO)[:, own, checkpoint].argmin(axis=1)
        counts: list[int] = np.bincount(best, minlength=len(ORDERS)).tolist()
        return counts

    def between(self, first: Sequence[str], others: Sequence[str], checkpoint: int) -> Floats:
        """Return Placeto's mean makespan under some orders over that under others, (G,)."""
        means = self.means(PLACETO)[..., checkpoint]
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
    for row in (one for one in rows if "names" not in one):
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
    def values(method: str, graph: Sequence[Row], order: str | None = None) -> list[list[float]]:
        return [
            row["makespan_s"] for row in graph if (row["method"], row["order"]) == (method, order)
        ]

    makespans = {
        method: np.array([[values(method, graph, o) for o in ALL_ORDERS] for graph in graphs])
        for method in BY_ORDER
    }
    for method in WITHOUT_ORDERS:
        makespans[method] = np.array([values(method, graph) for graph in graphs])
    paths = np.array([graph[0]["longest_path"] for graph in graphs], dtype=np.float64)
    return Results(family, devices, checkpoints, makespans, paths)


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


@dataclass(frozen=True)
class SharedTrials:
    """The trials of one problem so far.

    A trial is determined by its seed and by the operators in the order of its visits, whatever the
    order's name.

    Parameters
    ----------
    stage
        How to train.
    """

    stage: StepReinforceStage
    _known: dict[tuple[bool, int, bytes], Floats] = field(default_factory=dict, init=False)

    def run(self, trial: Trial) -> Floats:
        """Return the lowest loss after each sweep, (E,), of a trial of this problem."""
        visited = traversal_order(trial.problem, trial.order, trial.seed).tobytes()
        key = (trial.uniform, trial.seed, visited)
        if key not in self._known:
            self._known[key] = run_trial(trial, self.stage)
        return self._known[key]
