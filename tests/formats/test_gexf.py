"""GEXF files, as Gephi and networkx write them."""

import re
from math import isnan
from pathlib import Path

import networkx
import pytest

from tests.corpus.engine_documents.interchange import GEXF
from tests.corpus.malformed_texts import XML_BOMB
from tests.support.cli import Capture, refused
from tests.support.documents import edges, read_document, refused_document


def changed(old: str, new: str) -> str:
    assert old in GEXF
    return GEXF.replace(old, new, 1)


def test_labels_attributes_and_their_defaults() -> None:
    job = read_document("gexf", GEXF)
    graph = job.graph
    assert graph.name == "words"
    assert graph.names == ("lines", "split")
    assert graph.instructions.tolist() == [100.5, 50]
    assert graph.operators[1].requires == ("gpu",)
    known, unknown = (stream.selectivity for stream in graph.streams)
    assert known == 0.25
    assert isnan(unknown)


def test_a_graph_that_networkx_wrote(tmp_path: Path) -> None:
    made: networkx.DiGraph[str] = networkx.DiGraph(name="job")
    made.add_node("a", instructions=1e-7, payload_bytes=8)
    made.add_node("b", instructions=1 / 3)
    made.add_edge("a", "b", selectivity=0.1)
    networkx.write_gexf(made, tmp_path / "job.gexf")
    graph = read_document("gexf", (tmp_path / "job.gexf").read_text()).graph
    assert graph.instructions.tolist() == [1e-7, 1 / 3]
    assert graph.payload_bytes[0] == 8
    assert graph.selectivity.tolist() == [0.1]


@pytest.mark.parametrize(
    "namespace", ["http://www.gexf.net/1.2draft", "http://www.gexf.net/1.3", "http://gexf.net/2"]
)
def test_any_version(namespace: str) -> None:
    text = GEXF.replace("http://gexf.net/1.3", namespace)
    assert read_document("gexf", text).graph == read_document("gexf", GEXF).graph


def test_colours_that_are_no_numbers_are_not_read() -> None:
    read_document("gexf", changed('<viz:size value="10.0"/>', '<viz:color r="red"/>'))


def test_nodes_in_groups_are_operators() -> None:
    text = changed('<node id="0"', '<node id="9" label="host"><nodes><node id="0"')
    text = text.replace("</nodes>", "</nodes></node></nodes>", 1)
    job = read_document("gexf", text)
    assert edges(job) == [("lines", "split")] * 2
    assert "groups of the picture are not read: 'host'" in job.notes
    text = text.replace('target="1"', 'target="9"', 1)
    message = "'0' -> '9': '9' is a group; join its nodes instead"
    assert refused_document("gexf", text) == message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<gexf", f"{XML_BOMB}<gexf", "has a DTD or entities"),
        ("</gexf>", "", "not XML: no element found"),
        ("<edges>", "<edges", "not XML: not well-formed"),
        ('"directed"', '"undirected"', "the graph is undirected; all edges must be directed"),
        ('defaultedgetype="directed"', "", "the graph is undirected"),
        ('<edge id="0"', '<edge id="0" type="undirected"', "not GEXF that networkx reads (Netw"),
        ('node id="1"', 'node id="0"', "node '0' appears twice"),
        ('edge id="1"', 'edge id="0"', "edge '0' appears twice"),
        ('target="1"', 'target="7"', "'0' -> '7': unknown node '7'"),
        ('node id="1"', "node", "not GEXF that networkx reads (ValueError: None cannot be a no"),
        ('for="0" value', 'for="9" value', "not GEXF that networkx reads (NetworkXError: No att"),
        ('"double"', '"number"', "not GEXF that networkx reads (KeyError: 'number')"),
        ("100.5", "many", "not GEXF that networkx reads (ValueError: could not convert"),
        ("100.5", "-1", "'lines': instructions: must be a finite number of at least 0"),
        ("[&quot;gpu&quot;]", "gpu", "'split': requires: line 1 column 1: not JSON"),
    ],
)
def test_invalid_gexf(old: str, new: str, message: str) -> None:
    assert refused_document("gexf", changed(old, new)).startswith(message)


def test_another_root() -> None:
    text = re.sub("gexf>|<gexf", lambda tag: tag[0].replace("gexf", "graph"), GEXF)
    assert refused_document("gexf", text) == "must be a <gexf> (got <graph>)"


def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "job.gexf"
    file.write_text(changed('target="1"', 'target="7"'))
    line = refused(capsys, "import", file, "--from", "gexf")
    assert line == f"streamplace: {file}: '0' -> '7': unknown node '7'"
