"""The command `import`: every kind of document, and the cluster that belongs to a file."""

import json
from pathlib import Path

import pytest

from streamplace import read_cluster, read_graph, read_job
from streamplace.cli.main import main
from streamplace.errors import UsageError
from streamplace.formats.registry import format_named, formats
from streamplace.problem.expansion import to_operators
from tests.corpus.engine_documents import DOCUMENTS
from tests.corpus.engine_documents.clusters import CLUSTERS
from tests.corpus.engine_documents.neural_networks import OPENVINO_LOOP
from tests.support.cli import Capture, printed, refused, succeeds
from tests.support.documents import read_document

COSTS = """\
source_rate = 100
[default]
instructions = 1000
payload_bytes = 8
selectivity = 0.5
"""


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_import_and_place(kind: str, tmp_path: Path, capsys: Capture) -> None:
    file, costs, graph = (tmp_path / name for name in ("document", "costs.toml", "graph.json"))
    file.write_text(DOCUMENTS[kind][0])
    costs.write_text(COSTS)
    printed = succeeds(capsys, "import", file, "--from", kind, "--fold", "-o", graph, "--json")
    assert json.loads(printed)["unknown"] == read_graph(graph).unknown
    folded = to_operators(read_document(kind, DOCUMENTS[kind][0]))
    assert read_graph(graph).sha256 == folded.sha256
    succeeds(capsys, "import", file, "--from", kind, "--costs", costs, "-o", graph)
    assert not read_graph(graph).unknown
    if read_graph(graph).requires:
        return  # the devices of the default cluster have no labels
    how: tuple[str, ...] = ("--placer", "metis")
    if read_graph(graph).firing == "all":
        how = ("--objective", "makespan", "--placer", "single")
    succeeds(capsys, "place", graph, *how, "-o", tmp_path / "placement.json")


