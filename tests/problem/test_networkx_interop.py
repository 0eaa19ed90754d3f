"""Conversion of stream graphs to networkx graphs and back."""

from typing import Any

import networkx
import pytest
from hypothesis import given

from streamplace import from_networkx, to_networkx
from streamplace.errors import GraphError
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import Operator, Stream, StreamGraph
from tests.support.strategies import full_graphs


@given(full_graphs())
def test_round_trip(graph: StreamGraph) -> None:
    """Everything but constraints is kept."""
    again = from_networkx(to_networkx(graph))
    assert again.sha256 == graph.sha256
    assert (again.name, again.source_rate) == (graph.name, graph.source_rate)
    assert again.constraints == Constraints()


def test_parallel_streams_need_a_multigraph() -> None:
    rows = [Operator("a", 1.0, 8.0), Operator("b", 1.0, 0.0)]
    one, two = Stream("a", "b"), Stream("a", "b", 0.5, 2.0)
    assert not to_networkx(StreamGraph(rows, [one])).is_multigraph()
    several = to_networkx(StreamGraph(rows, [one, two, one]))
    assert several.is_multigraph()
    assert several.number_of_edges() == 3
    assert from_networkx(several) == StreamGraph(rows, [one, two, one])


def test_attributes_of_nodes_and_edges() -> None:
    rows = [Operator("a", 1.0, 8.0, 3.0, ("gpu",)), Operator("b", 2.0, 0.0)]
    made = to_networkx(StreamGraph(rows, [Stream("a", "b", 0.5)], name="g", source_rate=9.0))
    assert made.nodes["a"] == {
        "instructions": 1.0,
        "payload_bytes": 8.0,
        "memory_bytes": 3.0,
        "requires": ("gpu",),
    }
    assert made.edges["a", "b"] == {"selectivity": 0.5, "payload_bytes": 8.0}
    assert made.graph == {"name": "g", "source_rate": 9.0, "source_shares": {"a": 1.0}}


def test_only_instructions_are_required() -> None:
    plain: networkx.DiGraph[Any] = networkx.DiGraph()
    plain.add_node(1, instructions=5)
    plain.add_node(2, instructions=6, payload_bytes=7)
    plain.add_edge(2, 1)
    graph = from_networkx(plain)
    assert graph.names == ("1", "2")
    assert list(graph.streams) == [Stream("2", "1", 1.0, 7.0)]


def test_invalid_graphs() -> None:
    bare: networkx.DiGraph[Any] = networkx.DiGraph([("a", "b")])
    with pytest.raises(GraphError, match="node 'a' has no attribute 'instructions'"):
        from_networkx(bare)
    with pytest.raises(GraphError, match=r"^the networkx graph must be directed$"):
        from_networkx(networkx.Graph())  # type: ignore[arg-type]  # the case under test
    with pytest.raises(GraphError, match="needs at least one operator"):
        from_networkx(networkx.DiGraph())
    bare.add_nodes_from("ab", instructions=1.0)
    bare.add_edge("b", "a")
    with pytest.raises(GraphError, match="cycle"):
        from_networkx(bare)


def test_nodes_with_the_same_text() -> None:
    clash: networkx.DiGraph[Any] = networkx.DiGraph()
    clash.add_nodes_from([1, "1"], instructions=1.0)
    with pytest.raises(GraphError, match="'1'"):
        from_networkx(clash)
