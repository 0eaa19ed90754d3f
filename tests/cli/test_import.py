"""The command `import` for every kind of document."""

import json
from pathlib import Path

import pytest

from benchmarks.hardening.corpus.engine_documents import DOCUMENTS
from streamplace import read_graph
from streamplace.problem.expansion import to_operators
from tests.support.cli import Capture, refused, succeeds
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
