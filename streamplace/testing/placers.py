"""Checks of placers."""

from collections.abc import Iterator
from pathlib import Path
from traceback import extract_tb

from streamplace.errors import CustomPlacerError, StreamplaceError
from streamplace.families import Recipe
from streamplace.placers.base import Placer
from streamplace.placers.running import name_of
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.workflows.place import place

UNEQUAL = Cluster(
    [Device("a", 1500.0), Device("b", 2500.0, cores=2), Device("c", 2000.0)], Network("nic", 100.0)
)


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
        raise AssertionError(str(error)) from None
    for graph, cluster, constraints in _problems():
        try:
            first, second = (
                place(
                    graph, cluster, source_rate=1e4, constraints=constraints, placer=placer, seed=3
                ).placement
                for _ in range(2)
            )
        except StreamplaceError as error:
            is_named = isinstance(error, CustomPlacerError) or name in error.fault.place
            who = "" if is_named else f"{name}: "
            raise AssertionError(f"{who}graph {graph.name}: {error}") from None
        except Exception as error:
            last = extract_tb(error.__traceback__)[-1]
            at = f"{Path(last.filename).name}, line {last.lineno}"
            fault = f"it raised {type(error).__name__} in {at}: {' '.join(str(error).split())}"
            raise AssertionError(f"{name}: graph {graph.name}: {fault}") from None
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
