"""Placements that commands read: placement files, or assignments in CSV and JSON."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from streamplace.errors import OtherGraphError, ProblemError, located
from streamplace.files.assignments import assignment_from, is_assignment, read_placement_json
from streamplace.files.placements import placement_from
from streamplace.files.reading import name_of
from streamplace.files.stored_objectives import objective_in
from streamplace.problem.makespan import Makespan
from streamplace.problem.objective import Objective
from streamplace.problem.placement import Placement


def placement_of_graph(
    value: Any,
    where: str,
    objective_of: Callable[[Objective | None], Objective | None],
    **settings: Any,
) -> tuple[Placement, str]:
    """Read a placement of a graph; the graph may have other numbers than when it was placed.

    Return it, and a note in that case, else an empty text.

    Parameters
    ----------
    value
        The JSON value of a placement file; see `read_placement_json`.
    where
        The name of the file.
    objective_of
        Function from the objective of the file, if it has one, to the objective to use.
    settings
        Other arguments of `read_placement`, with the graph among them.
    """
    objective = objective_of(objective_in(value))
    read = partial(placement_from, value, where, objective=objective, **settings)
    try:
        return read(), ""
    except OtherGraphError:
        note = f"{where}: placed for other numbers of the same operators; used by name"
        return read(by_name=True), note


def current_placement(
    file: str, objective: Objective | None
) -> tuple[Placement | None, Mapping[str, str]]:
    """Read the current placement, and return it and its assignment, operator -> device.

    The placement is None for a file that holds nothing but the assignment.

    Parameters
    ----------
    objective
        Replaces that of the file, unless one of them is a makespan: the current placement is then
        read under its own, since it need not have what the other one requires.
    """
    value = read_placement_json(file)
    if is_assignment(value):
        return None, assignment_from(value, name_of(file))
    stored = objective_in(value)
    if stored is not None and Makespan in (type(stored), type(objective)):
        objective = None
    placement = placement_from(value, name_of(file), objective=objective)
    return placement, placement.assignment


def whole_placement(
    value: Any,
    where: str,
    objective_of: Callable[[Objective | None], Objective | None],
    beside: Any = None,
) -> Placement:
    """Read a placement with its own graph; for other parameters, see `placement_of_graph`.

    Parameters
    ----------
    beside
        JSON value of the file that it is compared with, whose objective the error for a file
        without a graph uses.
    """
    stored = objective_in(value)
    if beside is not None and is_assignment(value):
        stored = objective_in(beside)
    objective = objective_of(stored)
    if not isinstance(stored, Makespan) or isinstance(objective, Makespan | None):
        return placement_from(value, where, objective=objective)
    placement = placement_from(value, where)
    with located(where):
        return under_objective(placement, objective)


def under_objective(placement: Placement, objective: Objective) -> Placement:
    """Return the same assignment under another objective.

    Raises
    ------
    ProblemError
        If the objective requires a source rate and neither it nor the placement has one.
    """
    problem = placement.problem
    has_rate = problem.graph.source_rate is not None or not isinstance(problem.objective, Makespan)
    if not (has_rate or isinstance(objective, Makespan) or objective.source_rates):
        raise ProblemError(
            "the placement has no source rate, which throughput requires; use "
            "'streamplace simulate' with its graph, --objective throughput and --source-rate"
        )
    return Placement(problem.with_objective(objective), placement.devices)
