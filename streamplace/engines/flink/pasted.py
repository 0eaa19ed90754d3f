"""Plans of Flink within other texts: below headings, between lines of a shell, or in a table."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from streamplace.errors import FormatError

HEADING = re.compile(r"^[|│ \t]*== (Abstract Syntax Tree|[\w ]+ Plan) ==", re.MULTILINE)
"""What `EXPLAIN` writes above each part, also in the borders of a table."""
PHYSICAL = "== Physical Execution Plan =="
ROW = re.compile(r"^([ \t]*[|│] ?)(.*?)( ?[|│][ \t\r]*)$", re.MULTILINE)
OBJECT = re.compile(r"\{[\s\0]*\"")
MOST = 100  # objects that are tried, since each may reach to the end of the text
EDGE = "\0"  # stands for a character of a border; JSON has none
STRING = re.compile(rf'"(?:[^"\\]|\\(?: *{EDGE}*\n{EDGE}*)?.)*"', re.DOTALL)
IN_STRING = re.compile(rf"( *){EDGE}+\n{EDGE}+")
IN_WORD = re.compile(rf"(?<=[\w.+-]){EDGE}+\n{EDGE}+(?=[\w.+-])")


def only_plan(text: str, where: str) -> str:
    """Return a text in which only its plan is left, in the same lines and columns.

    In the borders of a table, a line may be divided into several rows. The columns behind such a
    place differ.

    Raises
    ------
    FormatError
        If the text is that of an `EXPLAIN` without a plan in JSON, or has several plans.
    """
    begin = text.lstrip()[:1]
    if begin in ("", "["):
        return text
    marked = ROW.sub(lambda row: EDGE * len(row[1]) + row[2] + EDGE * len(row[3]), text)
    found, is_plan = "", False
    for start in _starts(marked):
        piece = _join_rows(marked[start:])
        try:
            value, end = json.JSONDecoder().raw_decode(piece)
        except (ValueError, RecursionError):  # which `parse` words
            value, end = None, len(piece)
        is_plan = _is_plan(value)
        if is_plan or not found:
            found = re.sub(r"[^\n]", " ", text[:start]) + piece[:end]
        if is_plan:
            _refuse_another(piece, end, found, where)
            break
    if HEADING.search(text) and not is_plan and (PHYSICAL not in text or not found):
        raise FormatError(
            f"{where}: has no execution plan in JSON; save the output of EXPLAIN "
            "JSON_EXECUTION_PLAN instead, or of explain_sql with JSON_EXECUTION_PLAN"
        )
    return found or text


def _refuse_another(piece: str, end: int, found: str, where: str) -> None:
    """Raise a FormatError if a text has another plan behind the first one."""
    for number, each in enumerate(OBJECT.finditer(piece, end)):
        if number == MOST or piece.find('"nodes"', each.start()) < 0:
            return
        try:
            value, _ = json.JSONDecoder().raw_decode(piece, each.start())
        except (ValueError, RecursionError):
            continue
        if _is_plan(value):
            line = 1 + found.count("\n") + piece.count("\n", end, each.start())
            raise FormatError(
                f"{where}: line {line}: has another plan; save each job in a file of its own"
            )


def _starts(text: str) -> Iterator[int]:
    """Yield where objects may begin: below the heading of the plan, if there is one."""
    at = max(text.find(PHYSICAL), 0)
    first = len(text) - len(text.lstrip())
    if not at and text[first] == "{":
        yield first
        at = first + 1
    for number, each in enumerate(OBJECT.finditer(text, at)):
        if number == MOST:
            return
        yield each.start()


def _join_rows(text: str) -> str:
    """Return a text without borders, in which rows that divide a string or number are joined."""
    if EDGE not in text:
        return text
    whole = STRING.sub(_of_string, text)
    return IN_WORD.sub("", whole).replace(EDGE, " ")


def _of_string(match: re.Match[str]) -> str:
    joined, count = IN_STRING.subn(lambda edge: edge[1][:1], match[0])
    return joined + "\n" * count


def _is_plan(value: Any) -> bool:
    return isinstance(value, Mapping) and (
        isinstance(value.get("nodes"), list) or isinstance(value.get("plan"), Mapping)
    )
