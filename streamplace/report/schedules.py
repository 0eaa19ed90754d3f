"""Data of a placement under the makespan objective, from which the page computes its schedule."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamplace.errors import UsageError
from streamplace.files.clusters import cluster_to
from streamplace.files.graphs import constraints_to
from streamplace.files.stored_objectives import objective_to
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.report.tasks import order_to, tasks_to
from streamplace.report.titled import TitledPlacement
from streamplace.scoring.registry import makespan_evaluator
from streamplace.util.finite import finite

if TYPE_CHECKING:
    from streamplace.scoring.makespan_score import MakespanScore

SCHEDULED = 5_000  # operators of the largest graph whose schedule the page computes


@dataclass(frozen=True)
class ScheduleEntry(TitledPlacement):
    """A placement in a report whose objective is the makespan; its schedule is always drawn.

    Parameters
    ----------
    score
        Its makespan and schedule, with the noise of the objective.
    bound_s
        Lower bound on the makespan of any placement without noise, in seconds.
    """

    score: "MakespanScore"
    bound_s: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures that `report --json` prints."""
        return {
            "objective": "makespan",
            "order": self.score.order,
            "makespan_s": self.score.makespan_s,
            "bound_s": self.score.bound_s,
            "gap": self.score.gap,
            "slr": finite(self.score.slr),
            "drawn": self.drawn,
        }


def schedule_entry(
    title: str, placement: Placement, placer: str = "", proven: float | None = None
) -> ScheduleEntry:
    """Score a placement under the makespan objective for a report.

    Parameters
    ----------
    proven
        The bound in seconds stored with the placement, which a prover may have made tighter than
        the computed one. It is ignored if it is above the makespan, or with noise.

    Raises
    ------
    GraphError
        If loads overflow.
    UsageError
        If the graph has too many operators for the page.
    """
    count = len(placement.problem.graph.names)
    if count > SCHEDULED:
        raise UsageError(
            f"report: a schedule on the page has at most {SCHEDULED:,} operators (the graph has "
            f"{count:,}); use simulate --gantt"
        )
    evaluator = makespan_evaluator(placement.problem)
    score = evaluator.score(placement.devices).with_proven(proven)
    bound = evaluator.compiled.bounds.best if score.bound_s is None else score.bound_s
    return ScheduleEntry(title, placer, placement, score, bound)


def schedule_to(problem: Problem) -> dict[str, Any]:
    """Return what the page needs to compute schedules of a problem, as JSON."""
    evaluator, objective = makespan_evaluator(problem), problem.makespan_objective
    return {
        "tasks": tasks_to(evaluator.tasks),
        "orders": [
            {"name": name, **order_to(order)}
            for name, order in zip(evaluator.order_names, evaluator.orders, strict=True)
        ],
        "batch": objective.batch,
        "noise": objective.noise,
        "longest_path_s": evaluator.compiled.fastest.longest,
    }


def schedule_row(one: ScheduleEntry) -> dict[str, Any]:
    """Return what distinguishes a placement from others of its problem, as JSON."""
    problem = one.placement.problem
    form = {
        "graph_sha256": problem.graph.sha256,
        "cluster": cluster_to(problem.cluster),
        **objective_to(problem.objective),
    }
    if problem.constraints:
        form["constraints"] = constraints_to(problem.constraints)
    return {
        "objective": "makespan",
        "title": one.title,
        "placer": one.placer,
        "cluster": form["cluster"],
        "constraints": constraints_to(problem.constraints),
        "bound_s": one.bound_s,
        "violation": problem.feasibility.violation(one.placement.devices),
        "assignment": one.placement.devices.tolist(),
        "form": form,
    }
