"""The cases of a comparison, each a graph on a cluster, and what tables of all kinds share."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from streamplace.display.text import aligned, quoted
from streamplace.display.view import TABLE_ROWS, Grid, Line, View
from streamplace.errors import UsageError
from streamplace.files import StoredGraphs, write_json
from streamplace.files.reading import to_csv
from streamplace.files.writing import make_folder, write_text
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.util.suggest import candidates
from streamplace.util.text import counted

Graphs = StreamGraph | StoredGraphs | Iterable[StreamGraph]


@dataclass(frozen=True)
class CaseList:
    """Which cases a comparison has, and in which order.

    Parameters
    ----------
    graphs
        The names of the graphs.
    clusters
        The number of clusters; None: one cluster serves all graphs.
    cross
        Whether every graph is on every cluster; otherwise graph i is on cluster i.
    """

    graphs: tuple[str, ...]
    clusters: int | None = None
    cross: bool = False

    def __len__(self) -> int:
        return len(self.graphs) * self.per_graph

    @property
    def per_graph(self) -> int:
        """The number of cases of each graph."""
        return (self.clusters or 1) if self.cross else 1

    def numbers(self) -> Iterator[tuple[int, int]]:
        """Yield the numbers of graph and cluster of each case, graph by graph."""
        for graph in range(len(self.graphs)):
            if self.cross:
                yield from ((graph, cluster) for cluster in range(self.per_graph))
            else:
                yield graph, 0 if self.clusters is None else graph

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the name of the graph of each case and, with several clusters, their numbers."""
        for graph, cluster in self.numbers():
            where = {} if self.clusters is None else {"cluster": cluster}
            yield {"graph": self.graphs[graph], **where}

    def entries(self) -> dict[str, Any]:
        """Return the numbers of graphs and clusters as `compare --json` prints them."""
        where = {} if self.clusters is None else {"clusters": self.clusters, "cross": self.cross}
        return {"graphs": len(self.graphs), **where}

    def __str__(self) -> str:
        text = counted(len(self.graphs), "graph")
        if self.clusters is None:
            return text
        return f"{text} on {counted(self.clusters, 'cluster')}{' each' * self.cross}"


class Case(NamedTuple):
    """A graph on a cluster, with their numbers.

    `seeds` are the numbers that, with the seed of a comparison, start its random numbers.
    """

    seeds: tuple[int, ...]
    name: str
    graph: StreamGraph
    cluster: Cluster


@dataclass(frozen=True)
class Cases:
    """The cases of a comparison, which can be iterated repeatedly; graphs of files are read then.

    Parameters
    ----------
    graphs
        The graphs.
    clusters
        The clusters; one for all graphs if the list has no number of clusters.
    listed
        The cases.
    """

    graphs: StoredGraphs | Sequence[StreamGraph]
    clusters: Sequence[Cluster]
    listed: CaseList

    @classmethod
    def of(
        cls,
        graphs: Graphs,
        cluster: Cluster | str | None = None,
        clusters: Iterable[Cluster] | None = None,
        cross: bool = False,
    ) -> "Cases":
        """Return the cases that arguments of `compare` describe.

        Raises
        ------
        UsageError
            If a graph or cluster is not one, or the numbers of graphs and clusters do not match.
        """
        several, names = _named_graphs(graphs)
        if clusters is None:
            if cross:
                raise UsageError("compare: cross requires clusters")
            return cls(several, (Cluster.of(cluster),), CaseList(names))
        if cluster is not None:
            raise UsageError("compare: cannot combine cluster with clusters")
        places = _checked(clusters)
        if not cross and names and len(places) != len(names):
            raise UsageError(
                f"compare: expected {counted(len(names), 'cluster')}, one per graph (got "
                f"{len(places):,}); cross=True places every graph on every cluster"
            )
        return cls(several, places, CaseList(names, len(places), cross))

    def __len__(self) -> int:
        return len(self.listed)

    def __iter__(self) -> Iterator[Case]:
        listed = self.listed
        for number, graph in enumerate(self.graphs):
            name = graph.name or f"graph {number}"
            if listed.cross:
                for k, cluster in enumerate(self.clusters):
                    yield Case((number, k), f"{name}: cluster {k}", graph, cluster)
            elif listed.clusters is None:
                yield Case((number,), name, graph, self.clusters[0])
            else:
                where = f"{name}: cluster {number}"
                yield Case((number,), where, graph, self.clusters[number])


