"""The study `orders`: traversal orders of Placeto, with the controls that the paper lacks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from streamplace.learning.training.stages import StepReinforceStage
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.orders.study.coincidence import SharedTrials
from streamplace.papers.orders.study.outcome import outcome
from streamplace.papers.orders.study.registered import (
    ALL_ORDERS,
    FULL,
    LISTED,
    LISTED_CONTROL,
    ORDERS,
    QUICK,
    SIGN,
    VARIANTS,
    Registered,
    listed_at_random,
    problem_of,
)
from streamplace.papers.orders.study.results import (
    CLIMB,
    HEFT,
    HEFT_WITH_CONTENTION,
    ONE_DEVICE,
    PLACETO,
    RANDOM_POLICY,
    SEARCH,
)
from streamplace.papers.placeto.trials import PUBLISHED, Trial, at_checkpoints
from streamplace.papers.studies.study import (
    Outcome,
    Part,
    Plan,
    PlannedStudy,
    Row,
    longest_path,
    seed_of,
)
from streamplace.placers.running import run_placer
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats, Ints

LIMITED = {CLIMB: "climb:evaluations={}", SEARCH: "search:evaluations={}"}
"""Placers that get as many evaluations as the sweeps make.

Climb starts where these start, with all operators on one device. `search` starts from the best of
several list schedules, which it makes besides these evaluations.
"""
PLAIN = {HEFT: "heft", HEFT_WITH_CONTENTION: "heft:contention=true", ONE_DEVICE: "single"}
"""Placers that make one placement, whatever the number of sweeps."""


@dataclass(frozen=True)
class OrdersStudy(PlannedStudy):
    """The study of traversal orders by its registered plan.

    Every graph is placed on equal devices by Placeto, in eight orders, with several seeds. The
    uniformly random policy does the same sweeps, and climb and `search` make as many evaluations.
    """

    name: ClassVar[str] = "orders"

    @property
    def size(self) -> Registered:
        """The size of the study."""
        return self.with_seeds(QUICK if self.quick else FULL, "repeats", "of_variants")

    def settings(self) -> Mapping[str, Any]:
        """Return the size of the study; see `PlannedStudy.settings`."""
        return self.size.settings()

    def parts(self) -> Sequence[Part]:
        """Return the tables of graphs on numbers of devices, and of variants of Placeto."""
        columns, key = ("family", "graph", "devices"), "{family} {graph} on {devices}"
        return [
            Part(columns, self._graphs, key.format, self._results),
            Part(
                ("method", *columns), self._variants, f"{{method}}: {key}".format, self._of_variant
            ),
        ]

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return win counts beside the published ones, and effects with intervals."""
        return outcome(plan, rows)

    def _graphs(self) -> Iterator[tuple[str, int, int]]:
        for counts in (self.size.devices, self.size.further):
            for graph in range(self.size.graphs):
                yield from ((f, graph, d) for f in self.size.families for d in counts)

    def _variants(self) -> Iterator[tuple[str, str, int, int]]:
        for method, (family, _) in VARIANTS.items():
            for graph in range(self.size.graphs) if family in self.size.families else ():
                yield from ((method, family, graph, d) for d in self.size.devices)

    def _of_variant(self, method: str, family: str, graph: int, devices: int) -> Iterator[Row]:
        """Yield a row for each published order and repeat of a variant, and of its control."""
        seed = [self.seed, graph]
        change = partial(listed_at_random, seed=seed) if method == LISTED else lambda graph: graph
        problem = problem_of(family, graph, devices, self.seed, change)
        checkpoints = self.size.checkpoints[: VARIANTS[method][1]]
        stage = PUBLISHED.model_copy(
            update={"epochs": checkpoints[-1], "reversed_rewards": method == SIGN}
        )
        methods = {LISTED: False, LISTED_CONTROL: True} if method == LISTED else {SIGN: False}
        base, repeats = [*seed, devices], self.size.of_variants
        about = _about(family, graph, devices, problem)
        for row in _of_sweeps(problem, base, methods, ORDERS, repeats, stage, checkpoints):
            yield {**about, **row}

    def _results(self, family: str, graph: int, devices: int) -> Iterator[Row]:
        """Yield a row for each method, order and repeat: makespans after each checkpoint."""
        problem = problem_of(family, graph, devices, self.seed)
        about = _about(family, graph, devices, problem)
        for row in self._of_methods(problem, [self.seed, graph, devices]):
            yield {**about, **row}

    def _of_methods(self, problem: Problem, base: list[int]) -> Iterator[Row]:
        checkpoints, repeats = self.size.checkpoints, self.size.repeats
        stage = PUBLISHED.model_copy(update={"epochs": checkpoints[-1]})
        methods = {PLACETO: False, RANDOM_POLICY: True}
        yield from _of_sweeps(problem, base, methods, ALL_ORDERS, repeats, stage, checkpoints)
        for method, placer in LIMITED.items():
            for repeat in range(repeats):
                rows = [
                    _placed(problem, placer.format(c * len(problem.graph.names)), [*base, repeat])
                    for c in checkpoints
                ]
                yield _row(method, None, repeat, np.array(rows))
        for method, placer in PLAIN.items():
            found = np.full(len(checkpoints), _placed(problem, placer, base))
            yield _row(method, None, 0, found)


def _about(family: str, graph: int, devices: int, problem: Problem) -> Row:
    return {
        "family": family,
        "graph": graph,
        "devices": devices,
        "operators": len(problem.graph.names),
        "longest_path": longest_path(problem.graph),
    }


def _of_sweeps(
    problem: Problem,
    base: Sequence[int],
    methods: Mapping[str, bool],
    orders: Sequence[str],
    repeats: int,
    stage: StepReinforceStage,
    checkpoints: Sequence[int],
) -> Iterator[Row]:
    """Yield a row for each method, which may draw devices uniformly, each order and repeat."""
    trials = SharedTrials(stage)
    for method, uniform in methods.items():
        for order in orders:
            for repeat in range(repeats):
                trial = Trial(problem, order, seed_of(*base, repeat), uniform)
                yield _row(method, order, repeat, at_checkpoints(trials.run(trial), checkpoints))


def _placed(problem: Problem, placer: str, seed: Sequence[int]) -> float:
    """Return the makespan of a placer's placement in seconds."""
    rng = np.random.default_rng(list(seed))
    devices: Ints = run_placer(problem, placer, rng, None).placement.devices
    return float(makespan_evaluator(problem).makespans(devices)[0])


def _row(method: str, order: str | None, repeat: int, makespans: Floats) -> Row:
    return {
        "method": method,
        "order": order,
        "repeat": repeat,
        "makespan_s": [float(seconds) for seconds in makespans],
    }
