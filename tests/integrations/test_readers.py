"""The table of what readers read, in docs/engines, against the documents that they read."""

import json
from collections.abc import Callable

import pytest

from benchmarks.hardening.corpus.engine_documents import DOCUMENTS
from benchmarks.hardening.corpus.engine_documents.flink import (
    FLINK_COMPILED,
    FLINK_EXECUTION,
    FLINK_RUNNING,
    FLINK_TABLES,
)
from streamplace.problem.logical import LogicalGraph
from tests.support.documents import read_document
from tests.support.paths import ROOT

TEXT = (ROOT / "docs" / "engines" / "index.md").read_text()
COLUMNS = {
    "Flink: [execution plan](flink.md)": ("flink-plan", [json.dumps(FLINK_EXECUTION)]),
    "REST plan": ("flink-plan", [json.dumps(FLINK_RUNNING)]),
    "compiled plan of SQL": ("flink-plan", [*map(json.dumps, (FLINK_COMPILED, FLINK_TABLES))]),
    **{f"`{kind}`": (kind, [*DOCUMENTS[kind]]) for kind in DOCUMENTS},
}
"""Heading of a column -> the format, and documents of it."""
FACTS: dict[str, Callable[[LogicalGraph], object]] = {
    "streams": lambda found: len(found.graph.streams),
    "parallelism": lambda found: found.parallelism,
    "operators on one device": lambda found: found.graph.constraints.colocate,
    "operators on different devices": lambda found: found.graph.constraints.exlocate,
    "tags of hosts": lambda found: found.graph.requires,
    "memory": lambda found: found.graph.memory_bytes.any(),
    "state between passes": lambda found: found.graph.constraints.colocate,
    "bytes of tensors": lambda found: found.graph.payload_bytes.any(),
}
"""Row -> whether a graph has that fact."""


def cells() -> dict[tuple[str, str], str]:
    """Return (row, column) -> the text of the cell, of the columns that are tested."""
    found, heading = dict[tuple[str, str], str](), list[str]()
    for line in TEXT[TEXT.index("## What each reader reads") :].split("\n"):
        row = [cell.strip() for cell in line.strip("|").split("|")] if line[:1] == "|" else []
        if row and not heading:
            heading = row
        elif not row:
            heading = []
        elif row[0] in FACTS:
            pairs = zip(heading[1:], row[1:], strict=True)
            found |= {(row[0], column): cell for column, cell in pairs if column in COLUMNS}
    return found


CELLS = cells()


def test_all_facts_are_in_the_table() -> None:
    assert {row for row, _ in CELLS} == {*FACTS}


@pytest.mark.parametrize(("row", "column"), CELLS)
def test_a_fact_is_read_where_the_table_says_so(row: str, column: str) -> None:
    kind, documents = COLUMNS[column]
    is_read = any(FACTS[row](read_document(kind, text)) for text in documents)
    says_so = not CELLS[row, column].startswith(("no", "costs"))
    assert bool(is_read) == says_so
