"""Scores of placements under the objective `TotalCost`."""

from dataclasses import dataclass
from typing import Any

from streamplace.display.text import number, percent_up
from streamplace.display.view import Line
from streamplace.problem.makespan import rules_in_words
from streamplace.scoring.makespan_score import MakespanScore


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

    total_cost_s: float

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

    def with_proven(self, bound_s: float | None) -> "TotalCostScore":
        """Return the score itself: bounds that provers store are bounds on makespans."""
        return self

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
