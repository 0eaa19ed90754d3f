"""Graphs that every format has written and read again, which keeps every field."""

import pickle
from pathlib import Path

from streamplace import StreamGraph, read_graph
from streamplace.files import write_json
from streamplace.files.graphs import graph_to
from streamplace.files.npz import read_columns, write_columns
from streamplace.formats import dot, graphml
from streamplace.formats.attributes import to_attributed_graph
from streamplace.problem.networkx_interop import from_networkx, to_networkx
from tests.support.documents import read_document


def read_back(graph: StreamGraph, folder: Path) -> dict[str, StreamGraph]:
    """Return what each format keeps of a graph; its files are written into a folder."""
    write_json(folder / "graph.json", graph_to(graph))
    with (folder / "graph.npz").open("wb") as file:
        write_columns(graph, file)
    return {
        "JSON": read_graph(folder / "graph.json"),
        "npz": read_columns(folder / "graph.npz"),
        "networkx": from_networkx(to_networkx(graph)),
        "pickle": pickle.loads(pickle.dumps(graph)),
        "rows": StreamGraph(
            graph.operators, graph.streams, firing=graph.firing, multicast=graph.multicast
        ),
        "DOT": read_document("dot", dot.to_text(to_attributed_graph(graph))).graph,
        "GraphML": read_document("graphml", graphml.to_text(to_attributed_graph(graph))).graph,
    }


def check_formats(graph: StreamGraph, folder: Path) -> None:
    """Check that every format keeps a graph without a name."""
    read = read_back(graph, folder)
    for kind, again in read.items():
        assert again.sha256 == graph.sha256, kind
        assert (again.firing, again.multicast) == (graph.firing, graph.multicast), kind
    assert read["npz"] == read["networkx"] == read["pickle"] == graph
    assert graph_to(read["JSON"])["operators"] == graph_to(graph)["operators"]
    assert graph_to(read["JSON"])["streams"] == graph_to(graph)["streams"]
