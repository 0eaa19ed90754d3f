"""Benchmark graphs, one after the other or in several processes."""

from collections.abc import Generator

from streamplace.execution.backends import LOCAL, Backend
from streamplace.execution.parallel import each
from streamplace.families import Recipe
from streamplace.families.family import Family
from streamplace.problem.graph import StreamGraph


def generate(
    family: str | Family,
    count: int = 1,
    operators: int | range | None = None,
    *,
    seed: int = 0,
    jobs: int | None = None,
    backend: Backend = LOCAL,
) -> Generator[StreamGraph, None, None]:
    """Return benchmark graphs, which are made one after the other as they are needed.

    `Recipe` also has the clusters of families that draw them.

    Parameters
    ----------
    family, count, seed
        As for `Recipe`.
    operators
        Number of operators per graph, or a range to draw from; None: that of the family.
    jobs, backend
        Number of processes, and where they run; the graphs do not depend on them.

    Raises
    ------
    UsageError
        On an unknown family, or a value that is out of range.
    """
    sizes = range(operators, operators + 1) if isinstance(operators, int) else operators
    recipe = Recipe(family, count, sizes, seed)
    return each(recipe.graph, range(recipe.count), jobs, backend)
