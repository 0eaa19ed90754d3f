"""Checks of users' families of graphs and of users' placers."""

from collections.abc import Iterator

import numpy as np

from streamplace.errors import StreamplaceError
from streamplace.families import Family, Recipe
from streamplace.families.family import name_of as name_of_family
from streamplace.placers.base import Placer
from streamplace.placers.running import name_of
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Throughput
from streamplace.problem.objectives import make_objective, text_of
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.workflows.place import place

GRAPHS, DEVICES = 3, 4
ROWS = 12
ROUNDING = 1e-9
COUNT = 6

UNEQUAL = Cluster(
    [Device("a", 1500.0), Device("b", 2500.0, cores=2), Device("c", 2000.0)], Network("nic", 100.0)
)


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
    name = name_of_family(family)
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


def check_placer(placer: str | Placer) -> None:
    """Check that a placer respects constraints, and places the same from the same seed.

    All problems can be placed; a placer that refuses one of them fails.

    Parameters
    ----------
    placer
        A placer, its name with options, or ``module:Class``.

    Raises
    ------
    AssertionError
        If the placer fails the check, in one line.
    """
    try:
        name = name_of(placer)
    except StreamplaceError as error:
        raise AssertionError(str(error)) from error
    for graph, cluster, constraints in _problems():
        try:
            first, second = (
                place(
                    graph, cluster, source_rate=1e4, constraints=constraints, placer=placer, seed=3
                ).placement
                for _ in range(2)
            )
        except StreamplaceError as error:
            who = "" if name in str(error) else f"{name}: "
            raise AssertionError(f"{who}graph {graph.name}: {error}") from error
        except Exception as error:
            fault = f"it raised {type(error).__name__}: {' '.join(str(error).split())}"
            raise AssertionError(f"{name}: graph {graph.name}: {fault}") from error
        if first.assignment != second.assignment:
            fault = "the same seed gives two placements; draw random numbers only from rng"
            raise AssertionError(f"{name}: graph {graph.name}: {fault}")


def _problems() -> Iterator[tuple[StreamGraph, Cluster, Constraints | None]]:
    """Yield graphs with clusters and constraints: equal and unequal devices, and one device."""
    recipe = Recipe("layered", 4, range(8, 15), seed=5)
    graphs = [recipe.graph(number) for number in range(4)]
    yield graphs[0], Cluster.equal(3), None
    yield graphs[1], UNEQUAL, None
    first, second, *_ = graphs[2].names
    yield graphs[2], UNEQUAL, Constraints(pins={first: "b"}, exlocate=[[first, second]])
    first, second, third, *_ = graphs[3].names
    rules = Constraints(colocate=[[first, second]], allowed={third: ["a", "c"]})
    yield graphs[3], UNEQUAL, rules
    yield graphs[0], Cluster.equal(1), None
