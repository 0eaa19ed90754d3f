"""Corrupted documents: each one is read as a graph or rejected in one line, quickly."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.hardening.corpus.document import Document
from benchmarks.hardening.corpus.engine_documents import DOCUMENTS
from benchmarks.hardening.mutation.numbered_documents import bad_document
from streamplace.errors import FormatError, GraphError
from streamplace.files.graphs import graph_from, graph_to
from streamplace.files.reading import decode
from streamplace.integrations.registry import read_text_as
from streamplace.problem.expansion import to_instances
from tests.support.errors import fault_of
from tests.support.guards import hang_guard
from tests.support.released_data import engine_document
from tests.support.share import Share

MANY = [200, pytest.param(2_000, marks=pytest.mark.long)]
EVERY = 40  # step between the numbers of bad files; tests/hardening reads others
REAL = (
    ("flink-plan", "flink23_mixed_chained_plan.json"),
    ("flink-plan", "flink23_mixed_nochain_job.json"),
    ("flink-plan", "flink23_sql_q4_execplan.json"),
    ("ibm-streamsx", "streamsx21_wordcount_graph.json"),
)

SMALL = 1000


def read_corrupted(kind: str, data: bytes) -> bool:
    """Read a document as the command line does; return whether it was accepted."""
    try:
        job = read_text_as(decode(data, "file"), "file", kind)
    except FormatError as error:
        fault_of(error, "file")
        return False
    assert graph_from(graph_to(job.graph), "again") == job.graph
    assert all(count >= 2 for count in job.parallelism.values())
    if sum(job.parallelism.values()) < SMALL:
        try:
            to_instances(job)
        except GraphError:  # an instance has the same name as an operator
            assert "[" in " ".join(job.graph.names)
    return True


@pytest.fixture
def inert(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Fail if the test runs a program or writes a file."""

    def nothing_runs(*_: object, **__: object) -> None:
        raise AssertionError("reading a document ran a program")

    monkeypatch.setattr(subprocess, "Popen", nothing_runs)
    monkeypatch.setattr("os.system", nothing_runs)
    monkeypatch.chdir(tmp_path)
    yield
    assert not [*tmp_path.iterdir()]


def read_many_corrupted(kind: str, documents: tuple[str, ...], numbers: list[int]) -> None:
    """Read corrupted documents; none may hang the reader."""
    read = 0
    files = tuple(Document("file", text.encode()) for text in documents)
    for number in numbers:
        data = bad_document(files, number * EVERY).data
        with hang_guard():
            read += read_corrupted(kind, data)
    assert 0 < read < len(numbers), "expected valid and invalid documents"


@pytest.mark.parametrize("count", MANY)
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_corrupted_documents(kind: str, count: int, share: Share, inert: None) -> None:
    read_many_corrupted(kind, DOCUMENTS[kind], share.of(range(count)))


@pytest.mark.parametrize("count", MANY)
@pytest.mark.parametrize(("kind", "name"), REAL)
def test_corrupted_documents_of_real_engines(
    kind: str, name: str, count: int, share: Share, inert: None
) -> None:
    read_many_corrupted(kind, (engine_document(name),), share.of(range(count)))


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_valid_documents(kind: str) -> None:
    for text in DOCUMENTS[kind]:
        assert read_corrupted(kind, text.encode())
        assert read_corrupted(kind, b"\xef\xbb\xbf" + text.encode())
    assert not read_corrupted(kind, DOCUMENTS[kind][0].encode("utf-16"))
