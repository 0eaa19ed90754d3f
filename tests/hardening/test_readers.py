"""A share of the bad files of every reader; and that it is noticed when a reader is none."""

import os
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from benchmarks.hardening import readers
from benchmarks.hardening.forks import ROOT
from benchmarks.hardening.numbered import (
    BOMBS_AT,
    CUT_AT,
    ENCODINGS_AT,
    MOST_OFFSETS,
    cut_numbers,
    spoilt,
)
from benchmarks.hardening.parsers import PARSERS, Parser
from benchmarks.hardening.reading import COUNT, numbers_of, seen_of
from benchmarks.hardening.spoiling import Document
from benchmarks.hardening.using import WrongError
from benchmarks.hardening.watching import Watcher
from benchmarks.hardening.whole import WHOLE
from streamplace.engines.kinds import READERS
from streamplace.errors import FormatError

SHARE = 0.003
GOOD = (Document("file.json", b'{"a": [1, 2, 3]}'),)


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
    assert numbers_of(1.0) == [*range(COUNT)]


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
    told = "from tests.hardening import test_readers; test_readers.print_files()"
    said = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", told],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert len(said[0].splitlines()) == len(PARSERS)
    assert said[0] == said[1]


def print_files() -> None:
    """Print a hash over some of the files of each reader."""
    for name, parser in PARSERS.items():
        documents, found = parser.documents(), sha256()
        for number in (*range(BOMBS_AT), *range(ENCODINGS_AT, COUNT, 97)):
            found.update(spoilt(documents, number, 3, parser.faults).data)
        print(name, found.hexdigest())  # noqa: T201


def _raises(path: str) -> None:
    raise KeyError(path)


def _warns(path: str) -> None:
    warnings.warn("odd", stacklevel=1)


def _ignores(path: str) -> None:
    class Odd:
        def __del__(self) -> None:
            raise KeyError(path)

    Odd()


def _says_two_lines(path: str) -> None:
    error = FormatError(path)
    error.__class__ = type("Long", (FormatError,), {"__str__": lambda self: f"{path}\nand more"})
    raise error


def _names_nothing(path: str) -> None:
    raise FormatError("is bad")


def _takes_long(path: str) -> None:
    began = time.process_time()
    while time.process_time() - began < 1.2:
        pass


def _goes_on(path: str) -> None:
    while True:
        pass


def _takes_memory(path: str) -> None:
    bytearray(400 * 2**20)


def _runs(path: str) -> None:
    subprocess.run(["true"], check=True)


def _writes(path: str) -> None:
    Path("executed").touch()
    with open("executed", "w"):
        pass


def _opens(path: str) -> None:
    os.close(os.open("executed", os.O_WRONLY | os.O_CREAT))


def _makes_a_folder(path: str) -> None:
    os.mkdir("executed")


def _links(path: str) -> None:
    os.link(path, "executed")


def _links_by_name(path: str) -> None:
    os.symlink(path, "executed")


def _truncates(path: str) -> None:
    os.truncate(path, 0)


def _renames(path: str) -> None:
    os.rename(path, path)


def _removes(path: str) -> None:
    with suppress(FileNotFoundError):
        os.remove(Path(path).with_name("nobody"))


def _changes_its_mode(path: str) -> None:
    os.chmod(path, 0o600)


def _makes_a_pipe(path: str) -> None:
    """Of which Python tells no hook: it is found in the folder."""
    os.mkfifo("executed")


def _calls(path: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect(("127.0.0.1", 9))


def _sleeps(path: str) -> None:
    time.sleep(1.5)


def _ends(path: str) -> None:
    os._exit(3)


def _scores_nothing(path: str) -> None:
    raise WrongError("no number")


BAD: dict[Callable[[str], None], str] = {
    _raises: "tracebacks",
    _warns: "tracebacks",
    _ignores: "tracebacks",
    _says_two_lines: "unclear messages",
    _names_nothing: "unclear messages",
    _takes_long: "hangs",
    _goes_on: "hangs",
    _takes_memory: "over 300 MB",
    _runs: "acts",
    _writes: "acts",
    _opens: "acts",
    _makes_a_folder: "acts",
    _links: "acts",
    _links_by_name: "acts",
    _truncates: "acts",
    _renames: "acts",
    _removes: "acts",
    _changes_its_mode: "acts",
    _makes_a_pipe: "acts",
    _calls: "acts",
    _sleeps: "hangs",
    _ends: "tracebacks",
    _scores_nothing: "wrong figures",
}


def test_readers_that_are_none_are_noticed() -> None:
    """In a process that has loaded little, as that of the campaign has."""
    told = "from tests.hardening import test_readers; test_readers.watch_bad_readers()"
    done = subprocess.run(
        [sys.executable, "-c", told],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    found = dict(line.split(": ") for line in done.stdout.splitlines())
    assert found == {read.__name__: wrong for read, wrong in BAD.items()}, done.stderr


def watch_bad_readers() -> None:
    """Read one bad file by each, and print what is noticed."""
    for read in BAD:
        PARSERS["bad"] = bad(read)
        seen = seen_of("bad", 1 / COUNT, 0)
        print(f"{read.__name__}: {', '.join(seen.wrong)}")  # noqa: T201


def bad(read: Callable[[str], None]) -> Parser:
    """Return a reader that is fine with good files alone."""

    def careful(path: str) -> None:
        if path.endswith("file.json") and Path(path).read_bytes() != GOOD[0].data:
            read(path)

    return Parser("bad", lambda: GOOD, careful)
