"""Graph families whose number of operators is drawn at random, and what one graph is drawn from."""

from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn, Protocol, runtime_checkable

import numpy as np

from streamplace.errors import UsageError
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.util import entry_points, plugins
from streamplace.util.plugins import check_call, made, named_fault

SOURCE_RATE = 10_000.0  # tuples/s
DEVICE_MIPS = 2500.0  # million instructions/s
INSTRUCTIONS_PER_DEVICE = DEVICE_MIPS * 1e6 / SOURCE_RATE  # capacity per source tuple


MAX_SIZE = 10**6  # of an axis of a tensor
NOUN = "family"
DEFAULT_SIZES = range(10, 51)
DEFAULT_LEAST = 4  # operators
MAX_OPERATORS = 10**6
TYPE_NAMES = {int: "a whole number", range: "a range"}
GROUP = "streamplace.families"

FAMILIES = {
    "series-parallel": "streamplace.families.layered:series_parallel",
    "layered": "streamplace.families.layered:layered",
    **entry_points.ours(GROUP),
}
"""The built-in families, by name; they are imported on first use."""


def check_range(what: str, value: float, largest: float, smallest: float = 1) -> None:
    """Raise UsageError for an option that is out of range."""
    if not smallest <= value <= largest:
        raise UsageError(f"{what} must be {smallest:g} to {largest:g} (got {value:g})")


@dataclass(frozen=True)
class Draw:
    """One graph of a dataset, before it is drawn.

    Parameters
    ----------
    number, count
        Number of the graph, and number of graphs of the dataset.
    sizes
        Numbers of operators to draw from; None leaves them to the family.
    seed
        Seed of the dataset.
    name
        Name of the graph.
    """

    number: int
    count: int
    sizes: range | None
    seed: int
    name: str

    def rng(self, *part: int) -> np.random.Generator:
        """Return the graph's own random generator, or that of a numbered part of it."""
        seed = np.random.SeedSequence([self.seed, self.number, *part])
        return np.random.Generator(np.random.PCG64(seed))


class Family(Protocol):
    """A function or object that generates a stream graph.

    It may have the attributes `sizes`, the default range of numbers of operators (otherwise 10 to
    50), and `least`, the smallest number of operators that it can generate (otherwise 4).
    """

    def __call__(self, operators: int, rng: np.random.Generator, name: str) -> StreamGraph:
        """Return a graph.

        Parameters
        ----------
        operators
            Number of operators to generate; a nearby number if the family cannot generate it.
        rng
            Random generator, the only source of randomness.
        name
            Name of the graph.
        """
        ...


@dataclass(frozen=True)
class SizedGraphs:
    """The graphs of a family, each with a number of operators drawn from `sizes`.

    Parameters
    ----------
    text
        Name of the family with its options.
    family
        The family itself.

    Raises
    ------
    UsageError
        If `family` cannot be called as a `Family`, or its `least` or `sizes` is wrong.
    """

    text: str
    family: Family

    def __post_init__(self) -> None:
        check_call(self.text, self.family, NOUN, ("operators", "rng", "name"))
        least, sizes = self._own("least", int), self._own("sizes", range)
        if least is not None and not 1 <= least <= MAX_OPERATORS:
            self._refuse(f"least must be 1 to {MAX_OPERATORS} (got {least})")
        if sizes is not None and not (
            self.least <= min(sizes, default=0) and max(sizes) <= MAX_OPERATORS
        ):
            self._refuse(f"sizes must be {self.least} to {MAX_OPERATORS} (got {sizes})")

    @property
    def least(self) -> int:
        """The smallest number of operators that the family can generate."""
        return int(getattr(self.family, "least", DEFAULT_LEAST))

    @property
    def sizes(self) -> range:
        """The default range of numbers of operators."""
        default = range(
            max(DEFAULT_SIZES.start, self.least), max(DEFAULT_SIZES.stop, self.least + 1)
        )
        sizes: range = getattr(self.family, "sizes", default)
        return sizes

    def check(self, count: int, sizes: range | None) -> None:
        """Raise UsageError for numbers of operators that the family cannot generate."""
        if sizes is not None and not self.least <= sizes.start < sizes.stop <= MAX_OPERATORS + 1:
            got = f"{sizes.start}" if len(sizes) == 1 else f"{sizes.start}-{sizes.stop - 1}"
            text = f"operators must be {self.least} to {MAX_OPERATORS} (got {got})"
            if sizes.start < self.least and self.text not in FAMILIES:
                default = "" if hasattr(self.family, "least") else ", the default"
                why = f"the attribute 'least' of the family {self.text} is {self.least}{default}"
                text = f"{text}; {why}"
            raise UsageError(text)

    def graph(self, draw: Draw) -> StreamGraph:
        """Return one graph.

        Raises
        ------
        UsageError
            If the family raises, or returns something other than a graph of this name.
        """
        sizes = draw.sizes or self.sizes
        rng = draw.rng()
        operators = sizes[int(rng.random() * len(sizes))]
        where = f"graph {draw.number}"
        with named_fault(NOUN, self.text, place=where):
            made: object = self.family(operators, rng, draw.name)
        if not isinstance(made, StreamGraph):
            self._refuse(f"{where}: must be a StreamGraph, not {type(made).__name__}")
        if made.name != draw.name:
            self._refuse(f"{where}: its name must be {draw.name!r}, not {made.name!r}")
        return made

    def _own(self, attribute: str, kind: type) -> Any:
        """Return an attribute of the family, checked; None if it has none."""
        value = getattr(self.family, attribute, None)
        if value is not None and (isinstance(value, bool) or not isinstance(value, kind)):
            self._refuse(f"{attribute} must be {TYPE_NAMES[kind]} (got {value!r:.40})")
        return value

    def _refuse(self, fault: str) -> NoReturn:
        raise UsageError(f"{NOUN} {self.text!r}: {fault}")


class GraphSource(Protocol):
    """A source of the graphs of a dataset."""

    def check(self, count: int, sizes: range | None) -> None:
        """Refuse a dataset that cannot be generated."""
        ...

    def graph(self, draw: Draw) -> StreamGraph:
        """Return one graph."""
        ...


@runtime_checkable
class ClusterSource(Protocol):
    """A source of graphs that come with clusters."""

    def cluster(self, draw: Draw) -> Cluster:
        """Return the cluster of one graph."""
        ...


def family_names() -> list[str]:
    """Return the names of the built-in families, then those of installed packages."""
    return plugins.names_of(GROUP, FAMILIES)


def name_of(family: str | Family) -> str:
    """Return the name of a family with its options, or the name of its function or class."""
    if isinstance(family, str):
        return family
    return str(getattr(family, "__name__", type(family).__name__))


def graph_source(family: str | Family) -> GraphSource:
    """Return the source of a family's graphs.

    Raises
    ------
    UsageError
        On an unknown name or option, or a custom family that cannot be loaded.
    """
    return _named(family) if isinstance(family, str) else SizedGraphs(name_of(family), family)


@cache
def _named(text: str) -> GraphSource:
    if not plugins.is_ours(text, FAMILIES):
        custom = plugins.find(text, NOUN, GROUP, FAMILIES, form="module:function")
        return SizedGraphs(text, made(text, *custom, NOUN))
    name, *options = text.split(":")
    loaded = made(text, plugins.load_ours(FAMILIES[name]), options, NOUN)
    source: GraphSource = loaded if hasattr(loaded, "graph") else SizedGraphs(text, loaded)
    return source
