"""Runs of placers, with checks of what custom ones return."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import NamedTuple

import numpy as np

from streamplace.errors import (
    CustomPlacerError,
    StreamplaceError,
    UsageError,
    within,
)
from streamplace.placers import custom
from streamplace.placers.base import BasePlacer, Found, Placer
from streamplace.placers.registry import NamedPlacer, placer_of, ready, taking_start
from streamplace.problem.graph import StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import digest
from streamplace.sim import work_clock
from streamplace.util.arrays import Ints
from streamplace.util.plugins import named_fault
from streamplace.util.running_search import counting


class Outcome(NamedTuple):
    """What a placer found, and what that took.

    `seconds` is wall time, `cpu_seconds` CPU time of the process. `evaluations` is the number of
    passes that it simulated, None if it does not count them.
    """

    found: Found
    seconds: float
    cpu_seconds: float
    evaluations: int | None

    @property
    def placement(self) -> Placement:
        """The placement found."""
        return self.found.placement


def run_placer(
    problem: Problem,
    placer: str | Placer,
    rng: np.random.Generator,
    start: Placement | None = None,
) -> Outcome:
    """Run a placer, from an initial placement if it is set, and check its placement.

    Raises
    ------
    PlacementError
        If the placer found no placement.
    CustomPlacerError
        If a custom placer that has a name fails, or if any custom placer changes the problem's
        arrays or returns no placement, one of another problem, one that violates a constraint, or
        an order that no schedule has.
    StreamplaceError
        If the placer does not support the problem.
    """
    name = name_of(placer)
    chosen = ready(placer) if isinstance(placer, str) else placer
    named = chosen if isinstance(chosen, NamedPlacer) else None
    place_it = named.placer if named else chosen
    is_custom = not (named and named.is_ours)
    before = digest(problem) if is_custom else b""
    started, cpu_started = work_clock.both()
    with _as_placer_error(name if named and is_custom else ""), within(name), counting() as counted:
        if isinstance(place_it, BasePlacer):
            place_it.check_supports(problem)
            found = place_it.run(problem, rng, start)
        else:
            found = Found(place_it(problem, rng, start))
    ended, cpu_ended = work_clock.both()
    if is_custom and digest(problem) != before:
        problem.forget()
        raise CustomPlacerError(f"placer {name!r} changed arrays of the problem; copy them first")
    if is_custom:
        _check(problem, name, found)
    return Outcome(found, ended - started, cpu_ended - cpu_started, counted.evaluations)


def improving(placer: str | Placer) -> BasePlacer | None:
    """Return a placer that begins from a placement which it improves; None if it builds them."""
    made = placer_of(placer)
    return made if isinstance(made, BasePlacer) and made.begins_from else None


def check_start(placer: str | Placer, start: Placement | None) -> None:
    """Refuse an initial placement for a placer that would not use it; a user's own always may.

    Raises
    ------
    UsageError
        If `start` is not None and the placer does not accept an initial placement.
    """
    if start is None:
        return
    chosen = ready(placer) if isinstance(placer, str) else placer
    if isinstance(chosen, NamedPlacer) and not chosen.accepts_start:
        raise UsageError(
            f"placer {chosen.text!r} does not accept an initial placement; choose from "
            f"{', '.join(taking_start())}, or a policy that refines placements"
        )


@contextmanager
def _as_placer_error(placer: str) -> Iterator[None]:
    """Turn an error in the code of a custom placer that has a name into one line.

    What such a placer prints goes to stderr, as a command may print JSON. The error of an object
    propagates, since its author needs the traceback.
    """
    if not placer:
        yield
        return
    try:
        with redirect_stdout(sys.stderr):
            yield
    except StreamplaceError:
        raise
    except (Exception, SystemExit):
        try:
            with named_fault(custom.NOUN, placer, "placing failed"):
                raise
        except UsageError as error:
            raise CustomPlacerError(str(error)) from error.__cause__


def _check(problem: Problem, name: str, found: Found) -> None:
    """Refuse what a custom placer returned unless it is a feasible placement of the problem."""
    placement: object = found.placement
    if not isinstance(placement, Placement):
        what = type(placement).__name__
        raise CustomPlacerError(f"placer {name!r} must return a Placement (got {what})")
    if placement.problem is not problem:
        fix = "return Placement(problem, …) of the problem passed to it"
        raise CustomPlacerError(f"placer {name!r} returned a placement of another problem; {fix}")
    broken = problem.feasibility.violation(placement.devices)
    if broken is not None:
        raise CustomPlacerError(f"placer {name!r} violated a constraint: {broken}")
    if found.own_order is not None and not _is_order(found.own_order, problem.graph):
        wanted = "must have every operator's index once, each after its inputs"
        raise CustomPlacerError(f"placer {name!r}: own_order {wanted}")


def _is_order(operators: Ints, graph: StreamGraph) -> bool:
    """Return whether an order has every operator once, after its inputs."""
    if not np.array_equal(np.sort(operators), np.arange(len(graph.names))):
        return False
    position = np.argsort(operators)
    return bool((position[graph.stream_source] < position[graph.stream_target]).all())


def name_of(placer: str | Placer) -> str:
    """Return the name of a placer in tables: its name with options, or its function or class.

    Raises
    ------
    UsageError
        If it is not a placer.
    """
    if isinstance(placer, str):
        return placer
    if isinstance(placer, NamedPlacer):
        return placer.text
    name = getattr(placer, "__name__", type(placer).__name__)
    custom.checked(name, placer)
    return str(name)
