"""The study of traversal orders for streams: throughput on the branched benchmark."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from streamplace.papers.orders.study.coincidence import SharedTrials, coinciding, sentence
from streamplace.papers.orders.study.registered import ALL_ORDERS, CONTROL
from streamplace.papers.orders.study.results import extremes
from streamplace.papers.placeto.trials import PUBLISHED, Trial, at_checkpoints
from streamplace.papers.studies.study import (
    DEVICES,
    SOURCE_RATE,
    Outcome,
    Part,
    Plan,
    PlannedStudy,
    Row,
    blocks,
    problem_of,
    seed_of,
)
from streamplace.papers.studies.table import Cell, Table
from streamplace.placers.running import run_placer
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect

GREEDY, POLICY = "greedy", "shipped policy, one pass"
PLACETO, RANDOM_POLICY = "Placeto", "random policy"
SEARCH = "search"
WEIGHTED_ORDERS = ("heaviest-operator", "heaviest-stream", "b-level", "by-depth")
"""Orders that only the methods of one pass run in."""

Reached = Mapping[str, Mapping[str | None, Floats]]
"""By method and order, the mean relative throughput over the repeats on each graph, (G,)."""

TITLE = "Traversal orders for the throughput of streams"
WITH_ORDERS = (GREEDY, POLICY, PLACETO, RANDOM_POLICY)
GRAPHS, QUICK_GRAPHS = 200, 6
SWEEPS, QUICK_SWEEPS = 50, 5
REPEATS = 3
BLOCK = 2  # graphs per unit of work

ONE_PASS = {GREEDY: "greedy:order={}", POLICY: "policy:order={}:refine=0"}
"""Placers that visit every operator once; local search would blur what the order is worth."""


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


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return the outcome of the study from its results."""
    reached = reached_by(plan, rows)
    return Outcome(TITLE, tuple(_findings(plan, reached)), (_table(plan, reached),))


def _table(plan: Plan, reached: Reached) -> Table:
    rows: list[tuple[str, Sequence[Cell]]] = []
    for order in plan.settings["orders"]:
        cells: list[Cell] = []
        for method in WITH_ORDERS:
            values = reached[method].get(order)
            if values is None:
                cells.append(None)
                continue
            over = Effect.of(values - reached[method][CONTROL])
            cells.append((float(values.mean()), f"{over.low:+.3f} to {over.high:+.3f}"))
        rows.append((order, cells))
    caption = f"relative throughput on {plan.settings['graphs']} graphs"
    variants = ("means", "95% intervals of the difference from the random order")
    return Table("streams", caption, ("order", *WITH_ORDERS), rows, variants)


def _findings(plan: Plan, reached: Reached) -> Iterator[str]:
    for method in WITH_ORDERS:
        means = {order: float(values.mean()) for order, values in reached[method].items()}
        best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
        low, high = extremes(np.stack([*reached[method].values()], axis=1))
        yield (
            f"{method}: the best order is {best}, {means[best]:.3f}, and the worst is {worst}, "
            f"{means[worst]:.3f}. The order that is best on the other graphs differs from a random "
            f"order by {Effect.of(high - reached[method][CONTROL])} and from the one that is worst "
            f"on them by {Effect.of(high - low)}."
        )
    orders = [order for order in reached[PLACETO] if order is not None]
    ahead = [Effect.of(reached[PLACETO][o] - reached[RANDOM_POLICY][o]) for o in orders]
    better = [order for order, effect in zip(orders, ahead, strict=True) if effect.low > 0.0]
    worse = [order for order, effect in zip(orders, ahead, strict=True) if effect.high < 0.0]
    yield (
        f"Placeto is better than the uniformly random policy with 95% confidence in {len(better)} "
        f"of {len(orders)} orders, and worse in {len(worse)}."
    )
    count = plan.settings["graphs"]
    problems = (problem_of(number, count, plan.settings["seed"]) for number in range(count))
    yield sentence("dream", coinciding(problems, plan.settings["orders"]), count)
    search = float(reached[SEARCH][None].mean())
    sweeps = plan.settings["sweeps"]
    yield f"search reaches {search:.3f} with as many evaluations as {sweeps} sweeps."


@dataclass(frozen=True)
class StreamOrdersStudy(PlannedStudy):
    """The study of traversal orders for the throughput of streams.

    Graphs of the paper's branched benchmark are placed on five equal devices by greedy, by the
    shipped policy and by Placeto trained on each graph, in every order. Relative throughput is that
    of the model with backpressure.
    """

    name: ClassVar[str] = "orders-throughput"

    def settings(self) -> Mapping[str, Any]:
        """Return the graphs, sweeps and orders; see `PlannedStudy.settings`."""
        return {
            "graphs": self._graphs,
            "devices": DEVICES,
            "source_rate": SOURCE_RATE,
            "sweeps": self._sweeps,
            "repeats": REPEATS,
            "orders": [*ALL_ORDERS, *WEIGHTED_ORDERS],
        }

    def parts(self) -> Sequence[Part]:
        """Return the table of blocks of graphs; see `PlannedStudy.parts`."""
        rows = partial(blocks, self._graphs, BLOCK)
        return [Part(("start",), rows, "graphs {start}".format, self._results)]

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return relative throughput by method and order, with intervals."""
        return outcome(plan, rows)

    @property
    def _graphs(self) -> int:
        return QUICK_GRAPHS if self.quick else GRAPHS

    @property
    def _sweeps(self) -> int:
        return QUICK_SWEEPS if self.quick else SWEEPS

    def _results(self, start: int) -> Iterator[Row]:
        """Yield a row for each graph, method, order and repeat: relative throughput."""
        for number in range(start, start + BLOCK):
            yield from self._of_graph(number)

    def _of_graph(self, number: int) -> Iterator[Row]:
        problem = problem_of(number, self._graphs, self.seed)
        for order in (*ALL_ORDERS, *WEIGHTED_ORDERS):
            for repeat in range(REPEATS if order == "random" else 1):
                seed = seed_of(self.seed, number, repeat)
                for method, placer in ONE_PASS.items():
                    reached = _placed(problem, placer.format(order), seed)
                    yield _row(number, method, order, repeat, reached)
        trials = SharedTrials(PUBLISHED.model_copy(update={"epochs": self._sweeps}))
        for order in ALL_ORDERS:
            for repeat in range(REPEATS):
                for method, uniform in ((PLACETO, False), (RANDOM_POLICY, True)):
                    trial = Trial(problem, order, seed_of(self.seed, number, repeat), uniform)
                    loss = at_checkpoints(trials.run(trial), [self._sweeps])[0]
                    yield _row(number, method, order, repeat, min(1.0, 1.0 / float(loss)))
        evaluations = self._sweeps * len(problem.graph.names)
        for repeat in range(REPEATS):
            placer = f"search:evaluations={evaluations}"
            reached = _placed(problem, placer, seed_of(self.seed, number, repeat))
            yield _row(number, SEARCH, None, repeat, reached)


def _placed(problem: Problem, placer: str, seed: int) -> float:
    """Return the relative throughput of a placer's placement."""
    placement = run_placer(problem, placer, np.random.default_rng(seed), None).placement
    return float(evaluator(problem).quality(placement.devices)[0])


def _row(graph: int, method: str, order: str | None, repeat: int, reached: float) -> Row:
    return {
        "graph": graph,
        "method": method,
        "order": order,
        "repeat": repeat,
        "relative_throughput": reached,
    }
