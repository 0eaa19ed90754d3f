"""Reading documents in tests."""

import pytest

from streamplace.engines.job import Job
from streamplace.engines.registry import read_text_as
from streamplace.errors import FormatError

Edges = list[tuple[str, str]]


def read(kind: str, text: str) -> Job:
    """Read a document that is called ``file``."""
    return read_text_as(text, "file", kind)


def edges(job: Job) -> Edges:
    """Return the ends of the streams, sorted."""
    return sorted((stream.source, stream.target) for stream in job.graph.streams)


def refused(kind: str, text: str) -> str:
    """Read a document that must be refused in one line, and return what is said of it."""
    with pytest.raises(FormatError) as caught:
        read(kind, text)
    said = str(caught.value)
    assert said.startswith("file: ")
    assert len(said.splitlines()) == 1
    return said.removeprefix("file: ")
