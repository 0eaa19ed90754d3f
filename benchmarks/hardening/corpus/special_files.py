"""Paths other than readable regular files: folders, links, device files, pipes, unusual names."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from benchmarks.hardening.harness.audit_hook import UNRECORDED

CLOSED = "a file that may not be read"
Maker = Callable[[Path, bytes], str]
"""A function of an empty folder and valid data that creates a path in the folder and returns it."""


def _link(to: str) -> Maker:
    def made(folder: Path, good: bytes) -> str:
        (folder / "link").symlink_to(to)
        return str(folder / "link")

    return made


def _folder(folder: Path, good: bytes) -> str:
    (folder / "folder").mkdir()
    return str(folder / "folder")


def _pipe(written: bytes | None) -> Maker:
    """Return a maker of a pipe with a writer; None means that it writes the valid data."""

    def made(folder: Path, good: bytes) -> str:
        pipe = folder / "pipe"
        os.mkfifo(pipe)

        def write() -> None:
            with suppress(OSError), open(pipe, "wb") as file:  # raised if the pipe is never read
                file.write(good if written is None else written)

        threading.Thread(target=write, name=UNRECORDED, daemon=True).start()
        return str(pipe)

    return made


def _empty(folder: Path, good: bytes) -> str:
    (folder / "empty").touch()
    return str(folder / "empty")


def _sparse(folder: Path, good: bytes) -> str:
    with (folder / "sparse").open("wb") as file:
        file.truncate(2**40)
    return str(folder / "sparse")


def _closed(folder: Path, good: bytes) -> str:
    path = folder / "closed"
    path.write_bytes(good)
    path.chmod(0)
    return str(path)


def _below(folder: Path, good: bytes) -> str:
    (folder / "file").write_bytes(good)
    return str(folder / "file" / "below")


def _good_link(folder: Path, good: bytes) -> str:
    (folder / "good").write_bytes(good)
    (folder / "link").symlink_to("good")
    return str(folder / "link")


def _named(name: str) -> Maker:
    return lambda folder, good: str(folder / name)


SPECIAL_FILES: dict[str, Maker] = {
    "a link to nothing": _link("nowhere"),
    "a link to itself": _link("link"),
    "a link to /dev/zero": _link("/dev/zero"),
    "a link to /dev/null": _link("/dev/null"),
    "a link to /etc": _link("/etc"),
    "a link to /proc/self/mem": _link("/proc/self/mem"),
    "a link to a good file": _good_link,
    "a folder": _folder,
    "an empty file": _empty,
    "a sparse file of 1 TiB": _sparse,
    CLOSED: _closed,
    "a file below a file": _below,
    "a pipe": _pipe(None),
    "an empty pipe": _pipe(b""),
    "a name with a NUL": _named("a\0b"),
    "a name with a lone surrogate": _named("a\udc80b"),
    "a name with a newline": _named("a\nb"),
    "a name that is too long": _named("n" * 300),
    "a path that is too long": _named("n/" * 5000),
    "an empty path": lambda folder, good: "",
}
"""Description -> maker."""
