"""Families of graphs whose number of operators is drawn, ours and those of users."""

from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import numpy as np

from streamplace.errors import UsageError
from streamplace.problem.graph import StreamGraph
from streamplace.util.plugin_calls import check_call
from streamplace.util.plugins import named_fault

NOUN = "family"
DEFAULT_SIZES = range(10, 51)
LEAST_OPERATORS = 4
MOST_OPERATORS = 10**6


class Family(Protocol):
    """Anything that makes a stream graph: a function, or an object with options.

    It may have an attribute `sizes`, a range of the numbers of operators that it makes where none
    are asked for (10 to 50 by default), and `least`, the fewest that it can make (4).
    """

    def __call__(self, operators: int, rng: np.random.Generator, name: str) -> StreamGraph:
        """Return a graph.

        Parameters
        ----------
        operators
            How many it is to have, or as near to that as the family can come.
        rng
            The only source of chance.
        name
            The name of the graph.
        """
        ...


@dataclass(frozen=True)
class SizedGraphs:
    """The graphs of a family, each with a number of operators drawn from `sizes`.

    Parameters
    ----------
    text
        What the family is called, with its options.

    Raises
    ------
    UsageError
        If it is no family.
    """

    text: str
    family: Family

    def __post_init__(self) -> None:
        check_call(self.text, self.family, NOUN, ("operators", "rng", "name"))
        least, sizes = self._own("least", int), self._own("sizes", range)
        if least is not None and not 1 <= least <= MOST_OPERATORS:
            self._refuse(f"least must be 1 to {MOST_OPERATORS} (got {least})")
        if sizes is not None and not (
            self.least <= min(sizes, default=0) and max(sizes) <= MOST_OPERATORS
        ):
            self._refuse(f"sizes must be {self.least} to {MOST_OPERATORS} (got {sizes})")

    @property
    def least(self) -> int:
        """The fewest operators that the family can make."""
        return int(getattr(self.family, "least", LEAST_OPERATORS))

    @property
    def sizes(self) -> range:
        """The numbers of operators to draw from where none are asked for."""
        default = range(
            max(DEFAULT_SIZES.start, self.least), max(DEFAULT_SIZES.stop, self.least + 1)
        )
        sizes: range = getattr(self.family, "sizes", default)
        return sizes

    def check(self, count: int, sizes: range | None) -> None:
        """Refuse numbers of operators that the family cannot make."""
        if sizes is not None and not self.least <= sizes.start < sizes.stop <= MOST_OPERATORS + 1:
            raise UsageError(f"operators must be {self.least} to {MOST_OPERATORS}")

    def graph(
        self, number: int, count: int, sizes: range | None, rng: np.random.Generator, name: str
    ) -> StreamGraph:
        """Return one graph.

        Raises
        ------
        UsageError
            If the family fails, or makes something else.
        """
        sizes = sizes or self.sizes
        operators = sizes[int(rng.random() * len(sizes))]
        with named_fault(NOUN, self.text, place=f"graph {number}"):
            made: object = self.family(operators, rng, name)
        if not isinstance(made, StreamGraph):
            self._refuse(f"graph {number}: a {type(made).__name__} was returned, not a StreamGraph")
        if made.name != name:
            self._refuse(f"graph {number}: its name must be {name!r}, not {made.name!r}")
        return made

    def _own(self, attribute: str, kind: type) -> Any:
        """Return an attribute of the family, checked; None if it has none."""
        found = getattr(self.family, attribute, None)
        if found is not None and (isinstance(found, bool) or not isinstance(found, kind)):
            self._refuse(f"{attribute} must be {kind.__name__} (got {found!r:.40})")
        return found

    def _refuse(self, fault: str) -> NoReturn:
        raise UsageError(f"{NOUN} {self.text!r}: {fault}")
