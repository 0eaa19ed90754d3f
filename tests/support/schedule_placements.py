"""Placements under the makespan objective from the JSON forms of problems."""

from streamplace import Placement, Problem
from streamplace.files.clusters import cluster_from
from streamplace.files.graphs import graph_from
from streamplace.problem.makespan import DispatchOrder, Makespan
from tests.support.schedule_problems import ScheduleForm


def makespan_placement(form: ScheduleForm, order: DispatchOrder | None = None) -> Placement:
    """Return the placement of a form.

    Parameters
    ----------
    order
        Another order of operators than that of the form.
    """
    settings = form["settings"]
    objective = Makespan(
        batch=settings["batch"],
        order=order or settings["order"],
        barrier=settings["barrier"],
        inputs_everywhere=settings["inputs_everywhere"],
    )
    graph = graph_from({"source_rate": 1.0, **form["graph"]}, "graph")
    problem = Problem(graph, cluster_from(form["cluster"], "cluster"), objective=objective)
    return Placement.of(problem, form["placement"])
