"""Reader of a job from one table, CSV: its operators, streams and costs."""

import re

from streamplace.errors import FormatError, located
from streamplace.formats.columns import FROM, OPERATOR, TO, WORDS
from streamplace.formats.costs import Costs
from streamplace.formats.format import Format, Signs
from streamplace.formats.tables import table_of
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.logical import LogicalGraph
from streamplace.util.suggest import did_you_mean


def read(text: str, where: str) -> LogicalGraph:
    """Read a job from a table; see `table_of`.

    Raises
    ------
    FormatError
        If the text is not valid, the table has no streams, or it has rows of operators and none for
        an end of a stream. The message names `where`, the lines
        and the faults.
    GraphError
        If it is not a stream graph.
    """
    with located(where, FormatError):
        table = table_of(text)
    if not table.streams:
        streams = f"columns {FROM!r} and {TO!r} name the operators before and after each one"
        raise FormatError(f"{where}: has no streams; {streams}")
    named = [name for ends in table.streams for name in ends]
    if table.operators and (unknown := [name for name in named if name not in table.operators]):
        close = did_you_mean(unknown[0], table.operators)
        if {*re.split(r"\s*[|,/+&]\s*", unknown[0])} <= {*table.operators}:
            close = "; semicolons separate several operators"
        what = f"no row is about operator {unknown[0]!r:.40}, which {FROM!r} or {TO!r} names"
        raise FormatError(f"{where}: {what}{close}")
    names = dict.fromkeys((*table.operators, *named))
    streams_of = [
        Stream(*ends, numbers.pop("selectivity", UNKNOWN), numbers.pop("payload_bytes", None))
        for ends, numbers in table.streams.items()
    ]
    graph = StreamGraph([Operator(name, UNKNOWN, UNKNOWN) for name in names], streams_of)
    return Costs.of_table(table, where).of(LogicalGraph(graph))


def _with(column: str) -> str:
    """Return a pattern of a line with a cell that is one of the words for a column."""
    words = "|".join((column, *WORDS[column]))
    return rf'(?=(?:[^\n]*,)?[ "]*(?:{words})[ "]*(?:,|\r?\n))'


FORMAT = Format(
    "csv",
    about="a table of operators and streams, CSV, as a spreadsheet saves it",
    read=read,
    signs=Signs(
        text=re.compile(
            rf"\A(?:{_with(FROM)}{_with(TO)}|{_with(OPERATOR)}(?:{_with(FROM)}|{_with(TO)}))",
            re.IGNORECASE,
        )
    ),
)
