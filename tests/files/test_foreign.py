"""Files of other programs, given where a file of streamplace is expected."""

import json
import os
from pathlib import Path

import pytest

from streamplace.errors import FormatError
from streamplace.files import read_graph
from streamplace.formats.registry import formats
from tests.corpus.engine_documents import DOCUMENTS
from tests.corpus.engine_documents.clusters import CLUSTERS
from tests.support.cli import Capture, refused
from tests.support.guards import hang_guard

GRAPH = "dataset:real/riotbench-etl.json"
OWN = {"nodes": [{"id": 1, "cost": 4}], "edges": [{"from": 1, "to": 2}]}
ENDINGS = {ending: each.name for each in formats() for ending in each.signs.endings}
SAME = {"dnn-latency": "dnn-partitioning", "cepsim": "dream"}  # one form, read in two ways
READ = {"dream", "cepsim"}  # without an import


@pytest.mark.parametrize("kind", [kind for kind in DOCUMENTS if kind not in READ])
def test_the_import_of_a_document_is_named(kind: str, tmp_path: Path) -> None:
    for document in DOCUMENTS[kind]:
        file = tmp_path / "job.txt"
        file.write_text(document)
        with pytest.raises(FormatError) as caught:
            read_graph(file)
        command = f"import {file} --from {SAME.get(kind, kind)} -o job-graph.json"
        assert str(caught.value).endswith(f"this makes a graph of it: streamplace {command}")


