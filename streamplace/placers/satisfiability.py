"""The question whether any placement obeys the rules of a problem, whatever it would score."""

from contextlib import suppress

import numpy as np

from sim import work_clock
from streamplace.errors import InfeasibleError, PlacementError, UsageError
from streamplace.placers.exact.decision import DecisionProblem
from streamplace.placers.repair import assign
from streamplace.placers.search.annealing import Budget
from streamplace.problem.problem import Problem

STEPS = 2_000  # of the search that needs no preparation and decides most problems
NODES = 100_000  # of the search that learns from failures
EFFORT = 1.0  # of CP-SAT, in its deterministic seconds
MAX_SIZE = 4_000_000  # units x units x devices: the tables of larger problems take too much memory


def satisfiable(problem: Problem, clock: Budget) -> bool | None:
    """Return whether a problem has a feasible placement; None if that was not decided in time.

    Its streams and costs should be negligible, as in `RuledParts.with_only`: a placement counts
    only if it carries the source rate.
    """
    rules = problem.feasibility
    if rules.is_free:
        return True
    preferred = [np.flatnonzero(row).tolist() for row in rules.allowed]
    try:
        assign(problem, preferred, STEPS)
    except InfeasibleError:
        return False
    except PlacementError:
        return _decided(problem, clock)
    return True


def _decided(problem: Problem, clock: Budget) -> bool | None:
    units, devices = problem.feasibility.unit_count, len(problem.cluster.devices)
    if units**2 * devices > MAX_SIZE or clock.seconds_left() <= 0:
        return None
    decision = DecisionProblem(problem, problem.source_rate)
    outcome = decision.search(NODES, clock)
    if outcome.open and clock.seconds_left() > 0:
        with suppress(UsageError):  # OR-tools is not installed
            with work_clock.loading():
                from streamplace.placers.exact.cp_sat import Model  # noqa: PLC0415 - slow to load

            if Model.is_small(decision):
                outcome = Model(decision, 1, 0).search(EFFORT, clock)
    if outcome.found is not None:
        return problem.feasibility.violation(outcome.found.devices) is None or None
    return False if outcome.proven else None
