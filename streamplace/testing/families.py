"""Checks of families of graphs."""

from streamplace.errors import StreamplaceError
from streamplace.families import Family, Recipe
from streamplace.families.family import name_of

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
        raise AssertionError(f"{name}: {error}") from None
    _require(graphs == backwards, name, "graphs depend on the order in which they are drawn")
    _require(graphs == beginning, name, "graphs depend on the number of graphs in the dataset")
    _require(graphs != others, name, "graphs do not depend on the seed")


def _require(condition: bool, name: str, fault: str) -> None:
    if not condition:
        raise AssertionError(f"{name}: {fault}")