def _named_graphs(
    source: Graphs,
) -> tuple[StoredGraphs | list[StreamGraph], tuple[str, ...]]:
    if isinstance(source, StoredGraphs):
        return source, tuple(source.names)
    if isinstance(source, StreamGraph):
        source = [source]
    graphs = [] if isinstance(source, str) else list(source)
    if isinstance(source, str) or not all(isinstance(graph, StreamGraph) for graph in graphs):
        raise UsageError("compare: graphs must be StreamGraph objects; read_dataset reads files")
    return graphs, tuple(graph.name for graph in graphs)


def _checked(clusters: Iterable[Cluster]) -> list[Cluster]:
    """Return clusters as a list, after checking each; text such as ``5x2500`` is a cluster too."""
    if isinstance(clusters, str | Cluster):
        raise UsageError("compare: clusters must be several clusters; cluster takes one")
    places = [Cluster.of(cluster) for cluster in clusters]
    if not places:
        raise UsageError("compare: expected at least one cluster (got none)")
    return places


ROWS_SHOWN = 24  # in a repr
SAVED = ("compare.json", "table.csv", "graphs.csv")
INTERVAL = "95% interval"
"""The heading of the interval of the mean difference from a placer, or ratio to it."""


def index_of(placer: str, placers: Sequence[str]) -> int:
    """Return the row of a placer.

    Raises
    ------
    UsageError
        If it was not compared.
    """
    if placer not in placers:
        raise UsageError(f"placer {placer!r} was not compared{candidates(placer, placers)}")
    return placers.index(placer)


def labelled_as(name: str, placers: Sequence[str], labels: Mapping[str, str]) -> str | None:
    """Return how the table calls the placer of a name, see `Comparison`; None if it is absent."""
    return next((placer for placer in placers if labels.get(placer, placer) == name), None)


def table_view(
    headline: str,
    line: Line,
    head: tuple[str, ...],
    count: int,
    cells: Callable[[int], tuple[str, ...]],
    expendable: tuple[str, ...],
) -> View:
    """Return the view of a comparison: its headline in a repr, or its first line and its table.

    Parameters
    ----------
    cells
        Function from a row number to the cells of the row, of which the first is a placer's name.
    expendable
        Headings of columns that are dropped, in this order, if the table is too wide to show names.
    """
    shown = (cells(i) for i in range(min(count, ROWS_SHOWN)))
    lines = aligned([head, *((quoted(name)[1:-1], *others) for name, *others in shown)])
    if count > ROWS_SHOWN:
        lines.append(f"and {counted(count - ROWS_SHOWN, 'more row')}")
    table = Grid(head, count, cells, expendable=tuple(x for x in expendable if x in head))
    return View(headline, tuple(lines), (line, table), TABLE_ROWS)


def rows_as_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows with the same keys as CSV."""
    return to_csv(list(rows[0]), (row.values() for row in rows))


def save_tables(
    folder: str | Path,
    document: dict[str, Any],
    rows: Sequence[dict[str, Any]],
    cases: Iterable[dict[str, Any]],
) -> None:
    """Write compare.json (`document`), table.csv (`rows`) and graphs.csv (`cases`) to a folder."""
    folder = make_folder(folder)
    paths = [folder / name for name in SAVED]
    write_json(paths[0], document)
    for path, lines in ((paths[1], rows), (paths[2], list(cases))):
        write_text(path, rows_as_csv(lines))