@pytest.mark.parametrize(
    "words",
    [
        ("place", "GRAPH", "--cluster", "FILE"),
        ("place", "GRAPH", "--constraints", "FILE"),
        ("simulate", "GRAPH", "FILE"),
        ("explain", "FILE"),
        ("place", "--job-file", "FILE", "--devices", "2x1"),
        ("info", "FILE"),
    ],
    ids=" ".join,
)
def test_the_import_is_named_where_no_graph_is_expected(
    words: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "my plan.json"
    file.write_text(DOCUMENTS["flink-plan"][0])
    paths = {"GRAPH": GRAPH, "FILE": str(file)}
    line = refused(capsys, *(paths.get(word, word) for word in words))
    assert line.endswith(f"import '{file}' --from flink-plan -o 'my plan-graph.json'")


@pytest.mark.parametrize("kind", CLUSTERS)
def test_the_import_of_a_cluster_is_named(kind: str, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "nodes.txt"
    command = f"streamplace import {file} --from {kind} -o nodes-cluster.json"
    for document in CLUSTERS[kind]:
        file.write_text(document)
        line = refused(capsys, "place", GRAPH, "--cluster", file)
        assert line.endswith(f"this makes a cluster of it: {command}")
        assert refused(capsys, "import", file).endswith(f"; write {command}")


def test_a_graph_in_a_list_has_no_file_to_import(tmp_path: Path) -> None:
    file = tmp_path / "jobs.json"
    file.write_text(f"[{DOCUMENTS['flink-plan'][0]}]")
    with pytest.raises(FormatError, match=r"\[0\]: is a .* import FILE --from flink-plan -o graph"):
        read_graph(file)


def test_an_import_without_a_format_names_it(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "job"
    for kind, documents in DOCUMENTS.items():
        file.write_text(documents[0])
        line = refused(capsys, "import", file)
        command = f"import {file} --from {SAME.get(kind, kind)} -o job-graph.json"
        assert line.startswith("streamplace: missing option --from: ")
        assert line.endswith(f"; write streamplace {command}")
    assert "no such file" in refused(capsys, "import", tmp_path / "no such file")
    assert "cannot read: Is a directory" in refused(capsys, "import", tmp_path)
    file.write_bytes(b"\x7f\0\xff")
    missing, listed = "missing option '--from':", "the help lists all formats"
    for name, unknown in ((file, f" the format of {file} is not recognised;"), ("a:Net", "")):
        assert f"{missing}{unknown} {listed}" in refused(capsys, "import", name)


@pytest.mark.parametrize("kind", ["dnn-latency", "cepsim"])
def test_a_fault_is_named_where_two_formats_look_alike(
    kind: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "job.json"
    value = json.loads(DOCUMENTS[kind][0])
    value[{"dnn-latency": "maxFPGAs", "cepsim": "event_rate"}[kind]] = -1
    file.write_text(json.dumps(value))
    assert "(got -1)" in refused(capsys, "import", file, "--from", kind)


def test_a_format_is_not_looked_for_in_what_may_never_end(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_text(DOCUMENTS["flink-plan"][0])
    monkeypatch.setattr("streamplace.formats.commands.import_.MAX_GUESSED_BYTES", 10)
    for file in ("-", tmp_path / "pipe", "/dev/zero", tmp_path / "large"):
        with hang_guard(10):
            assert "missing option '--from': the help lists" in refused(capsys, "import", file)


def test_a_file_of_streamplace_needs_no_import(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "graph.json"
    file.write_text('{"format": "streamplace-graph"}')
    for words in ((), ("--from", "flink-plan"), ("--from", "onnx"), ("--from", "dot")):
        line = refused(capsys, "import", file, *words)
        assert line.endswith("is a graph of streamplace; only other formats need an import")


def test_an_import_of_another_format_names_it(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "job.txt"
    for kind, actual in (
        ("graphml", "dot"),
        ("dot", "graphml"),
        ("flink-plan", "kafka-streams"),
        ("storm-flux", "flink-plan"),
        ("onnx", "flink-plan"),
    ):
        file.write_text(DOCUMENTS[actual][0])
        line = refused(capsys, "import", file, "--from", kind)
        assert line.rstrip().endswith(f"is a file of the format {actual}, not {kind}")


def test_indented_json_is_not_a_list(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "clusters.json"
    file.write_text(json.dumps({"devices": []}, indent=1))
    line = refused(capsys, "compare", "dataset:real", "--clusters", file)
    assert "line 1: must be a whole JSON value; one per line is expected" in line


def test_costs_are_not_json(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "job.dot").write_text("digraph { a -> b }")
    (tmp_path / "costs.json").write_text("{}")
    words = ("import", tmp_path / "job.dot", "--from", "dot", "--costs", tmp_path / "costs.json")
    assert "costs are TOML, or CSV if the name ends in .csv" in refused(capsys, *words)


def test_an_answer_of_flink_holds_its_plan(tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    file.write_text(json.dumps({"jid": "1", "plan": json.loads(DOCUMENTS["flink-plan"][1])}))
    with pytest.raises(FormatError, match=r"--from flink-plan -o job-graph\.json"):
        read_graph(file)


@pytest.mark.parametrize("ending", ENDINGS)
def test_endings_name_the_import_of_a_broken_file(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"job{ending}"
    file.write_bytes(b"\x08\0\xff broken")
    with pytest.raises(FormatError, match=f" --from {ENDINGS[ending]} -o job-graph"):
        read_graph(file)


def test_csv_is_no_graph(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "placement.csv"
    file.write_text("operator,device\na,d0\n")
    assert "place --start" in refused(capsys, "place", file)


@pytest.mark.parametrize("text", ["graph = {", "{'a': 1}", "[1, 2,\n3,\n", '{"graph": {'])
def test_other_text_is_not_json(text: str, tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    file.write_text(text)
    with pytest.raises(FormatError, match="not JSON") as caught:
        read_graph(file)
    assert "import" not in str(caught.value)


def test_own_json_lacks_a_format(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "own.json"
    file.write_text(json.dumps(OWN))
    line = refused(capsys, "place", file)
    assert "is not a graph file of streamplace: it lacks 'format' and 'operators'" in line
    assert "'streamplace schema graph'" in line
    assert "'streamplace import --help'" in line
    line = refused(capsys, "place", GRAPH, "--cluster", file)
    assert "lacks 'format' and 'devices'; 'streamplace schema cluster'" in line
    assert "import" not in line


def test_a_misspelt_field_is_named(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "own.json"
    file.write_text(json.dumps({"operator": [], "streams": []}))
    assert "unknown field 'operator'; did you mean 'operators'?" in refused(capsys, "place", file)
