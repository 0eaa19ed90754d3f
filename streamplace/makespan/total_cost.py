"""The total cost objective: its scores, its evaluator and its parameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Any, ClassVar

import numpy as np

from streamplace.display.text import number, percent, percent_up
from streamplace.display.view import Cell, Grid, Line
from streamplace.makespan.compiled_pass import compiled_pass
from streamplace.makespan.evaluator import MakespanEvaluator, rows_of
from streamplace.makespan.score import MakespanScore, cells_of
from streamplace.makespan.two_devices import cheapest_of_two
from streamplace.problem.makespan import PassObjective, rules_in_words
from streamplace.scoring.division import ScoreDivision
from streamplace.scoring.evaluator import Placements
from streamplace.sim.schedule.passes import timetable
from streamplace.sim.schedule.task_graph import NIC
from streamplace.sim.schedule.total_cost import execution_seconds, transfer_seconds
from streamplace.util.arrays import Floats
from streamplace.util.running_search import count

TOTAL_COST = "total cost"


@dataclass(frozen=True)
class TotalCostDivision(ScoreDivision):
    """Parts of the total cost in seconds.

    Parameters
    ----------
    execution_s
        Execution of all operators.
    transfers_s
        Transfer and latency of all messages between devices.
    """

    quantity: ClassVar[str] = TOTAL_COST
    words: ClassVar[Mapping[str, str]] = {"execution_s": "execution", "transfers_s": "transfers"}

    execution_s: float
    transfers_s: float


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class TotalCostScore(MakespanScore):
    """The total cost of a placement, and its schedule.

    Parameters
    ----------
    total_cost_s
        Execution and transfer times of one pass in seconds; with noise, the mean over the repeats.
        `deviation_s` is its standard deviation, and `bound_s` the lower bound on the total cost of
        any placement.
    """

    quantity: ClassVar[str] = TOTAL_COST
    verb: ClassVar[str] = "lowers"
    first_tried: ClassVar[str] = "the operators that cost the most"

    total_cost_s: float

    @property
    def figures(self) -> dict[str, float]:
        """The total cost, in seconds."""
        return {"total_cost_s": self.total_cost_s}

    @property
    def value(self) -> float:
        """The total cost, in seconds."""
        return self.total_cost_s

    @property
    def quality(self) -> float:
        """The lower bound over the total cost; 1 without cost, 0 if the bound is not known."""
        if self.total_cost_s == 0.0:
            return 1.0
        return 0.0 if self.bound_s is None else min(1.0, self.bound_s / self.total_cost_s)

    @cached_property
    def division(self) -> TotalCostDivision:
        """What the total cost consists of; with noise, in the first pass."""
        transfers = fsum(self._transfers.values())
        return TotalCostDivision(fsum(self.timetable.run.duration), transfers)

    @cached_property
    def _transfers(self) -> dict[int, float]:
        """Message, by its first stream -> transfer time with latency in seconds, first pass."""
        tasks, run, found = self.timetable.tasks, self.timetable.run, dict[int, float]()
        factors = compiled_pass(self.problem).noises[0].streams
        for k, _, receiver in self._ends_of_deliveries():
            m = int(run.message[k])
            seconds = float(run.transfer[m])
            if tasks.network == NIC:  # the receiver's interface may be the slower one
                factor = float(factors[m]) if factors.size else 1.0
                seconds = max(seconds, float(run.size[m] / tasks.rate_in[receiver]) * factor)
            found[m] = max(found.get(m, 0.0), seconds + float(run.latency[m]))
        return found

    @cached_property
    def contributors(self) -> list[dict[str, Any]]:
        """The operators and messages with a cost, the largest first, with it in `seconds`.

        They are named as those of `steps`; a message to several operators by the first of them.
        """
        run = self.timetable.run
        found = [{**self.operator(v), "seconds": float(s)} for v, s in enumerate(run.duration)]
        found += [{**self.message(m), "seconds": s} for m, s in self._transfers.items()]
        return sorted((one for one in found if one["seconds"]), key=lambda one: -one["seconds"])

    @property
    def tried_first(self) -> list[int]:
        """The operators whose moves `explain` tries first, where it cannot try all."""
        index = self.problem.graph.index
        names = (one.get("message") or [one["operator"]] for one in self.contributors)
        return [index[name] for ends in names for name in ends]

    def explanation_entries(self) -> dict[str, Any]:
        """Return the score and what it consists of, as `explain --json` prints them."""
        keys = ("objective", "batch", "total_cost_s", "standard_deviation_s", "bound_s", "gap")
        return self.entries(*keys, "order", "makespan_s") | {
            "division": self.division.to_dict(),
            "contributors": self.contributors,
        }

    def _causes(self) -> Grid:
        """Return the operators and messages that cost the most, as a table."""
        whole_s = sum(one["seconds"] for one in self.contributors)

        def row(i: int) -> tuple[Cell, ...]:
            seconds = self.contributors[i]["seconds"]
            return *cells_of(self.contributors[i]), number(seconds), percent(seconds / whole_s)

        head = ("operator or message", "on", "seconds", "share")
        left_out = "and {} more with smaller shares"
        return Grid(head, len(self.contributors), row, (0, 1), left_out=left_out)

    @property
    def headline(self) -> str:
        """The total cost as a phrase."""
        noise = "" if self.deviation_s is None else f" ± {self.deviation_s:.2g}"
        gap = "" if self.gap is None else f", gap {percent_up(self.gap)}"
        return f"total cost {number(self.total_cost_s)}{noise} s{gap}"

    def summary(self) -> dict[str, Any]:
        """Return the score without the schedule."""
        cost = {"objective": "total-cost", "total_cost_s": self.total_cost_s}
        return super().summary() | cost

    def lines(self) -> tuple[Line, ...]:
        """Return the total cost, its bound and the makespan as lines."""
        how = f"order {self.order}{rules_in_words(self.problem.makespan_objective)}"
        makespan = f"the makespan is {number(self.makespan_s)} s ({how})"
        return (Line(self.headline), Line(makespan))


class TotalCostEvaluator(MakespanEvaluator):
    """Evaluator of placements under the objective `TotalCost`; see `Evaluator`.

    Its loss is the total cost in seconds; with noise, the mean over the repeats. Its trace is the
    schedule of one pass, as under the makespan objective.
    """

    @property
    def is_fast(self) -> bool:
        """False: the fast engine computes makespans."""
        return False

    @property
    def bound_s(self) -> float | None:
        """The lower bound on the total cost in seconds; None with noise."""
        if self.problem.makespan_objective.noise:
            return None
        cut = self.problem.once(cheapest_of_two)
        return self.least_s if cut is None else max(self.least_s, cut.cost_s)

    @property
    def least_s(self) -> float:
        """The execution times of all operators on the fastest devices that they may run on."""
        devices = np.arange(self.tasks.devices, dtype=np.int32)
        rows = np.repeat(devices[:, None], self.tasks.operators, axis=1)
        times = execution_seconds(self.tasks.columns, rows).T  # (V, D)
        masks = self.compiled.masks
        return float(np.where(masks.allowed[masks.row_of], times, np.inf).min(axis=1).sum())

    def costs(self, devices: Placements) -> Floats:
        """Return the total cost of each placement in seconds, (K,)."""
        return np.asarray(self._costs_of_repeats(devices).mean(axis=0))

    def _costs_of_repeats(self, devices: Placements) -> Floats:
        """Return the total cost under each repeat's noise, (r, K), in seconds."""
        rows, columns, noises = rows_of(devices), self.tasks.columns, self.compiled.noises
        count(len(rows))
        times = execution_seconds(columns, rows)
        return np.stack(
            [
                (times * noise.operators if noise.operators.size else times).sum(axis=1)
                + transfer_seconds(columns, noise, rows)
                for noise in noises
            ]
        )

    def loss(self, devices: Placements) -> Floats:
        """Return the total cost of each placement in seconds, (K,)."""
        return self.costs(devices)

    def score(self, devices: Placements) -> TotalCostScore:
        """Return the score of one placement, (V,); see `MakespanEvaluator.score`."""
        row, repeats = rows_of(devices)[0], self._costs_of_repeats(devices)[:, 0]
        self.check_finite(repeats, devices, "the total cost has no value")
        name, order = self.best(devices)
        made = timetable(self.tasks, order, row, self.compiled.noises[0])
        return TotalCostScore(
            problem=self.problem,
            timetable=made,
            order=name,
            makespan_s=float(self.makespans(devices)[0]),
            deviation_s=float(repeats.std()) if len(repeats) > 1 else None,
            bound_s=self.bound_s,
            fastest=self.compiled.fastest,
            total_cost_s=float(repeats.mean()),
        )


@dataclass(frozen=True)
class TotalCost(PassObjective):
    """The total cost objective: the least seconds of execution and transfer in one pass.

    The cost of a placement is the sum of the execution times of all operators and of the transfer
    times (with latency) of all messages between devices, in seconds (GiPH, Hu et al., MLSys 2023,
    section 3). Unlike the makespan, it does not depend on what happens at the same time, so neither
    order, barrier nor queues matter; they only determine the schedule that `Evaluator.trace`
    returns. Overheads, gaps and rests do not count.

    The parameters are those of `PassObjective`. Placers that plan or search schedules refuse this
    objective; `auto` climbs, and proves the least cost of few placements and of two devices.
    """

    quantity: ClassVar[str] = TOTAL_COST
    functions: ClassVar[Mapping[str, str]] = {
        **PassObjective.functions,
        "climbed": "streamplace.makespan.placers.total_cost:cheap_placement",
        "exact": "streamplace.makespan.placers.total_cost:prove_cost",
    }
    evaluator: ClassVar[type[Any] | None] = TotalCostEvaluator
