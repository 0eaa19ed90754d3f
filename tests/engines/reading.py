"""Reading documents in tests."""

import pytest

from streamplace.errors import FormatError
from streamplace.integrations.registry import read_text_as
from streamplace.problem.logical import LogicalGraph

Edges = list[tuple[str, str]]


def read(kind: str, text: str) -> LogicalGraph:
    """Read a document that is called ``file``."""
    return read_text_as(text, "file", kind)


def edges(job: LogicalGraph) -> Edges:
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
