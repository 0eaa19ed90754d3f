"""The study of traversal orders for streams: throughput on the branched benchmark."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamplace.placers.running import run_placer
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.studies.orders.registered import ALL_ORDERS
from streamplace.studies.orders.shared_trials import SharedTrials
from streamplace.studies.orders.stream_outcome import outcome
from streamplace.studies.orders.stream_results import (
    GREEDY,
    PLACETO,
    POLICY,
    RANDOM_POLICY,
    SEARCH,
    WEIGHTED_ORDERS,
)
from streamplace.studies.seeds import seed_of
from streamplace.studies.stream_problems import DEVICES, SOURCE_RATE, problem_of
from streamplace.studies.study import Options, Outcome, Plan, Row, Unit
from streamplace.training.trials import PUBLISHED, Trial, at_checkpoints

GRAPHS, QUICK_GRAPHS = 200, 6
SWEEPS, QUICK_SWEEPS = 50, 5
REPEATS = 3
BLOCK = 2  # graphs per unit of work
ONE_PASS = {GREEDY: "greedy:order={}", POLICY: "policy:order={}:refine=0"}
"""Placers that visit every operator once; local search would blur what the order is worth."""


@dataclass(frozen=True)
class StreamOrdersStudy(Options):
    """The study of traversal orders for the throughput of streams.

    Graphs of the paper's branched benchmark are placed on five equal devices by greedy, by the
    shipped policy and by Placeto trained on each graph, in every order. Relative throughput is that
    of the model with backpressure.

    Parameters
    ----------
    quick, seed
        See `Options`.
    """

    name: ClassVar[str] = "orders-throughput"

    def plan(self) -> Plan:
        """Return the plan: a unit is two graphs."""
        settings = {
            "graphs": self._graphs,
            "devices": DEVICES,
            "source_rate": SOURCE_RATE,
            "sweeps": self._sweeps,
            "repeats": REPEATS,
            "orders": [*ALL_ORDERS, *WEIGHTED_ORDERS],
            "seed": self.seed,
        }
        starts = range(0, self._graphs, BLOCK)
        return Plan(settings, tuple(Unit(f"graphs {s}", {"start": s}) for s in starts))

    def run(self, unit: Unit) -> list[Row]:
        """Return a row for each graph, method, order and repeat: relative throughput."""
        start = unit.settings["start"]
        return [row for g in range(start, start + BLOCK) for row in self._results(g)]

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return relative throughput by method and order, with intervals."""
        return outcome(plan, rows)

    @property
    def _graphs(self) -> int:
        return QUICK_GRAPHS if self.quick else GRAPHS

    @property
    def _sweeps(self) -> int:
        return QUICK_SWEEPS if self.quick else SWEEPS

    def _results(self, number: int) -> Iterator[Row]:
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
