"""Placements from which policies that refine placements start."""

import numpy as np

from streamplace.errors import ObjectiveError, PlacementError, StreamplaceError, reworded
from streamplace.placers.repair import feasible
from streamplace.placers.running import run_placer
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem

FALLBACK = "round-robin"
"""The placer of starts where a stage names none: it repairs what violates a constraint."""


def start_of(
    problem: Problem, placer: str, rng: np.random.Generator, key: str, number: int | str
) -> Placement:
    """Return the placement from which a policy starts, repaired where it violates a constraint.

    Parameters
    ----------
    placer
        The placer of starts, with its options.
    key
        Where the placer is named, such as ``stage[0].start``, for messages.
    number
        The number of the problem, for messages about graphs without a name.

    Raises
    ------
    StreamplaceError
        If the placer cannot place the problem; the message names the key, the graph and a remedy.
    """
    try:
        return feasible(problem, run_placer(problem, placer, rng).placement.devices)
    except StreamplaceError as error:
        graph = problem.graph.name or f"problem {number}"
        where = f"{key}: {graph}" if error.needs_file else key
        cause = error.__cause__  # the traceback of a user's placer
        raise reworded(error, f"{where}: {_with_remedy(error, placer, key)}") from cause


def _with_remedy(error: StreamplaceError, placer: str, key: str) -> str:
    """Return the message of a failed start, and what to do."""
    if isinstance(error, ObjectiveError):  # what it recommends is for commands that place
        fault = str(error).partition("; ")[0]
        return f"{fault}; choose another placer, or another objective of [[problems]]"
    if not isinstance(error, PlacementError):
        return str(error)
    if not key.endswith(".start"):  # the stage names no placer
        return f"{error}; leave the graph out, or set run.held_out = 0"
    if placer.partition(":")[0] == FALLBACK:
        return f"{error}; choose another placer, or leave the graph out"
    return f'{error}; choose another placer, for example start = "{FALLBACK}"'
