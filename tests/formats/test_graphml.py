"""GraphML files, read and written by streamplace and by networkx."""

from math import isnan
from pathlib import Path

import networkx
import pytest
from hypothesis import given

from benchmarks.reference.strategies import Case, cases
from streamplace.errors import GraphError
from streamplace.formats import graphml
from streamplace.formats.attributes import to_attributed_graph
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.placement import Placement
from tests.corpus.engine_documents.interchange import GRAPHML
from tests.support.documents import edges, read_document, refused_document
from tests.support.strategies import graphs_with_unknowns


@given(graphs_with_unknowns())
def test_round_trip_of_graphs_that_xml_can_represent(graph: StreamGraph) -> None:
    try:
        text = graphml.to_text(to_attributed_graph(graph))
    except GraphError as error:
        assert "which XML cannot represent" in str(error)  # noqa: PT017 - either is right
        return
    assert read_document("graphml", text).graph == graph


@given(cases())
def test_networkx_reads_placements(case: Case) -> None:
    placement = Placement(*case)
    graph, text = placement.problem.graph, graphml.write(placement)
    assert read_document("graphml", text).graph == graph
    read_back = networkx.parse_graphml(text)
    assert dict(read_back.nodes(data="device")) == placement.assignment
    assert list(read_back.nodes) == list(graph.names)
    work = [attributes["instructions"] for _, attributes in read_back.nodes(data=True)]
    assert work == graph.instructions.tolist()
    assert sorted(read_back.edges(data="selectivity")) == sorted(
        (s.source, s.target, s.selectivity) for s in graph.streams
    )


def test_files_from_networkx(tmp_path: Path) -> None:
    made: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(name="job", source_rate=50)
    made.add_node("a", instructions=0.1, label="first")
    made.add_node("b", instructions=7, payload_bytes=8.5)
    made.add_edge("a", "b", selectivity=0.5)
    made.add_edge("a", "b", selectivity=2, payload_bytes=1)
    networkx.write_graphml(made, tmp_path / "job.graphml")
    graph = read_document("graphml", (tmp_path / "job.graphml").read_text()).graph
    assert (graph.name, graph.source_rate) == ("job", 50)
    assert graph.instructions.tolist() == [0.1, 7]
    assert graph.selectivity.tolist() == [0.5, 2]
    assert isnan(graph.payload_bytes[0])
    assert graph.stream_payload_bytes[1] == 1


def test_defaults_and_unknown_attributes() -> None:
    graph = read_document("graphml", GRAPHML).graph
    assert graph.instructions.tolist() == [100.5, 50]
    assert graph.requires == {1: ("gpu",)}
    assert graph.source_rate == 1000
    assert graph.lacking == ["payload_bytes of 'a'", "selectivity of 'a->b'"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("lines", "split"), ("lines", "split")),
        (("lines", "lines"), ("lines", "lines#2")),
        (("lines", ""), ("lines", "n1")),
        (("n1", "n0"), ("n1", "n0")),
    ],
)
def test_names_of_nodes_whose_ids_are_numbered(
    names: tuple[str, str], expected: tuple[str, str]
) -> None:
    """igraph writes ids n0, n1, … and the names of its vertices as an attribute (igraph 1.0)."""
    first, second = names
    text = f"""<graphml><key id="v_name" for="node" attr.name="name" attr.type="string"/>
      <key id="v_share" for="node" attr.name="source_share" attr.type="double"/>
      <graph id="G" edgedefault="directed">
        <node id="n0"><data key="v_name">{first}</data><data key="v_share">1</data></node>
        <node id="n1"><data key="v_name">{second}</data></node>
        <edge source="n0" target="n1"/></graph></graphml>"""
    graph = read_document("graphml", text).graph
    assert graph.names == expected
    assert [(stream.source, stream.target) for stream in graph.streams] == [expected]
    dot = f'digraph {{0 [name="{first}"]; 1 [name="{second}"]; 0 -> 1}}'
    numbered = ("lines", "1") if not second else expected
    assert read_document("dot", dot).graph.names == numbered


def test_round_trip_of_line_ends_and_tabs_in_names() -> None:
    names = ["a\r\nb", "c\td", " e ", 'f]]>&<"']
    rows = [Operator(name, 1.0, 1.0, 0.0, (name,), name) for name in names]
    graph = StreamGraph(rows, [Stream(names[0], names[3])], name="x\ry")
    assert read_document("graphml", graphml.to_text(to_attributed_graph(graph))).graph == graph


def labelled(label: str) -> str:
    """Return a node's data as yEd 3 writes them; the label's layout follows its text."""
    return (
        f'<data key="g"><y:ShapeNode><y:NodeLabel>\n {label} <y:LabelModel/></y:NodeLabel>'
        "<y:NodeLabel>2nd</y:NodeLabel></y:ShapeNode></data>"
    )


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        (labelled("read"), labelled("count"), ("read", "count")),
        (labelled("read"), labelled("read"), ("read", "read#2")),
        (labelled("read"), "", ("read", "n1")),
        (labelled("read"), '<data key="n">c</data>' + labelled("count"), ("read", "c")),
    ],
)
def test_labels_of_yed_are_names(first: str, second: str, names: tuple[str, str]) -> None:
    """yEd numbers the ids, keeps what the user wrote as a label, and has keys without names."""
    text = (
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
        'xmlns:y="http://www.yworks.com/xml/graphml" '
        'xmlns:yfiles="http://www.yworks.com/xml/yfiles">'
        '<key for="node" id="g" yfiles.type="nodegraphics"/>'
        '<key for="node" id="n" attr.name="name" attr.type="string"/>'
        '<graph edgedefault="directed">'
        f'<node id="n0">{first}</node><node id="n1">{second}</node>'
        '<edge id="0" source="n0" target="n1"/><edge id="0" source="n0" target="n1"/>'
        "</graph></graphml>"
    )
    job = read_document("graphml", text)
    assert job.graph.names == names
    assert edges(job) == [names, names]


