"""The graphs that episodes are drawn from."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from streamplace.errors import UsageError
from streamplace.files import read_dataset
from streamplace.generate import Recipe
from streamplace.problem.graph import StreamGraph
from streamplace.util.checks import check_type

DEFAULT = Recipe("series-parallel", 1000, sizes=range(6, 13))


class Generated(Sequence[StreamGraph]):
    """The graphs of a recipe, each generated when it is accessed."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe

    def __len__(self) -> int:
        return self._recipe.count

    def __getitem__(self, number: int) -> StreamGraph:  # type: ignore[override]  # no slices
        return self._recipe.graph(number)


def graphs_of(
    source: str | Path | Recipe | StreamGraph | Sequence[StreamGraph],
) -> Sequence[StreamGraph]:
    """Return a sequence of graphs: those of a dataset or a recipe, or the graphs themselves.

    Raises
    ------
    FormatError
        If a dataset cannot be read.
    UsageError
        If there are no graphs, or one of them is not a StreamGraph.
    """
    if isinstance(source, Recipe):
        return Generated(source)
    if isinstance(source, StreamGraph):
        return (source,)
    if isinstance(source, str | Path):
        return read_dataset(source)
    check_type("graphs:", source, Iterable, UsageError)
    graphs = tuple(source)
    if not graphs or not all(isinstance(graph, StreamGraph) for graph in graphs):
        raise UsageError("graphs: must be at least one StreamGraph")
    return graphs
