"""Documents of other systems, read by kind."""

import pytest

from streamplace.errors import FormatError
from streamplace.formats.documents import read_text_as
from streamplace.problem.logical import LogicalGraph
from tests.support.errors import fault_of

Edges = list[tuple[str, str]]


def read_document(kind: str, text: str) -> LogicalGraph:
    """Read a document named `file`."""
    return read_text_as(text, "file", kind)


def edges(job: LogicalGraph) -> Edges:
    """Return the ends of the streams, sorted."""
    return sorted((stream.source, stream.target) for stream in job.graph.streams)


def refused_document(kind: str, text: str) -> str:
    """Read a document that must be refused, and return the reason."""
    with pytest.raises(FormatError) as caught:
        read_document(kind, text)
    return fault_of(caught.value, "file")
