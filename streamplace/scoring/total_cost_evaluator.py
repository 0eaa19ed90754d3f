"""The evaluator of total costs."""

import numpy as np

from sim.schedule.passes import timetable
from sim.schedule.total_cost import execution_seconds, transfer_seconds
from streamplace.scoring.evaluator import Placements
from streamplace.scoring.makespan_evaluator import MakespanEvaluator, rows_of
from streamplace.scoring.total_cost_score import TotalCostScore
from streamplace.util.arrays import Floats
from streamplace.util.evaluation_count import count


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
        """The cost of all operators on their fastest devices, in seconds; None with noise."""
        return None if self.problem.makespan_objective.noise else self._least

    @property
    def _least(self) -> float:
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

    def quality(self, devices: Placements) -> Floats:
        """Return the lower bound over the total cost of each placement, (K,); 1 without cost."""
        costs = self.costs(devices)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(costs > 0.0, np.minimum(self._least / costs, 1.0), 1.0)

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
