"""Checks of objectives."""

import numpy as np

from streamplace.errors import StreamplaceError
from streamplace.families import Recipe
from streamplace.problem.cluster import Cluster
from streamplace.problem.objective import Objective
from streamplace.problem.objectives import make_objective, text_of
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator

GRAPHS, DEVICES = 3, 4
ROWS = 12
ROUNDING = 1e-9


def check_objective(objective: str | Objective) -> None:
    """Check that the worth of a placement depends on nothing but that placement.

    The range is checked as well: of the worth from 0 to the throughput, and of values from 0.

    Parameters
    ----------
    objective
        An objective, its name with options, or ``module:Class``.

    Raises
    ------
    AssertionError
        If the objective fails the check, in one line.
    """
    name = objective if isinstance(objective, str) else text_of(objective)
    try:
        own = make_objective(objective) if isinstance(objective, str) else objective
        for number in range(GRAPHS):
            _check(name, own, number)
    except StreamplaceError as error:
        raise AssertionError(f"{name}: {error}") from None


def _check(name: str, objective: Objective, number: int) -> None:
    graph = Recipe("layered", GRAPHS, range(6, 12), seed=9).graph(number)
    at_rate = objective.with_changes(2e4) if objective.has_rates else objective
    problem = Problem(graph, Cluster.equal(DEVICES), objective=at_rate)
    shape, worth = (ROWS, len(graph.names)), evaluator(problem).quality
    rows = np.random.default_rng(number).integers(0, DEVICES, shape, dtype=np.int32)
    together, backwards = worth(rows), worth(rows[::-1].copy())[::-1]
    alone = np.array([worth(row[None])[0] for row in rows])
    for other in (alone, backwards):
        if not np.allclose(together, other, rtol=ROUNDING, atol=0.0):
            fault = "the worth of a placement depends on other placements of the same call"
            raise AssertionError(f"{name}: {fault}, or on earlier calls")
