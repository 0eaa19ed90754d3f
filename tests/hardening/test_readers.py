"""A share of the bad files of every reader; and that it is noticed when a reader is none."""

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from benchmarks.hardening import readers
from benchmarks.hardening.forks import ROOT
from benchmarks.hardening.parsers import PARSERS, Parser
from benchmarks.hardening.reading import COUNT, numbers_of, seen_of
from benchmarks.hardening.spoiling import Document, spoilt
from benchmarks.hardening.using import WrongError
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


def _raises(path: str) -> None:
    raise KeyError(path)


def _warns(path: str) -> None:
    warnings.warn("odd", stacklevel=1)


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


def _ends(path: str) -> None:
    os._exit(3)


def _scores_nothing(path: str) -> None:
    raise WrongError("no number")


BAD: dict[Callable[[str], None], str] = {
    _raises: "tracebacks",
    _warns: "tracebacks",
    _says_two_lines: "unclear messages",
    _names_nothing: "unclear messages",
    _takes_long: "hangs",
    _goes_on: "hangs",
    _takes_memory: "over 300 MB",
    _runs: "acts",
    _writes: "acts",
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
    assert found == {read.__name__: f"1 {wrong}" for read, wrong in BAD.items()}, done.stderr


def watch_bad_readers() -> None:
    """Read one bad file by each, and print what is noticed."""
    for read in BAD:
        PARSERS["bad"] = bad(read)
        seen = seen_of("bad", 1 / COUNT, 0)
        print(f"{read.__name__}: {', '.join(f'{n} {what}' for what, n in seen.wrong.items())}")  # noqa: T201


def bad(read: Callable[[str], None]) -> Parser:
    """Return a reader that is fine with good files alone."""

    def careful(path: str) -> None:
        if path.endswith("file.json") and Path(path).read_bytes() != GOOD[0].data:
            read(path)

    return Parser("bad", lambda: GOOD, careful)
