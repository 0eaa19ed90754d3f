"""Messages about text that is not JSON."""

import re
from json import JSONDecodeError

_PLAIN = {
    "Expecting value": "expected a value",
    "Expecting property name enclosed in double quotes": "expected a name in double quotes",
    "Expecting ',' delimiter": "expected ','",
    "Expecting ':' delimiter": "expected ':'",
    "Extra data": "unexpected text after the end",
    "Unterminated string starting at": "unterminated string",
    "Invalid control character at": "control character in a string",
}
_COMMENT = re.compile(r"\s*(//|/\*|#)")
_YAML = re.compile(
    r"(?:[ \t\r]*(?:#[^\n]*)?\n)*"  # blank lines and comments
    r"[ \t]*(---|%YAML|- |[A-Za-z_][\w.-]*:(?=\s|$))"
)


def syntax_fault(error: JSONDecodeError, *, is_line: bool) -> str:
    """Return the place and the message of a fault in a JSON text, as one line.

    Parameters
    ----------
    is_line
        Whether the text is one line of a file; the place then has no line number.
    """
    if yaml := _YAML.match(error.doc):
        place = "" if is_line else f"line {_line(error.doc, yaml.start(1))}: "
        return f"{place}not JSON; YAML is not supported: convert it to JSON"
    between_tokens = error.msg.startswith(("Expecting", "Extra", "Illegal trailing"))
    comment = _COMMENT.match(error.doc, error.pos) if between_tokens else None
    at = comment.start(1) if comment else error.pos
    line_start = error.doc.rfind("\n", 0, at) + 1
    column = f"column {at - line_start + 1}"
    place = column if is_line else f"line {_line(error.doc, at)} {column}"
    if comment:
        return f'{place}: not JSON: JSON has no comments; use a "comment" field instead'
    plain = error.msg[:1].lower() + error.msg[1:]
    return f"{place}: not JSON: {_PLAIN.get(error.msg, plain.strip(': '))}"


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
