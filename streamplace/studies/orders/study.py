"""The study `orders`: traversal orders of Placeto, with the controls that the paper lacks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from streamplace.placers.running import run_placer
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import makespan_evaluator
from streamplace.studies.longest_path import longest_path
from streamplace.studies.orders.outcome import outcome
from streamplace.studies.orders.registered import ALL_ORDERS, FULL, QUICK, Registered, problem_of
from streamplace.studies.orders.results import (
    CLIMB,
    HEFT,
    HEFT_WITH_CONTENTION,
    ONE_DEVICE,
    PLACETO,
    RANDOM_POLICY,
    SEARCH,
    SharedTrials,
)
from streamplace.studies.study import Options, Outcome, Plan, Row, Unit, seed_of
from streamplace.training.trials import PUBLISHED, Trial, at_checkpoints
from streamplace.util.arrays import Floats, Ints

LIMITED = {CLIMB: "climb:evaluations={}", SEARCH: "search:evaluations={}"}
"""Placers that get as many evaluations as the sweeps make.

Climb starts where these start, with all operators on one device. `search` starts from the best of
several list schedules, which it makes besides these evaluations.
"""
PLAIN = {HEFT: "heft", HEFT_WITH_CONTENTION: "heft:contention=true", ONE_DEVICE: "single"}
"""Placers that make one placement, whatever the number of sweeps."""


@dataclass(frozen=True)
class OrdersStudy(Options):
    """The study of traversal orders by its registered plan.

    Every graph is placed on equal devices by Placeto, in eight orders, with several seeds. The
    uniformly random policy does the same sweeps, and climb and `search` make as many evaluations.

    Parameters
    ----------
    quick, seed
        See `Options`.
    """

    name: ClassVar[str] = "orders"

    @property
    def size(self) -> Registered:
        """The size of the study."""
        return QUICK if self.quick else FULL

    def plan(self) -> Plan:
        """Return the plan: a unit is a graph on a number of devices."""
        size = self.size
        units = tuple(
            Unit(f"{f} {g} on {d}", {"family": f, "graph": g, "devices": d})
            for g in range(size.graphs)
            for f in size.families
            for d in size.devices
        )
        return Plan({**size.settings(), "seed": self.seed}, units)

    def run(self, unit: Unit) -> list[Row]:
        """Return a row for each method, order and repeat: makespans after each checkpoint."""
        problem = problem_of(**unit.settings, seed=self.seed)
        graph = problem.graph
        about = {
            **unit.settings,
            "operators": len(graph.names),
            "longest_path": longest_path(graph),
        }
        return [{**about, **row} for row in self._results(problem, unit.settings)]

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return win counts beside the published ones, and effects with intervals."""
        return outcome(plan, rows)

    def _results(self, problem: Problem, settings: Any) -> Iterator[Row]:
        checkpoints, repeats = self.size.checkpoints, self.size.repeats
        base = [self.seed, settings["graph"], settings["devices"]]
        trials = SharedTrials(PUBLISHED.model_copy(update={"epochs": checkpoints[-1]}))
        for method, uniform in ((PLACETO, False), (RANDOM_POLICY, True)):
            for order in ALL_ORDERS:
                for repeat in range(repeats):
                    trial = Trial(problem, order, seed_of(*base, repeat), uniform)
                    found = at_checkpoints(trials.run(trial), checkpoints)
                    yield _row(method, order, repeat, found)
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