def test_memory_is_per_instance(tmp_path: Path, capsys: Capture) -> None:
    """The job needs the same memory expanded and folded: 3 instances of split, 4 of count."""
    file, costs, graph = (tmp_path / name for name in ("document", "costs.toml", "graph.json"))
    file.write_text(DOCUMENTS["storm-flux"][0])
    costs.write_text(
        COSTS + "[operators.split]\nmemory_bytes = 10\n[operators.count]\nmemory_bytes = 1"
    )
    for fold in ((), ("--fold",)):
        succeeds(
            capsys, "import", file, "--from", "storm-flux", "--costs", costs, *fold, "-o", graph
        )
        assert read_graph(graph).memory_bytes.sum() == 3 * 10 + 4 * 1


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_broken_documents_are_refused(kind: str, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "document"
    for data in (b"\xff\xfe", b"", b"{", b"<a>", b"[" * 100_000):
        file.write_bytes(data)
        assert str(file) in refused(capsys, "import", file, "--from", kind)


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in the format of DOPPLER, in the current folder."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "graph.txt"
    file.write_text(DOCUMENTS["doppler"][0])
    return file


@pytest.mark.parametrize("kind", [each.name for each in formats() if each.has_cluster])
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
            assert (read_document(kind, text).cluster is not None) == format_named(
                kind
            ).has_cluster, kind


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
            "--device-count requires --cluster-out and a format with a cluster of any size",
        ),
        (
            ("--from", "dnn-latency", "--cluster-out", "c.json", "--device-count", "3"),
            "--device-count requires --cluster-out and a format with a cluster of any size",
        ),
        (("--from", "doppler", "--dim", "batch=1"), "--dim requires --from onnx or openvino"),
        (
            ("--from", "doppler", "--input", "1x2"),
            "--input requires --from torch, onnx or openvino",
        ),
        (("--from", "openvino", "--dim", "batch"), "--dim: expected NAME=N with a whole number of"),
        (("--from", "openvino", "--dim", "x=0"), "such as batch=1 (got 'x=0')"),
        (("--from", "openvino", "--dim", "x=1", "--dim", "x=2"), "'x' has two sizes"),
        (("--from", "doppler", "--cluster-out", "-"), "only one of -o and --cluster-out can"),
        (
            ("--from", "doppler", "-o", "g.json", "--cluster-out", "-", "--json"),
            "only one of --cluster-out and --json can write to stdout",
        ),
        (
            ("--from", "doppler", "-o", "g.json", "--cluster-out", "g.json"),
            "-o and --cluster-out name the same file",
        ),
        (
            ("--from", "doppler", "--placement", "p.json"),
            "--placement requires a file of a run; doppler records none",
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


def test_stated_sizes_of_a_network(tmp_path: Path, capsys: Capture) -> None:
    file, graph = tmp_path / "model.xml", tmp_path / "graph.json"
    file.write_text(OPENVINO_LOOP)
    words = ("import", file, "--from", "openvino", "-o", graph, "--json")
    assert json.loads(succeeds(capsys, *words))["unknown"]["payload_bytes"] == ["x", "inner"]
    for option in (("--dim", "x[0]=2"), ("--input", "2x6")):
        unknown = json.loads(succeeds(capsys, *words, *option))["unknown"]
        assert unknown["payload_bytes"] == ["inner"]
        assert read_graph(graph).payload_bytes[0] == 2 * 6 * 4


def test_a_cluster_on_stdout(document: Path, capsys: Capture) -> None:
    printed = succeeds(
        capsys, "import", document, "--from", "doppler", "-o", "g.json", "--cluster-out", "-"
    )
    assert json.loads(printed)["format"] == "streamplace-cluster"


@pytest.mark.parametrize("kind", CLUSTERS)
def test_import_of_a_cluster(kind: str, tmp_path: Path, capsys: Capture) -> None:
    file, cluster = tmp_path / "nodes", tmp_path / "cluster.json"
    for text in CLUSTERS[kind]:
        file.write_text(text)
        out, err = printed(capsys, "import", file, "--from", kind)
        cluster.write_text(out)
        lines = " ".join(err.split())
        assert "note: no speed is stated for" in lines
        assert "assumed: nic links of 1000 Mbit/s" in lines
        words = ("import", file, "--from", kind, "--mips", "3GIPS", "-o", cluster, "--json")
        found = json.loads(succeeds(capsys, *words))
        devices = read_cluster(cluster).devices
        assert found["devices"] == len(devices)
        assert found["file"] == str(cluster)
        assert not any("no speed" in note for note in found["notes"])
        assert 2900.0 <= max(device.mips for device in devices) <= 3000.0  # of a whole core


def test_speeds_by_label_and_device(tmp_path: Path, capsys: Capture) -> None:
    file, cluster = tmp_path / "nodes.json", tmp_path / "cluster.json"
    file.write_text(CLUSTERS["kubernetes-nodes"][0])
    words = ("import", file, "--from", "kubernetes-nodes", "-o", cluster, "--mips", 1000)
    by_label = "node.kubernetes.io/instance-type=g5.xlarge=4000"
    succeeds(capsys, *words, "--mips", by_label, "--mips", "a=1500")
    assert [each.mips for each in read_cluster(cluster).devices] == [1500.0, 4000.0]
    assert "--mips: no device, label or group is named 'c'" in refused(
        capsys, *words, "--mips", "c=1"
    )
    assert "must be finite and above 0 (got 0)" in refused(capsys, *words, "--mips", "a=0")
    assert "expected a number" in refused(capsys, *words, "--mips", "a=fast")


def test_options_of_jobs_and_of_clusters(document: Path, capsys: Capture) -> None:
    Path("lscpu.json").write_text(CLUSTERS["lscpu"][0])
    for option in (("--costs", "costs.toml"), ("--fold",), ("--cluster-out", "c.json")):
        line = refused(capsys, "import", "lscpu.json", "--from", "lscpu", *option)
        assert f"{option[0]} requires a format of jobs; lscpu is of clusters" in line
    line = refused(capsys, "import", document, "--from", "doppler", "--mips", 1)
    assert "--mips requires a format of clusters, such as kubernetes-nodes" in line


def test_a_cluster_is_no_job(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "nodes.json"
    file.write_text(CLUSTERS["lscpu"][0])
    with pytest.raises(UsageError, match="format 'lscpu' describes a cluster, not a job"):
        read_job(file, "lscpu")
    line = refused(capsys, "import", file, "--from", "slurm-nodes")
    assert line.rstrip().endswith("is a file of the format lscpu, not slurm-nodes")


@pytest.mark.parametrize("kind", CLUSTERS)
def test_broken_documents_of_clusters_are_refused(
    kind: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "document"
    for data in (b"\xff\xfe", b"", b"{", b"[" * 100_000, b"{}", b"[]", b"3"):
        file.write_bytes(data)
        assert str(file) in refused(capsys, "import", file, "--from", kind)
