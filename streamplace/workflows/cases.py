"""The cases of a comparison, each a graph on a cluster."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from streamplace.errors import UsageError
from streamplace.files import StoredGraphs
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
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
    on
        The devices of the clusters in words; empty: unknown.
    """

    graphs: tuple[str, ...]
    clusters: int | None = None
    cross: bool = False
    on: str = ""

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
            places = [Cluster.of(cluster)]
            return cls(several, places, CaseList(names, on=_devices_in_words(places)))
        if cluster is not None:
            raise UsageError("compare: cannot combine cluster with clusters")
        places = _checked(clusters)
        if not cross and names and len(places) != len(names):
            raise UsageError(
                f"compare: expected {counted(len(names), 'cluster')}, one per graph (got "
                f"{len(places):,}); cross=True places every graph on every cluster"
            )
        listed = CaseList(names, len(places), cross, _devices_in_words(places))
        return cls(several, places, listed)

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


def _devices_in_words(clusters: Sequence[Cluster]) -> str:
    """Return the number of devices of clusters, with their speed if it is the same for all."""
    counts = [len(cluster.devices) for cluster in clusters]
    speeds = {device.mips for cluster in clusters for device in cluster.devices}
    fewest, most = min(counts), max(counts)
    devices = counted(most, "device") if fewest == most else f"{fewest} to {most} devices"
    return devices + (f" of {speeds.pop():,.6g} MIPS" if len(speeds) == 1 else "")


def _checked(clusters: Iterable[Cluster]) -> list[Cluster]:
    """Return clusters as a list, after checking each; text such as ``5x2500`` is a cluster too."""
    if isinstance(clusters, str | Cluster):
        raise UsageError("compare: clusters must be several clusters; cluster takes one")
    places = [Cluster.of(cluster) for cluster in clusters]
    if not places:
        raise UsageError("compare: expected at least one cluster (got none)")
    return places
