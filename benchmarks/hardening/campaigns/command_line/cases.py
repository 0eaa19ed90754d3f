"""Cases: command lines with a bad file, each in its own folder."""

import random
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hardening.corpus.document import Document
from benchmarks.hardening.corpus.special_files import CLOSED, SPECIAL_FILES
from benchmarks.hardening.harness.flink_server import Server
from benchmarks.hardening.mutation.numbered_documents import BOMBS_AT, CUT_AT, bad_document
from benchmarks.hardening.mutation.numbered_documents import COUNT as DOCUMENTS
from benchmarks.hardening.targets import measured, studies
from benchmarks.hardening.targets.commands import COMMANDS, SERVED, Command, GoodFiles
from benchmarks.hardening.targets.parsers import PARSERS

COUNT = 300  # cases per reader
CHECKPOINT = "checkpoint.safetensors"
OUT_NAME = "out.json"  # a suffix that every command accepts
NO_PATH = ("checkpoint", "journal", *measured.NAMES, *studies.NAMES, *SERVED)
"""Readers that take a folder, which the command writes into, or an address instead of a file."""


@dataclass(frozen=True)
class Case:
    """A command line in a folder.

    Parameters
    ----------
    bad
        The path or address of the bad file.
    before
        The paths in the folder before the run.
    closed
        Whether to run without root's permission to open every file.
    """

    command: Command
    words: list[str]
    bad: str
    folder: Path
    before: frozenset[Path]
    closed: bool = False

    def added_files(self) -> list[str]:
        """Return the names of the files that were added to the folder."""
        return sorted(path.name for path in {*self.folder.rglob("*")} - self.before)


class CaseFactory:
    """A factory of cases.

    Parameters
    ----------
    folder
        A folder that holds nothing but the current case.
    trained
        The folder of a finished training run, whose checkpoint is mutated.
    """

    def __init__(self, folder: Path, good_files: GoodFiles, trained: Path, server: Server) -> None:
        self.folder, self.good_files, self.trained, self.server = (
            folder,
            good_files,
            trained,
            server,
        )

    def documents(self, name: str, command: Command) -> tuple[Document, ...]:
        """Return the valid files of a reader that a command accepts."""
        if name == "checkpoint":
            return (Document(CHECKPOINT, (self.trained / CHECKPOINT).read_bytes()),)
        documents = PARSERS[name].documents()
        return tuple(documents[i] for i in command.accepts) if command.accepts else documents

    @contextmanager
    def case(self, name: str, number: int, seed: int = 0) -> Iterator[Case]:
        """Create the case of a number, with the file of `bad_file_of`; delete it afterwards."""
        rng = random.Random(f"{seed}:{name}:{number}")
        command = rng.choice(COMMANDS[name])
        documents, what = self.documents(name, command), bad_file_of(name, number)
        with self._folder(name) as inside:
            if isinstance(what, str):
                bad = SPECIAL_FILES[what](inside, documents[0].data)
                yield self._made(command, bad, inside, what == CLOSED)
                return
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                document = bad_document(documents, what, seed, PARSERS[name].faults)
            yield self._made(command, self._put(name, document, inside), inside)

    @contextmanager
    def good(self, name: str, command: Command, document: Document) -> Iterator[Case]:
        """Create the case of a command and a valid file; delete it after the block."""
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
        """Put a file where the command reads it; return its path or address."""
        for each in (*PARSERS[name].beside(), document):
            (inside / each.name).write_bytes(each.data)
        self.server.file = document.data
        if name in SERVED:
            return self.server.url
        return str(inside if PARSERS[name].takes_folder else inside / document.name)

    def _made(self, command: Command, bad: str, inside: Path, closed: bool = False) -> Case:
        paths = {**self.good_files.paths, "RUN": str(inside), "URL": self.server.url}
        words = GoodFiles(paths).filled(command.words, bad, str(inside / OUT_NAME))
        return Case(command, words, bad, inside, frozenset(inside.rglob("*")), closed)


def bad_file_of(name: str, number: int) -> str | int:
    """Return the bad file of a case: the name of a special file, or the number of a document.

    For readers that take a path, all special files come first. Then follow all bombs, all encodings
    and every third malformed text. The remaining numbers are evenly spread over all documents.
    """
    first: list[str | int] = [] if name in NO_PATH else [*SPECIAL_FILES]
    first += [*range(BOMBS_AT, CUT_AT), *range(0, BOMBS_AT, 3)]
    if number < len(first):
        return first[number]
    return CUT_AT + (number - len(first)) * (DOCUMENTS - CUT_AT) // (COUNT - len(first))
