"""Bad files where a command line finds them: each in a folder of its own, with its command."""

import random
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hardening.commands import COMMANDS, Given
from benchmarks.hardening.flink_server import Server
from benchmarks.hardening.numbered import spoilt
from benchmarks.hardening.odd_files import ODD
from benchmarks.hardening.parsers import PARSERS
from benchmarks.hardening.reading import COUNT as SPOILT
from benchmarks.hardening.spoiling import Document

COUNT = 300
CHECKPOINT = "checkpoint.safetensors"


@dataclass(frozen=True)
class Case:
    """A command line in a folder.

    Parameters
    ----------
    there
        What is in the folder before it runs.
    """

    words: list[str]
    folder: Path
    there: frozenset[Path]

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

    def documents(self, name: str) -> tuple[Document, ...]:
        """Return the good files of a reader."""
        if name == "checkpoint":
            return (Document(CHECKPOINT, (self.trained / CHECKPOINT).read_bytes()),)
        return PARSERS[name].documents()

    @contextmanager
    def case(self, name: str, number: int, seed: int = 0) -> Iterator[Case]:
        """Make a case: the first numbers are of odd files, the rest from all over the spoilt."""
        inside = self.folder / "case"
        inside.mkdir()
        parser, documents = PARSERS[name], self.documents(name)
        if name == "checkpoint":
            shutil.copytree(self.trained, inside, dirs_exist_ok=True)
        if number < len(ODD) and name not in ("checkpoint", "flink-rest"):
            bad = [*ODD.values()][number](inside, documents[0].data)
        else:
            at = (number - len(ODD)) * SPOILT // (COUNT - len(ODD))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                document = spoilt(documents, max(at, number), seed, parser.faults)
            (inside / document.name).write_bytes(document.data)
            self.server.file = document.data
            bad = str(inside if parser.of_folder else inside / document.name)
        chance = random.Random(f"{seed}:{name}:{number}")
        paths = {**self.given.paths, "RUN": str(inside), "URL": self.server.url}
        words = Given(paths).filled(
            chance.choice(COMMANDS[name]), bad, str(inside / chance.choice(("out.json", "out")))
        )
        try:
            yield Case(words, inside, frozenset(inside.rglob("*")))
        finally:
            shutil.rmtree(inside, ignore_errors=True)
