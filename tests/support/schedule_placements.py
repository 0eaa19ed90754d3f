"""Placements under the makespan objective from the JSON forms of problems."""

import streamplace as sp
from benchmarks.reference.schedule_inputs import Form
from streamplace.files.clusters import from_form as cluster_from_form
from streamplace.files.graphs import from_form as graph_from_form
from streamplace.files.reading import check
from streamplace.files.schema import ClusterForm, GraphForm
from tests.support.schedule_comparison import Times


def placement_of(graph: Form, cluster: Form, settings: Form, placement: Form) -> sp.Placement:
    """Return the placement of a form, whose problem has the objective of its settings."""
    problem = sp.Problem(
        graph_from_form(check(GraphForm, dict(graph), "graph")),
        cluster_from_form(check(ClusterForm, dict(cluster), "cluster")),
        objective=_aim(settings),
    )
    return sp.Placement.of(problem, dict(placement))


def public_engine(
    graph: Form, cluster: Form, settings: Form, placement: Form
) -> tuple[Times, Times]:
    """Return the starts and finishes of a problem as `simulate` scores it."""
    score = sp.simulate(placement_of(graph, cluster, settings, placement), objective=_aim(settings))
    start = {row["operator"]: row["start_s"] for row in score.schedule}
    finish = {row["operator"]: row["finish_s"] for row in score.schedule}
    assert score.makespan_s == max(finish.values())
    assert score.bound_s is not None
    assert score.bound_s <= score.makespan_s * (1 + 1e-12)
    return start, finish


def _aim(settings: Form) -> sp.Makespan:
    return sp.Makespan(
        batch=settings["batch"],
        order=settings["order"],
        barrier=settings["barrier"],
        inputs_everywhere=settings["inputs_everywhere"],
    )
