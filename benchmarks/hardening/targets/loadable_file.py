"""A valid file together with the function that reads it."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path

State = Callable[[], Hashable]


@dataclass(frozen=True)
class LoadableFile:
    """A valid file and its reader.

    Parameters
    ----------
    load
        Reads a file; raises if it refuses the file.
    state
        Returns the state into which files are loaded; a refused file must leave it unchanged. None
        means that the reader has no such state.
    """

    name: str
    data: bytes
    load: Callable[[Path], object]
    state: State | None = None
