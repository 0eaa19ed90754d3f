"""Placements under the makespan objective from the JSON forms of problems."""

from benchmarks.reference.schedule_inputs import Form
from streamplace import Makespan, Placement, Problem
from streamplace.files.clusters import from_form as cluster_from_form
from streamplace.files.graphs import from_form as graph_from_form
from streamplace.files.reading import check
from streamplace.files.schema import ClusterForm, GraphForm


def placement_of(graph: Form, cluster: Form, settings: Form, placement: Form) -> Placement:
    """Return the placement of a form, whose problem has the objective of its settings."""
    problem = Problem(
        graph_from_form(check(GraphForm, dict(graph), "graph")),
        cluster_from_form(check(ClusterForm, dict(cluster), "cluster")),
        objective=objective_of(settings),
    )
    return Placement.of(problem, dict(placement))


def objective_of(settings: Form) -> Makespan:
    """Return the objective with the settings of a form."""
    return Makespan(
        batch=settings["batch"],
        order=settings["order"],
        barrier=settings["barrier"],
        inputs_everywhere=settings["inputs_everywhere"],
    )
