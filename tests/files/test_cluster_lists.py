"""Lists of clusters as JSON lines."""

import gzip
from pathlib import Path

import pytest

import streamplace as sp
from streamplace import Cluster, Network
from streamplace.errors import FormatError

CLUSTERS = [
    Cluster.equal(2),
    Cluster.parse("1x2500x4,1x1000"),
    Cluster.equal(3, 100.0, Network("free", None)),
]


@pytest.mark.parametrize("name", ["c.jsonl", "c.jsonl.gz"])
def test_written_clusters_are_read_back(name: str, tmp_path: Path) -> None:
    sp.write_clusters(tmp_path / name, iter(CLUSTERS))
    assert sp.read_clusters(tmp_path / name) == CLUSTERS
    data = (tmp_path / name).read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    assert len(text.splitlines()) == len(CLUSTERS)


def test_an_error_names_the_file_the_line_and_the_fault(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    sp.write_clusters(path, CLUSTERS)
    path.write_text(path.read_text().replace('"mips": 1000.0', '"mips": -1'))
    with pytest.raises(FormatError) as caught:
        sp.read_clusters(path)
    assert str(caught.value).startswith(f"{path}: line 2: devices[1].mips: must be greater than 0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no cluster"),
        ("\n\n", "holds no cluster"),
        ("[]\n", "line 1: must be an object (got a list)"),
        ("{\n", "line 1: "),
        ('{"format": "streamplace-graph"}\n', "line 1: format: expected a cluster file"),
    ],
)
def test_other_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        sp.read_clusters(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_nothing_is_written_with_a_wrong_name_or_without_clusters(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"must end in \.jsonl or \.jsonl\.gz"):
        sp.write_clusters(tmp_path / "c.json", CLUSTERS)
    with pytest.raises(FormatError, match="must hold at least one cluster"):
        sp.write_clusters(tmp_path / "c.jsonl", [])
    assert not list(tmp_path.iterdir())
