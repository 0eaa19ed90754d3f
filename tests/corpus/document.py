"""The name and content of a file."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
    """A file: its name and its content."""

    name: str
    data: bytes
