"""The conformance check of graph families."""

import numpy as np

from streamplace.errors import StreamplaceError
from streamplace.generate import Family, Recipe
from streamplace.generate.family import name_of
from streamplace.problem.cluster import Cluster
from streamplace.problem.objective import Throughput
from streamplace.problem.objectives import make_objective, text_of
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator

GRAPHS, DEVICES = 3, 4
ROWS = 12
ROUNDING = 1e-9


def check_objective(objective: str | Throughput) -> None:
    """Check that the worth of a placement depends on nothing but that placement.

    The range of the worth, from 0 to the throughput, is checked as well.

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
        if not isinstance(own, Throughput):
            raise AssertionError(f"{name}: is not a subclass of streamplace.Throughput")
        for number in range(GRAPHS):
            _check(name, own, number)
    except StreamplaceError as error:
        raise AssertionError(f"{name}: {error}") from error


def _check(name: str, objective: Throughput, number: int) -> None:
    graph = Recipe("layered", GRAPHS, range(6, 12), seed=9).graph(number)
    problem = Problem(graph, Cluster.equal(DEVICES), objective=objective.with_changes(2e4))
    shape, worth = (ROWS, len(graph.names)), evaluator(problem).quality
    rows = np.random.default_rng(number).integers(0, DEVICES, shape, dtype=np.int32)
    together, backwards = worth(rows), worth(rows[::-1].copy())[::-1]
    alone = np.array([worth(row[None])[0] for row in rows])
    for other in (alone, backwards):
        if not np.allclose(together, other, rtol=ROUNDING, atol=0.0):
            fault = "the worth of a placement depends on other placements of the same call"
            raise AssertionError(f"{name}: {fault}, or on earlier calls")


COUNT = 6


def check_family(family: str | Family) -> None:
    """Check that a family draws the same graphs from the same seed, in any order.

    Every graph must be valid. Graphs from two seeds must differ.

    Parameters
    ----------
    family
        A family, its name as an entry point, or ``module:function``.

    Raises
    ------
    AssertionError
        If the family fails the check, in one line.
    """
    name = name_of(family)
    try:
        one, longer, other = (
            Recipe(family, count, seed=seed)
            for count, seed in ((COUNT, 0), (2 * COUNT, 0), (COUNT, 1))
        )
        graphs = [one.graph(number) for number in range(COUNT)]
        backwards = [one.graph(number) for number in reversed(range(COUNT))][::-1]
        beginning = [longer.graph(number) for number in range(COUNT)]
        others = [other.graph(number) for number in range(COUNT)]
    except StreamplaceError as error:
        raise AssertionError(f"{name}: {error}") from error
    _require(graphs == backwards, name, "graphs depend on the order in which they are drawn")
    _require(graphs == beginning, name, "graphs depend on the number of graphs in the dataset")
    _require(graphs != others, name, "graphs do not depend on the seed")


def _require(condition: bool, name: str, fault: str) -> None:
    if not condition:
        raise AssertionError(f"{name}: {fault}")
