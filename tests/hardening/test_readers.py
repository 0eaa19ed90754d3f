"""A share of the bad files of every reader; and that it is noticed when a reader is none."""

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from benchmarks.hardening import readers
from benchmarks.hardening.forks import ROOT
from benchmarks.hardening.numbered import (
    CUT_AT,
    ENCODINGS_AT,
    MOST_OFFSETS,
    cut_numbers,
    spoilt,
)
from benchmarks.hardening.parsers import PARSERS, Parser
from benchmarks.hardening.reading import COUNT, numbers_of
from benchmarks.hardening.spoiling import Document
from benchmarks.hardening.watching import Watcher
from benchmarks.hardening.whole import WHOLE
from streamplace.integrations.kinds import READERS
from tests.hardening.bad_readers import BAD, FEW

SHARE = 0.0012


def test_a_share_of_every_reader() -> None:
    rows = list(readers.run(SHARE))
    assert [row.what for row in rows] == [f"reader {name}" for name in PARSERS]
    for row in rows:
        assert row.good, (str(row), row.faults)
        assert row.tried >= SHARE * COUNT


def test_every_reader_of_an_engine_is_there() -> None:
    assert READERS.keys() <= PARSERS.keys()


def test_files_are_told_by_their_numbers() -> None:
    documents = PARSERS["graph"].documents()
    for number in (0, 70, 100, 1000, 19_999):
        assert spoilt(documents, number) == spoilt(documents, number)
    assert spoilt(documents, 19_999) != spoilt(documents, 19_999, seed=1)


def test_shares_have_all_that_is_bad_as_a_whole() -> None:
    assert numbers_of("cluster", 1.0) == [*range(COUNT)]
    found = {number for name in PARSERS for number in numbers_of(name, SHARE)}
    assert {*range(CUT_AT)} <= found


def test_every_offset_of_a_small_file_is_tried() -> None:
    for name, parser in PARSERS.items():
        documents = parser.documents()
        small = min(documents, key=lambda document: len(document.data))
        if name == "checkpoint":
            assert len(small.data) > MOST_OFFSETS
            continue
        found = {spoilt(documents, number).data for number in cut_numbers(documents)}
        assert {small.data[:i] for i in range(len(small.data))} <= found, name


def test_no_bad_file_is_a_good_one() -> None:
    """Not even where nothing in it can be written in another encoding."""
    documents = (Document("file.txt", b"0"),)
    assert all(spoilt(documents, number).data != b"0" for number in range(200))


def test_no_file_is_read_twice(tmp_path: Path) -> None:
    """Others are taken where numbers give the same file; there are only so few of these."""
    read: list[bytes] = []

    def reads(path: str) -> None:
        read.append(Path(path).read_bytes())

    parser = Parser("short", lambda: (Document("file.txt", b"0"),), reads)
    watcher = Watcher(parser, tmp_path, 0)
    for number in range(CUT_AT - len(WHOLE), 400):
        watcher.number(number)
    assert len(read) == len(set(read)) == watcher.seen.tried
    assert watcher.seen.repeats > 0


def test_files_are_the_same_in_every_process() -> None:
    """Whatever the order is that sets have there."""
    told = "from tests.hardening import test_readers; print(*test_readers.hashes(), sep='\\n')"
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    said = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", told],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said.splitlines() == [*hashes()]


def hashes() -> Iterator[str]:
    """Yield a hash over some of the files of each reader."""
    for name, parser in PARSERS.items():
        documents, found = parser.documents(), sha256()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of bad arrays being made; elsewhere they are errors
            for number in range(ENCODINGS_AT, COUNT, 499):
                found.update(spoilt(documents, number, 3, parser.faults).data)
        yield f"{name} {found.hexdigest()}"


def test_readers_that_are_none_are_noticed() -> None:
    """In a process that has loaded little, as that of the campaign has."""
    told = "from tests.hardening import bad_readers; bad_readers.watch()"
    done = subprocess.run(
        [sys.executable, "-c", told],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    found = dict(line.split(": ") for line in done.stdout.splitlines())
    expected = {read.__name__: wrong for read, wrong in BAD.items()}
    assert found == {**expected, FEW.name: "too few"}, done.stderr
