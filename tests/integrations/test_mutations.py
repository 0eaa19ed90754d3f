"""Spoilt documents, each read as a graph or refused in one line, quickly."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.hardening.corpus.document import Document
from benchmarks.hardening.corpus.engine_documents import DOCUMENTS
from benchmarks.hardening.mutation.numbered_documents import spoilt
from streamplace.errors import FormatError, GraphError
from streamplace.files.graphs import graph_from, graph_to
from streamplace.files.reading import decode
from streamplace.integrations.registry import read_text_as
from streamplace.problem.expansion import to_instances
from tests.support.errors import fault_of
from tests.support.released_data import engine_document

COUNT = 2_000
EVERY = 40  # of the numbers of bad files; the campaign of tests/hardening reads others
REAL = (
    ("flink-plan", "flink23_mixed_chained_plan.json"),
    ("flink-plan", "flink23_mixed_nochain_job.json"),
    ("flink-plan", "flink23_sql_q4_execplan.json"),
    ("ibm-streamsx", "streamsx21_wordcount_graph.json"),
)
SMALL = 1000


def read_spoilt(kind: str, data: bytes) -> bool:
    """Read a document like the command line, and return whether it was accepted."""
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
        except GraphError:  # an instance is called as an operator is
            assert "[" in " ".join(job.graph.names)
    return True


@pytest.fixture
def inert(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Fail if anything is run or written during the test."""

    def nothing_runs(*_: object, **__: object) -> None:
        raise AssertionError("a document made something run")

    monkeypatch.setattr(subprocess, "Popen", nothing_runs)
    monkeypatch.setattr("os.system", nothing_runs)
    monkeypatch.chdir(tmp_path)
    yield
    assert not [*tmp_path.iterdir()]


def spoil(kind: str, documents: tuple[str, ...]) -> None:
    """Read spoilt documents, 500 in all.

    A second of this process's own time fails: it is a guard against hangs, not a measurement. The
    slowest seen took 0.09 s, and other processes do not count.
    """
    read = 0
    files = tuple(Document("file", text.encode()) for text in documents)
    for number in range(COUNT):
        data = spoilt(files, number * EVERY).data
        began = time.process_time()
        read += read_spoilt(kind, data)
        assert time.process_time() - began < 1, data[:200]
    assert 0 < read < COUNT, "faults of all sorts, and none at all"


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_spoilt_documents(kind: str, inert: None) -> None:
    spoil(kind, DOCUMENTS[kind])


@pytest.mark.parametrize(("kind", "name"), REAL)
def test_spoilt_documents_of_real_engines(kind: str, name: str, inert: None) -> None:
    spoil(kind, (engine_document(name),))


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_good_documents(kind: str) -> None:
    for text in DOCUMENTS[kind]:
        assert read_spoilt(kind, text.encode())
        assert read_spoilt(kind, b"\xef\xbb\xbf" + text.encode())
    assert not read_spoilt(kind, DOCUMENTS[kind][0].encode("utf-16"))
