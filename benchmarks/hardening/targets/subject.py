"""A good file together with the function that reads it."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path

State = Callable[[], Hashable]


@dataclass(frozen=True)
class Subject:
    """A good file and its reader.

    Parameters
    ----------
    load
        Reads a file; raises if it refuses the file.
    state
        Returns the state that files are loaded into; a refused file must leave it unchanged. None
        means that a file is not loaded into existing state.
    """

    name: str
    data: bytes
    load: Callable[[Path], object]
    state: State | None = None
