"""Readers of bad files: a share of the campaign passes, and faults are counted."""

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.hardening.campaigns.readers import campaign
from benchmarks.hardening.campaigns.readers.limits import GENEROUS, LIMITS
from benchmarks.hardening.campaigns.readers.process import numbers_of
from benchmarks.hardening.campaigns.readers.watcher import Watcher
from benchmarks.hardening.corpus.document import Document
from benchmarks.hardening.corpus.engine_documents import IMPORTED
from benchmarks.hardening.corpus.malformed_texts import MALFORMED
from benchmarks.hardening.harness.environment import ROOT
from benchmarks.hardening.mutation.numbered_documents import (
    COUNT,
    CUT_AT,
    MAX_OFFSETS,
    bad_document,
    cut_numbers,
)
from benchmarks.hardening.targets.parsers import PARSERS, Parser
from streamplace.formats.registry import formats
from tests.support.hardening.document_hashes import hashes
from tests.support.hardening.faulty_readers import BAD, FEW

SHARE = 0.0012
FORGOTTEN = """
from benchmarks.hardening.campaigns.readers.watcher import forget_peak, peak_bytes
bytearray(500_000_000)
forget_peak()
print(peak_bytes())
"""


def test_a_share_of_every_reader() -> None:
    """Times are not checked; a reader that does not end is stopped, which is a fault."""
    rows = list(campaign.run(SHARE, limits=GENEROUS))
    assert [row.what for row in rows] == [f"reader {name}" for name in PARSERS]
    for row in rows:
        assert row.good, (str(row), row.faults)
        assert row.tried >= SHARE * COUNT


def test_the_memory_of_a_reader_is_its_own() -> None:
    """That of the process that started it does not count, nor what was freed before it began."""
    own = bytearray(400_000_000)
    started = subprocess.run(
        [sys.executable, "-c", FORGOTTEN], cwd=ROOT, capture_output=True, check=True
    )
    assert int(started.stdout) < 3e8 < len(own)


def test_every_reader_of_engine_documents_is_tried() -> None:
    readers = {each.name for each in formats() if each.read or each.read_bytes}
    assert readers - ({"onnx"} - set(IMPORTED)) <= PARSERS.keys()


def test_numbers_and_seeds_identify_files() -> None:
    documents = PARSERS["graph"].documents()
    for number in (0, 70, 100, 1000, 19_999):
        assert bad_document(documents, number) == bad_document(documents, number)
    assert bad_document(documents, 19_999) != bad_document(documents, 19_999, seed=1)


def test_a_share_covers_all_malformed_files() -> None:
    assert numbers_of("cluster", 1.0) == [*range(COUNT)]
    found = {number for name in PARSERS for number in numbers_of(name, SHARE)}
    assert {*range(CUT_AT)} <= found


def test_every_offset_of_a_small_file_is_tried() -> None:
    for name, parser in PARSERS.items():
        documents = parser.documents()
        small = min(documents, key=lambda document: len(document.data))
        if name == "checkpoint":
            assert len(small.data) > MAX_OFFSETS
            continue
        found = {bad_document(documents, number).data for number in cut_numbers(documents)}
        assert {small.data[:i] for i in range(len(small.data))} <= found, name


def test_no_bad_file_equals_its_original() -> None:
    """Encodings that leave the file as it is must not be used."""
    documents = (Document("file.txt", b"0"),)
    assert all(bad_document(documents, number).data != b"0" for number in range(200))


def test_no_file_is_read_twice(tmp_path: Path) -> None:
    """Numbers that result in the same file are skipped."""
    read: list[bytes] = []

    def reads(path: str) -> None:
        read.append(Path(path).read_bytes())

    parser = Parser("short", lambda: (Document("file.txt", b"0"),), reads)
    watcher = Watcher(parser, tmp_path, 0, LIMITS[GENEROUS])
    for number in range(CUT_AT - len(MALFORMED), 400):
        watcher.read_numbered(number)
    assert len(read) == len(set(read)) == watcher.results.tried
    assert watcher.results.repeats > 0


def test_files_are_the_same_in_every_process() -> None:
    """Bad files do not depend on the order of sets, which differs between processes."""
    program = (
        "from tests.support.hardening.document_hashes import hashes; print(*hashes(), sep='\\n')"
    )
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    output = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert output.splitlines() == [*hashes()]


def test_faulty_readers_are_noticed() -> None:
    """The readers run in a new process, which has loaded as little as the campaign's."""
    program = "from tests.support.hardening.faulty_readers import report; report()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    found = dict(line.split(": ") for line in done.stdout.splitlines())
    expected = {read.__name__: wrong for read, wrong in BAD.items()}
    assert found == {**expected, FEW.name: "too few"}, done.stderr
