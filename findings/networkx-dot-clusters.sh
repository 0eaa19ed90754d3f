#!/bin/sh
# networkx 3.6.1 with pydot 4.0.1: reading a DOT file loses what is inside a subgraph (nodes,
# attributes and edges) and reports nothing. It adds a node for each port that an edge names.
#
# `from_pydot` asks the outermost graph only for its nodes and edges. The cluster of an engine's
# stages or machines is such a subgraph, and so is a group of nodes of the same rank. A node of a
# cluster appears only if an edge outside names it, and then has no attributes. With "a:out -> b:in",
# which Graphviz draws as an edge from a to b, the graph has nodes "a:out" and "b:in" beside a and b.
#
# Output seen (Python 3.11):
#   no subgraph: nodes a {'cpu': '1'}, b {'cpu': '2'}, c {'cpu': '3'}; edges a-b, b-c
#   cluster of a and b: nodes b {}, c {'cpu': '3'}; edges b-c
#   ports: nodes a {'cpu': '1'}, a:out {}, b {'cpu': '2'}, b:in {}; edges a:out-b:in
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q networkx==3.6.1 pydot==4.0.1
"$folder/venv/bin/python" - <<'PYTHON'
import io

import networkx

FILES = {
    "no subgraph": "a [cpu=1]; b [cpu=2]; a -> b; c [cpu=3]; b -> c;",
    "cluster of a and b": (
        "subgraph cluster_1 { a [cpu=1]; b [cpu=2]; a -> b; } c [cpu=3]; b -> c;"
    ),
    "ports": "a [cpu=1]; b [cpu=2]; a:out -> b:in;",
}
EXPECTED = {
    "no subgraph": (["a", "b", "c"], ["a-b", "b-c"]),
    "cluster of a and b": (["b", "c"], ["b-c"]),
    "ports": (["a", "a:out", "b", "b:in"], ["a:out-b:in"]),
}
for name, text in FILES.items():
    graph = networkx.nx_pydot.read_dot(io.StringIO(f"digraph {{ {text} }}"))
    nodes = dict(sorted(graph.nodes(data=True)))
    edges = sorted(f"{source}-{target}" for source, target in graph.edges())
    listed = ", ".join(f"{node} {attributes}" for node, attributes in nodes.items())
    print(f"{name}: nodes {listed}; edges {', '.join(edges)}")
    assert (list(nodes), edges) == EXPECTED[name], "this has changed"
    assert nodes["b"] == ({} if "cluster" in name else {"cpu": "2"}), "this has changed"
PYTHON