def test_nodes_in_groups_of_yed_are_operators() -> None:
    """The ids in a group begin with that of the group, which has a label of its own."""
    labelled = '<data key="g"><y:NodeLabel>{}</y:NodeLabel></data>'
    inner = "".join(
        f'<node id="n1::n{i}">{labelled.format(label)}</node>'
        for i, label in enumerate(["parse", "count"])
    )
    text = (
        '<graphml xmlns:y="http://www.yworks.com/xml/graphml"><key for="node" id="g"/>'
        f'<graph edgedefault="directed"><node id="n0">{labelled.format("read")}</node>'
        f'<node id="n1">{labelled.format("rack 1")}<graph edgedefault="directed">{inner}'
        '<edge source="n1::n0" target="n1::n1"/></graph></node>'
        '<node id="n2"><graph edgedefault="directed"/></node>'
        '<edge source="n0" target="n1::n0"/></graph></graphml>'
    )
    job = read_document("graphml", text)
    assert job.graph.names == ("read", "parse", "count")
    assert edges(job) == [("parse", "count"), ("read", "parse")]
    assert job.notes == ["groups of the picture are not read: 'rack 1', 'n2'"]


def test_labels_of_edges_of_yed_name_streams() -> None:
    drawn = (
        '<data key="g"><y:PolyLineEdge><y:EdgeLabel>{}<y:L/></y:EdgeLabel></y:PolyLineEdge></data>'
    )
    text = (
        '<graphml xmlns:y="http://www.yworks.com/xml/graphml"><key for="edge" id="g"/>'
        '<graph edgedefault="directed"><node id="a"/><node id="b"/>'
        f'<edge source="a" target="b">{drawn.format("late")}</edge>'
        f'<edge source="a" target="b">{drawn.format("in time")}</edge></graph></graphml>'
    )
    assert read_document("graphml", text).stream_ids == ["late", "in time"]


def test_labels_of_gephi_are_names_of_numbered_nodes() -> None:
    """Gephi writes a label, and the size of the picture, which is no cost."""
    keys = "".join(f'<key id="{key}" for="node" attr.name="{key}"/>' for key in ("label", "size"))
    text = (
        f'<graphml>{keys}<graph edgedefault="directed">'
        '<node id="{}"><data key="label">read</data><data key="size">10.0</data></node>'
        '<node id="{}"><data key="label">count</data><data key="size">10.0</data></node>'
        '<edge source="{}" target="{}"/></graph></graphml>'
    )
    job = read_document("graphml", text.format("0", "1", "0", "1"))
    assert (job.graph.names, job.notes) == (("read", "count"), [])
    assert job.graph.unknown["instructions"] == ["read", "count"]
    job = read_document("graphml", text.format("source", "sink", "source", "sink"))
    assert job.graph.names == ("source", "sink")
    assert "labels such as 'read' are not read, since the ids of the nodes are" in job.notes[0]


BOMB = """<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<graphml", f"{BOMB}<graphml", "has a DTD or entities"),
        ("<graphml", '<!DOCTYPE x SYSTEM "file:///etc/passwd"><graphml', "has a DTD"),
        ("<graphml", "<graph", "not XML: mismatched tag"),
        (
            '"directed"',
            '"undirected"',
            "'a' -> 'b': the edge is undirected; ",
        ),
        ('<node id="b">', '<node id="a">', "node 'a' appears twice"),
        ('<node id="b">', "<node>", "<node>: missing attribute 'id'"),
        ('target="b"/>', 'target="z"/>', "'a' -> 'z': unknown node 'z'"),
        ('<data key="d0">', '<data key="d9">', "<data>: unknown key 'd9'"),
        ('<data key="d1">', '<data key="d0">', "node: attribute 'instructions' appears twice"),
        ("100.5", "1_00", "'a': instructions: must be a finite number"),
        ("100.5", "infinity", "'a': instructions: must be a finite number"),
        ("100.5", "", "'a': instructions: must be a finite number"),
        ('["gpu"]', "gpu", "'b': requires: line 1 column 1: not JSON"),
        ("1e3", "0", "source_rate: must be finite and above 0"),
        ('<node id="b">', '<node id="b"><graph/>', "'a' -> 'b': 'b' is a group; join its nodes"),
        ("<edge", "<hyperedge/><edge", "hyperedges are not supported"),
    ],
)
def test_invalid_graphml(old: str, new: str, message: str) -> None:
    assert old in GRAPHML
    assert refused_document("graphml", GRAPHML.replace(old, new, 1)).startswith(message)


def test_characters_that_xml_cannot_represent() -> None:
    graph = StreamGraph([Operator("a\x00", 1.0, 1.0)], [])
    with pytest.raises(GraphError, match=r"a name contains '\\x00', which XML cannot represent"):
        graphml.to_text(to_attributed_graph(graph))
