"""Conversion between stream graphs and networkx graphs."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from streamplace.errors import GraphError
from streamplace.problem.details import DETAILS, STREAM_DETAILS, details_of
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.operators import UNKNOWN, standard_errors_of
from streamplace.util.suggest import closest_match

if TYPE_CHECKING:
    import networkx


OF_NODES = (
    "instructions",
    "payload_bytes",
    "memory_bytes",
    "requires",
    "instance_of",
    "cores",
    "instructions_se",
    "payload_bytes_se",
    *(detail.name for detail in DETAILS),
)
OF_EDGES = (
    "selectivity",
    "payload_bytes",
    "selectivity_se",
    *(detail.name for detail in STREAM_DETAILS),
)


def to_networkx(graph: StreamGraph) -> "networkx.DiGraph[str]":
    """Return a networkx graph whose nodes are operator names.

    Nodes have the attributes ``instructions``, ``payload_bytes``, ``memory_bytes``, ``requires``,
    ``cores`` if above 1 and, for instances, ``instance_of``; edges have ``selectivity`` and
    ``payload_bytes``. Standard errors other than 0 are attributes too: ``instructions_se``,
    ``payload_bytes_se``, ``selectivity_se``; so are the fields of `Operator` from ``resources`` and
    ``seconds_on`` on, and ``partitioning`` and ``key_shares`` of `Stream`, that are not empty. The
    graph has ``name``, ``source_rate`` and ``source_shares``, and ``firing`` and ``multicast`` if
    they differ from their default. The
    result is a MultiDiGraph if two streams join the same two operators, otherwise a DiGraph.
    Constraints are not converted.
    """
    import networkx  # noqa: PLC0415 - heavy

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
        made.add_node(
            operator.name,
            instructions=operator.instructions,
            payload_bytes=operator.payload_bytes,
            memory_bytes=operator.memory_bytes,
            requires=operator.requires,
        )
        if operator.instance_of:
            made.nodes[operator.name]["instance_of"] = operator.instance_of
        if operator.cores > 1:
            made.nodes[operator.name]["cores"] = operator.cores
        made.nodes[operator.name].update(details_of(operator))
        made.nodes[operator.name].update(standard_errors_of(operator))
    for stream in graph.streams:
        made.add_edge(
            stream.source,
            stream.target,
            selectivity=stream.selectivity,
            payload_bytes=stream.payload_bytes,
            **details_of(stream),
            **standard_errors_of(stream),
        )
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
    if not graph.is_directed():
        raise GraphError("the networkx graph must be directed")
    _refuse_misspelt("nodes", OF_NODES, (data for _, data in graph.nodes(data=True)))
    _refuse_misspelt("edges", OF_EDGES, (data for _, _, data in graph.edges(data=True)))
    operators = []
    for node, data in graph.nodes(data=True):
        if "instructions" not in data and not data.get("seconds_on"):
            raise GraphError(f"node {str(node)!r} has no attribute 'instructions'")
        operators.append(
            Operator(
                str(node),
                data.get("instructions", UNKNOWN),
                data.get("payload_bytes", 0.0),
                data.get("memory_bytes", 0.0),
                data.get("requires", ()),
                data.get("instance_of", ""),
                data.get("cores", 1),
                instructions_se=data.get("instructions_se", 0.0),
                payload_bytes_se=data.get("payload_bytes_se", 0.0),
                **{each.name: data.get(each.name, each.default) for each in DETAILS},
            )
        )
    streams = [
        Stream(
            str(a),
            str(b),
            data.get("selectivity", 1.0),
            data.get("payload_bytes"),
            data.get("selectivity_se", 0.0),
            **{each.name: data.get(each.name, each.default) for each in STREAM_DETAILS},
        )
        for a, b, data in graph.edges(data=True)
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


def _refuse_misspelt(
    rows: str, known: tuple[str, ...], several: Iterable[Mapping[Any, Any]]
) -> None:
    """Refuse attributes that resemble a known one, since they would be ignored."""
    existing = {name: None for data in several for name in data}
    for name in existing:
        if name not in known and (meant := closest_match(name, known)) not in (None, *existing):
            raise GraphError(f"{rows}: unknown attribute {name!r}; did you mean {meant!r}?")
