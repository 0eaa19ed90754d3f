"""Data of a placement of a single pass, from which the page computes its schedule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streamplace.errors import UsageError
from streamplace.files.clusters import cluster_to
from streamplace.files.graphs import constraints_to
from streamplace.files.stored_objectives import objective_to
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objectives import text_of
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.rules import violations
from streamplace.scoring.registry import evaluator_of_pass

if TYPE_CHECKING:
    from streamplace.makespan.score import MakespanScore

SHOWN = "the page shows throughput, makespans and total costs"
DRAWN = 500  # operators of the largest graph that is drawn in lanes


@dataclass(frozen=True)
class TitledPlacement:
    """A placement in a report.

    Parameters
    ----------
    title
        Title on the page: the name of the placement's file.
    placer
        Name of the placer; empty if unknown.
    placement
        The placement with its problem.
    jobs
        What each of several jobs gets and loses, as `place --job-file --json` prints it; empty for
        a single job.
    latency
        Whether the placement keeps a limit on latency, in words; empty if none was asked for.
    inputs
        Names of the files that the problem was read from, as far as they are known.
    fewer_devices
        See `Found`; None if it is not known.
    """

    title: str
    placer: str
    placement: Placement
    jobs: Sequence[Mapping[str, Any]] = field(default=(), kw_only=True)
    latency: str = field(default="", kw_only=True)
    inputs: Sequence[str] = field(default=(), kw_only=True)
    fewer_devices: int | None = field(default=None, kw_only=True)

    @property
    def drawn(self) -> bool:
        """Whether the page draws the graph in lanes, where users can move operators."""
        return is_drawn(self.placement.problem.graph)


def violated(placement: Placement) -> list[str]:
    """Return every rule that a placement violates, in words, without names of their fields."""
    return [each.why for each in violations(placement)]


def is_drawn(graph: StreamGraph) -> bool:
    """Return whether the page draws a graph in lanes."""
    return len(graph.names) <= DRAWN


SCHEDULED = 5_000  # operators of the largest graph whose schedule the page computes
PASS_SCRIPTS = {"makespan": "makespan", "total cost": "total_cost"}
"""Quantity of an objective of single passes -> the script of the page that shows it."""


@dataclass(frozen=True)
class ScheduleEntry(TitledPlacement):
    """A placement in a report whose objective is about one pass; its schedule is always drawn.

    Parameters
    ----------
    score
        Its score and schedule, with the noise of the objective.
    bound_s
        Lower bound on the score of any placement without noise, in seconds.
    """

    score: "MakespanScore"
    bound_s: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures that `report --json` prints."""
        figures = (*self.score.figures, "makespan_s", "bound_s", "gap", "slr")
        keys = ("objective", "batch", "order", *figures)
        return {**self.score.entries(*keys), "drawn": self.drawn}


def schedule_entry(
    title: str, placement: Placement, placer: str = "", proven: float | None = None
) -> ScheduleEntry:
    """Score a placement under an objective of single passes for a report.

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
        If the page does not show the objective, or the graph has too many operators for it.
    """
    if placement.problem.objective.quantity not in PASS_SCRIPTS:
        raise UsageError(f"report: {SHOWN}, not objective {text_of(placement.problem.objective)!r}")
    count = len(placement.problem.graph.names)
    if count > SCHEDULED:
        raise UsageError(
            f"report: a schedule on the page has at most {SCHEDULED:,} operators (the graph has "
            f"{count:,}); use simulate --gantt"
        )
    evaluator = evaluator_of_pass(placement.problem)
    score = evaluator.score(placement.devices).with_bound(proven)
    bound = evaluator.least_s if score.bound_s is None else score.bound_s
    return ScheduleEntry(title, placer, placement, score, bound)


def schedule_to(problem: Problem) -> dict[str, Any]:
    """Return what the page needs to compute schedules of a problem, as JSON."""
    evaluator, objective = evaluator_of_pass(problem), problem.makespan_objective
    return {
        **evaluator.as_json(),
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
        "objective": problem.objective.quantity,
        "title": one.title,
        "placer": one.placer,
        "cluster": form["cluster"],
        "constraints": constraints_to(problem.constraints),
        "bound_s": one.bound_s,
        "violations": violated(one.placement),
        "assignment": one.placement.devices.tolist(),
        "form": form,
    }
