"""Bad files where a command line finds them: each in a folder of its own, with its command."""

import random
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hardening.commands import COMMANDS, Command, Given
from benchmarks.hardening.flink_server import Server
from benchmarks.hardening.numbered import BOMBS_AT, CUT_AT, spoilt
from benchmarks.hardening.odd_files import CLOSED, ODD
from benchmarks.hardening.parsers import PARSERS
from benchmarks.hardening.reading import COUNT as SPOILT
from benchmarks.hardening.spoiling import Document

COUNT = 300
CHECKPOINT = "checkpoint.safetensors"
OUT_NAME = "out.json"  # which every command takes
NO_PATH = ("checkpoint", "flink-rest")
"""Readers that are not told a path: the file stands among others, or behind an address."""


@dataclass(frozen=True)
class Case:
    """A command line in a folder.

    Parameters
    ----------
    bad
        What it is told of the bad file: a path, or an address.
    there
        What is in the folder before it runs.
    closed
        Whether it is to be without what root may do to files that are closed.
    """

    command: Command
    words: list[str]
    bad: str
    folder: Path
    there: frozenset[Path]
    closed: bool = False

    def left(self) -> list[str]:
        """Return what is in the folder since."""
        return sorted(path.name for path in {*self.folder.rglob("*")} - self.there)


class Places:
    """Makes cases.

    Parameters
    ----------
    folder
        Of nobody else.
    trained
        A finished run, whose checkpoint is spoilt.
    """

    def __init__(self, folder: Path, given: Given, trained: Path, server: Server) -> None:
        self.folder, self.given, self.trained, self.server = folder, given, trained, server

    def documents(self, name: str, command: Command) -> tuple[Document, ...]:
        """Return the good files of a reader that a command takes."""
        if name == "checkpoint":
            return (Document(CHECKPOINT, (self.trained / CHECKPOINT).read_bytes()),)
        found = PARSERS[name].documents()
        return found if command.of is None else tuple(found[i] for i in command.of)

    @contextmanager
    def case(self, name: str, number: int, seed: int = 0) -> Iterator[Case]:
        """Make the case of a number; `what_of` tells of which bad file it is."""
        chance = random.Random(f"{seed}:{name}:{number}")
        command = chance.choice(COMMANDS[name])
        documents, what = self.documents(name, command), what_of(name, number)
        with self._folder(name) as inside:
            if isinstance(what, str):
                bad = ODD[what](inside, documents[0].data)
                yield self._made(command, bad, inside, what == CLOSED)
                return
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                document = spoilt(documents, what, seed, PARSERS[name].faults)
            yield self._made(command, self._put(name, document, inside), inside)

    @contextmanager
    def good(self, name: str, command: Command, document: Document) -> Iterator[Case]:
        """Make the case of a command and a good file."""
        with self._folder(name) as inside:
            yield self._made(command, self._put(name, document, inside), inside)

    @contextmanager
    def _folder(self, name: str) -> Iterator[Path]:
        inside = self.folder / "case"
        inside.mkdir()
        if name == "checkpoint":
            shutil.copytree(self.trained, inside, dirs_exist_ok=True)
        try:
            yield inside
        finally:
            shutil.rmtree(inside, ignore_errors=True)

    def _put(self, name: str, document: Document, inside: Path) -> str:
        """Put a file where it is read; return what a command is told of it."""
        (inside / document.name).write_bytes(document.data)
        self.server.file = document.data
        if name == "flink-rest":
            return self.server.url
        return str(inside if PARSERS[name].of_folder else inside / document.name)

    def _made(self, command: Command, bad: str, inside: Path, closed: bool = False) -> Case:
        paths = {**self.given.paths, "RUN": str(inside), "URL": self.server.url}
        words = Given(paths).filled(command.words, bad, str(inside / OUT_NAME))
        return Case(command, words, bad, inside, frozenset(inside.rglob("*")), closed)


def what_of(name: str, number: int) -> str | int:
    """Return the bad file of a case: the name of an odd one, or the number of a spoilt one.

    First all the odd ones, where a path is told; then all bombs and encodings, and every third of
    those that are bad as a whole; the others are from all over.
    """
    first: list[str | int] = [] if name in NO_PATH else [*ODD]
    first += [*range(BOMBS_AT, CUT_AT), *range(0, BOMBS_AT, 3)]
    if number < len(first):
        return first[number]
    return CUT_AT + (number - len(first)) * (SPOILT - CUT_AT) // (COUNT - len(first))
