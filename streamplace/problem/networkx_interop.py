"""Conversion between stream graphs and networkx graphs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import networkx

from streamplace.errors import GraphError
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.operators import OPERATOR_FIELDS, STREAM_FIELDS, UNKNOWN, values_of
from streamplace.util.suggest import closest_match

OF_NODES, OF_EDGES = (
    tuple(each.name for each in several) for several in (OPERATOR_FIELDS, STREAM_FIELDS)
)
ALWAYS = ("instructions", "payload_bytes", "memory_bytes", "requires")
"""Attributes that every node has."""


def to_networkx(graph: StreamGraph) -> "networkx.DiGraph[str]":
    """Return a networkx graph whose nodes are operator names.

    Attributes of nodes and edges are the fields of `Operator` and `Stream`. Nodes always have
    ``instructions``, ``payload_bytes``, ``memory_bytes`` and ``requires``, edges ``selectivity``
    and ``payload_bytes``; others are left out at their default. The graph has ``name``,
    ``source_rate`` and ``source_shares``, and ``firing`` and ``multicast`` if they differ from
    their default. The result is a MultiDiGraph if two streams join the same two operators,
    otherwise a DiGraph. Constraints are not converted.
    """
    ends = set(zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True))
    is_multigraph = len(ends) < len(graph.streams)
    made: networkx.DiGraph[str] = networkx.MultiDiGraph() if is_multigraph else networkx.DiGraph()
    made.graph["name"] = graph.name
    made.graph["source_rate"] = graph.source_rate
    made.graph["source_shares"] = {
        graph.names[v]: float(graph.source_share[v]) for v in graph.sources
    }
    made.graph.update(graph.semantics)
    for operator in graph.operators:
        always = {name: getattr(operator, name) for name in ALWAYS}
        made.add_node(operator.name, **always | values_of(operator) | always)
    for stream in graph.streams:
        always = {name: getattr(stream, name) for name in ("selectivity", "payload_bytes")}
        made.add_edge(stream.source, stream.target, **always | values_of(stream) | always)
    return made


def from_networkx(graph: "networkx.DiGraph[Any]") -> StreamGraph:
    """Return the stream graph of a networkx DiGraph or MultiDiGraph.

    Attributes are those of `to_networkx`. Every node needs ``instructions`` or ``seconds_on``;
    other attributes default as in `Operator` and `Stream`, and payloads of nodes to 0. Node names
    are converted to text. Other attributes are ignored, but one that looks misspelt is an error.

    Raises
    ------
    GraphError
        If the graph is undirected, a node has no instructions, an attribute is misspelt, or the
        result is not a valid stream graph.
    """
    if not hasattr(graph, "is_directed"):
        raise GraphError(f"must be a networkx.DiGraph, not {type(graph).__name__}")
    if not graph.is_directed():
        raise GraphError("the networkx graph must be directed")
    _refuse_misspelt("nodes", OF_NODES, (data for _, data in graph.nodes(data=True)))
    _refuse_misspelt("edges", OF_EDGES, (data for _, _, data in graph.edges(data=True)))
    operators = []
    for node, data in graph.nodes(data=True):
        if "instructions" not in data and not data.get("seconds_on"):
            raise GraphError(f"node {str(node)!r} has no attribute 'instructions'")
        absent = {each.name: each.absent for each in OPERATOR_FIELDS if each.absent is not None}
        values = {"instructions": UNKNOWN} | absent | _known(data, OF_NODES)
        operators.append(Operator(str(node), **values))
    streams = [
        Stream(str(a), str(b), **_known(data, OF_EDGES)) for a, b, data in graph.edges(data=True)
    ]
    shares = graph.graph.get("source_shares")
    return StreamGraph(
        operators,
        streams,
        name=str(graph.graph.get("name", "")),
        source_rate=graph.graph.get("source_rate"),
        source_shares=shares and {str(node): share for node, share in shares.items()},
        firing=graph.graph.get("firing", "each"),
        multicast=graph.graph.get("multicast", "none"),
    )


def _known(data: Mapping[Any, Any], known: Sequence[str]) -> dict[str, Any]:
    return {name: data[name] for name in known if name in data}


def _refuse_misspelt(
    rows: str, known: tuple[str, ...], several: Iterable[Mapping[Any, Any]]
) -> None:
    """Refuse attributes that resemble a known one, since they would be ignored."""
    existing = {name: None for data in several for name in data}
    for name in existing:
        if name not in known and (meant := closest_match(name, known)) not in (None, *existing):
            raise GraphError(f"{rows}: unknown attribute {name!r}; did you mean {meant!r}?")
