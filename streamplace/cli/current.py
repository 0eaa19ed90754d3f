"""Placements that commands read: placement files, or assignments in CSV and JSON."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from streamplace.errors import OtherGraphError
from streamplace.files.assignments import assignment_from, is_assignment, read_placement_json
from streamplace.files.placements import objective_in, placement_from
from streamplace.files.reading import name_of
from streamplace.problem.makespan import Makespan
from streamplace.problem.objective import Objective
from streamplace.problem.placement import Placement


def placement_of_graph(
    file: str, objective_of: Callable[[Objective | None], Objective | None], **settings: Any
) -> tuple[Placement, str]:
    """Read a placement of a graph; the graph may have other numbers than when it was placed.

    Return it, and a note in that case, else an empty text.

    Parameters
    ----------
    objective_of
        Function from the objective of the file, if it has one, to the objective to use.
    settings
        Other arguments of `read_placement`, with the graph among them.
    """
    value = read_placement_json(file)
    objective = objective_of(objective_in(value))
    read = partial(placement_from, value, name_of(file), objective=objective, **settings)
    try:
        return read(), ""
    except OtherGraphError:
        note = f"{name_of(file)}: placed for other numbers of the same operators; used by name"
        return read(by_name=True), note


def current_placement(
    file: str, objective: Objective | None
) -> tuple[Placement | None, Mapping[str, str]]:
    """Read the current placement, and return it and its assignment, operator -> device.

    The placement is None for a file that holds nothing but the assignment.

    Parameters
    ----------
    objective
        Replaces that of the file, unless both are makespans.
    """
    value = read_placement_json(file)
    if is_assignment(value):
        return None, assignment_from(value, name_of(file))
    if isinstance(objective, Makespan) and isinstance(objective_in(value), Makespan):
        objective = None
    placement = placement_from(value, name_of(file), objective=objective)
    return placement, placement.assignment


def whole_placement(
    file: str, objective_of: Callable[[Objective | None], Objective | None]
) -> Placement:
    """Read a placement file with its own graph.

    Parameters
    ----------
    objective_of
        Function from the objective of the file, if it has one, to the objective to use.
    """
    value = read_placement_json(file)
    return placement_from(value, name_of(file), objective=objective_of(objective_in(value)))
