"""`import --cluster-out`: the cluster that belongs to a file."""

import json
from pathlib import Path

import pytest

from benchmarks.hardening.corpus.engine_documents import DOCUMENTS
from streamplace import read_cluster, read_graph
from streamplace.cli.main import main
from streamplace.integrations.kinds import WITH_CLUSTER
from tests.support.cli import Capture, refused, succeeds
from tests.support.documents import read_document


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in the format of DOPPLER, in the current folder."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "graph.txt"
    file.write_text(DOCUMENTS["doppler"][0])
    return file


@pytest.mark.parametrize("kind", sorted(WITH_CLUSTER))
def test_graph_and_cluster(kind: str, document: Path, capsys: Capture) -> None:
    document.write_text(DOCUMENTS[kind][0])
    command = ("import", document, "--from", kind, "-o", "g.json", "--cluster-out", "c.json")
    printed = json.loads(succeeds(capsys, *command, "--json"))
    expected = read_document(kind, DOCUMENTS[kind][0])
    assert read_graph("g.json").sha256 == expected.graph.sha256
    assert read_graph("g.json").constraints == expected.graph.constraints
    assert read_cluster("c.json") == expected.cluster
    assert printed["cluster"] == "c.json"


def test_each_format_has_a_cluster_or_has_none() -> None:
    for kind, texts in DOCUMENTS.items():
        for text in texts:
            assert (read_document(kind, text).cluster is not None) == (kind in WITH_CLUSTER), kind


def test_a_cluster_that_is_not_written_is_named(document: Path, capsys: Capture) -> None:
    assert main(["import", str(document), "--from", "doppler", "-o", "g.json"]) == 0
    printed = " ".join(capsys.readouterr().err.split())
    assert "note: the cluster that belongs to the file is not written; write it with" in printed
    assert "unknown: source rate, which only throughput needs;" in printed


def test_the_number_of_devices(document: Path, capsys: Capture) -> None:
    command = ("import", document, "--from", "doppler", "-o", "g.json", "--cluster-out", "c.json")
    succeeds(capsys, *command)
    assert len(read_cluster("c.json").devices) == 4
    succeeds(capsys, *command, "--device-count", 8)
    found = read_cluster("c.json")
    assert found.names == tuple(f"d{d}" for d in range(8))
    assert {device.mips for device in found.devices} == {1e-6}
    assert "at most 2048 (got 2049)" in refused(capsys, *command, "--device-count", 2049)
    assert "must be at least 1 (got 0)" in refused(capsys, *command, "--device-count", 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--from", "dot", "--cluster-out", "c.json"),
            "--cluster-out requires a file with a cluster; dot has none",
        ),
        (
            ("--from", "doppler", "--device-count", "3"),
            "--device-count requires --cluster-out and --from doppler or pipedream",
        ),
        (
            ("--from", "dnn-latency", "--cluster-out", "c.json", "--device-count", "3"),
            "--device-count requires --cluster-out and --from doppler or pipedream",
        ),
        (("--from", "doppler", "--cluster-out", "-"), "cannot write both GRAPH and CLUSTER"),
        (
            ("--from", "doppler", "-o", "g.json", "--cluster-out", "-", "--json"),
            "cannot combine --json with --cluster-out -",
        ),
        (
            ("--from", "doppler", "-o", "g.json", "--cluster-out", "g.json"),
            "-o and --cluster-out name the same file",
        ),
        (
            ("--from", "doppler", "-o", "g.json", "--cluster-out", "graph.txt"),
            "--cluster-out graph.txt: would overwrite the input",
        ),
    ],
)
def test_refused_options(
    options: tuple[str, ...], message: str, document: Path, capsys: Capture
) -> None:
    before = document.read_text()
    assert message in refused(capsys, "import", document, *options)
    assert [path.name for path in document.parent.iterdir()] == ["graph.txt"]
    assert document.read_text() == before


def test_a_cluster_on_stdout(document: Path, capsys: Capture) -> None:
    printed = succeeds(
        capsys, "import", document, "--from", "doppler", "-o", "g.json", "--cluster-out", "-"
    )
    assert json.loads(printed)["format"] == "streamplace-cluster"
