"""The schedules of problems in their JSON forms as `simulate` prints them."""

import streamplace as sp
from benchmarks.reference.schedule_inputs import Form
from benchmarks.reference.schedule_placements import objective_of, placement_of
from tests.support.schedule_comparison import Times


def public_engine(
    graph: Form, cluster: Form, settings: Form, placement: Form
) -> tuple[Times, Times]:
    """Return the starts and finishes of a problem as `simulate` scores it."""
    score = sp.simulate(
        placement_of(graph, cluster, settings, placement), objective=objective_of(settings)
    )
    start = {row["operator"]: row["start_s"] for row in score.schedule}
    finish = {row["operator"]: row["finish_s"] for row in score.schedule}
    assert score.makespan_s == max(finish.values())
    assert score.bound_s is not None
    assert score.bound_s <= score.makespan_s * (1 + 1e-12)
    return start, finish
