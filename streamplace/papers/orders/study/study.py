"""The study `orders`: traversal orders of Placeto, with the controls that the paper lacks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.orders.study.coincidence import SharedTrials
from streamplace.papers.orders.study.outcome import outcome
from streamplace.papers.orders.study.registered import (
    ALL_ORDERS,
    FULL,
    QUICK,
    Registered,
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
        return self.with_seeds(QUICK if self.quick else FULL, "repeats")

    def settings(self) -> Mapping[str, Any]:
        """Return the size of the study; see `PlannedStudy.settings`."""
        return self.size.settings()

    def parts(self) -> Sequence[Part]:
        """Return the table of graphs on numbers of devices."""
        columns = ("family", "graph", "devices")
        return [Part(columns, self._graphs, "{family} {graph} on {devices}".format, self._results)]

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return win counts beside the published ones, and effects with intervals."""
        return outcome(plan, rows)

    def _graphs(self) -> Iterator[tuple[str, int, int]]:
        for counts in (self.size.devices, self.size.further):
            for graph in range(self.size.graphs):
                yield from ((f, graph, d) for f in self.size.families for d in counts)

    def _results(self, family: str, graph: int, devices: int) -> Iterator[Row]:
        """Yield a row for each method, order and repeat: makespans after each checkpoint."""
        problem = problem_of(family, graph, devices, self.seed)
        about = {
            "family": family,
            "graph": graph,
            "devices": devices,
            "operators": len(problem.graph.names),
            "longest_path": longest_path(problem.graph),
        }
        for row in self._of_methods(problem, [self.seed, graph, devices]):
            yield {**about, **row}

    def _of_methods(self, problem: Problem, base: list[int]) -> Iterator[Row]:
        checkpoints, repeats = self.size.checkpoints, self.size.repeats
        yield from self._of_sweeps(problem, base)
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

    def _of_sweeps(self, problem: Problem, base: list[int]) -> Iterator[Row]:
        checkpoints = self.size.checkpoints
        trials = SharedTrials(PUBLISHED.model_copy(update={"epochs": checkpoints[-1]}))
        for method, uniform in ((PLACETO, False), (RANDOM_POLICY, True)):
            for order in ALL_ORDERS:
                for repeat in range(self.size.repeats):
                    trial = Trial(problem, order, seed_of(*base, repeat), uniform)
                    found = at_checkpoints(trials.run(trial), checkpoints)
                    yield _row(method, order, repeat, found)


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
