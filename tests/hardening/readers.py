"""Targets of readers: a bad file gives a consistent value, or a message of one line."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import chdir, suppress
from functools import cache, partial
from pathlib import Path

from streamplace.errors import StreamplaceError
from tests.corpus.document import Document
from tests.corpus.malformed_texts import BOMBS, MALFORMED
from tests.corpus.seed_archives import seeds
from tests.hardening.inputs import document_of, names_of
from tests.hardening.mutations import bad_files
from tests.hardening.target import FaultError, Target, message_of, watched
from tests.hardening.targets.readers import READERS, SERVED

MAX_CUTS = 2000


def check(name: str, document: Document) -> None:
    """Read a file and use the value; valid files must be read."""
    reader = READERS[name]
    with tempfile.TemporaryDirectory(prefix="streamplace-read-") as folder, chdir(folder):
        path = Path(folder, document.name)
        path.write_bytes(document.data)
        at, reading = folder if reader.takes_folder else str(path), True
        try:
            with watched():
                value = reader.read(at)
                reading = False
            with watched():
                reader.use(value)
        except StreamplaceError as error:
            message = message_of(error)
            if reading and document in documents(name):
                raise FaultError(f"a valid file is refused: {message}") from error
            if reading and name not in SERVED and folder not in message:
                raise FaultError(f"the message does not name the file: {message}") from error
        if os.listdir(folder) != [document.name]:
            raise FaultError(f"has left files: {os.listdir(folder)}")


@cache
def documents(name: str) -> tuple[Document, ...]:
    """Return the valid files of a reader."""
    return READERS[name].documents()


def _target(name: str) -> Target:
    def valid() -> Iterable[Document]:
        """Read each valid file once unwatched, so that everything is imported and compiled."""
        for document in documents(name):
            _read(name, document)
        return documents(name)

    return Target(
        lambda: bad_files(documents(name)), partial(check, name), valid, READERS[name].is_slow
    )


def _read(name: str, document: Document) -> None:
    reader = READERS[name]
    with tempfile.TemporaryDirectory(prefix="streamplace-read-") as folder:
        path = Path(folder, document.name)
        path.write_bytes(document.data)
        with suppress(StreamplaceError):
            reader.use(reader.read(folder if reader.takes_folder else str(path)))


def known(name: str) -> Iterator[Document]:
    """Yield malformed texts and bombs, what fuzzing found with earlier versions, and all cuts."""
    names, (first, *_) = names_of(documents(name)), documents(name)
    for text in MALFORMED:
        yield Document(first.name, text.encode(errors="surrogatepass"))
    for bomb in BOMBS:
        yield Document(first.name, bomb())
    for data in seeds(name):
        yield document_of(names, data)
    smallest = min(documents(name), key=lambda one: len(one.data))
    for at in range(0, len(smallest.data), 1 + len(smallest.data) // MAX_CUTS):
        yield Document(smallest.name, smallest.data[:at])


TARGETS = {name: _target(name) for name in READERS}
"""Name of a reader -> its target."""
