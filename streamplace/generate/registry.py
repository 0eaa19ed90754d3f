"""The table of graph families: ours, those of installed packages, and ``module:function``."""

from functools import cache
from typing import Protocol

import numpy as np

from streamplace.generate.family import NOUN, Family, SizedGraphs
from streamplace.problem.graph import StreamGraph
from streamplace.util import plugins
from streamplace.util.plugin_calls import made, read_options

GROUP = "streamplace.families"
FAMILIES = {
    "dream": "streamplace.generate.dream:Dream",
    "series-parallel": "streamplace.generate.series_parallel:series_parallel",
    "layered": "streamplace.generate.layered:layered",
}
"""Our families, by name; they are loaded when they are used."""


class GraphSource(Protocol):
    """What makes the graphs of a dataset, one by one."""

    def check(self, count: int, sizes: range | None) -> None:
        """Refuse a dataset that cannot be made."""
        ...

    def graph(
        self, number: int, count: int, sizes: range | None, rng: np.random.Generator, name: str
    ) -> StreamGraph:
        """Return one graph of `count`, with a number of operators out of `sizes`."""
        ...


def family_names() -> list[str]:
    """Return the names of our families, then those of installed packages."""
    return plugins.names_of(GROUP, FAMILIES)


def name_of(family: str | Family) -> str:
    """Return what a family is called: its name with options, or that of its code."""
    if isinstance(family, str):
        return family
    return str(getattr(family, "__name__", type(family).__name__))


def graph_source(family: str | Family) -> GraphSource:
    """Return what makes the graphs of a family.

    Raises
    ------
    UsageError
        On an unknown name or option, or a family of the user's own that cannot be had.
    """
    return _named(family) if isinstance(family, str) else SizedGraphs(name_of(family), family)


@cache
def _named(text: str) -> GraphSource:
    if not plugins.is_ours(text, FAMILIES):
        of_user = plugins.find(text, NOUN, GROUP, FAMILIES, form="module:function")
        return SizedGraphs(text, made(text, *of_user, NOUN))
    name, *options = text.split(":")
    read_options(text, options, {}, NOUN)  # ours have none
    found = plugins.load_ours(FAMILIES[name])
    source: GraphSource = found() if isinstance(found, type) else SizedGraphs(name, found)
    return source
