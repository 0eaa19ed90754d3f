r"""Tokens of the DOT language. In quoted text ``\"`` is ``"`` and ``\\`` is ``\``."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from streamplace.errors import FormatError

_TOKEN = re.compile(
    r"""
    (?P<nothing>\s+|//[^\n]*|/\*.*?\*/|\#[^\n]*)
    |(?P<mark>->|--|[{}\[\];,=:+])
    |(?P<word>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*+)
    |(?P<number>-?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?))
    |(?P<quoted>"(?:[^"\\]++|\\.)*+")
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(\"|\\|\r?\n)")
_ANGLE = re.compile("[<>]")
KEYWORDS = frozenset({"node", "edge", "graph", "digraph", "subgraph", "strict"})


class Token(NamedTuple):
    """A token of kind ``mark``, ``keyword``, ``id``, ``quoted`` (also an id) or ``end``."""

    kind: str
    text: str
    line: int


def tokens_of(text: str, where: str) -> Iterator[Token]:
    """Yield the tokens of a text without comments; the last one is an ``end``.

    Raises
    ------
    FormatError
        If a character does not begin a token.
    """
    at, line = 0, 1
    while at < len(text):
        token: Token | None
        if text[at] == "<":
            end, token = _html(text, at, line, where)
        else:
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup is None:
                raise FormatError(f"{where}: line {line}: not DOT: {text[at : at + 20]!r}")
            end, token = match.end(), _token(match.lastgroup, match.group(), line)
        if token is not None:
            yield token
        line += text.count("\n", at, end)
        at = end
    yield Token("end", "", line)


def _token(kind: str, text: str, line: int) -> Token | None:
    if kind == "nothing":
        return None
    if kind == "mark":
        return Token(kind, text, line)
    if kind == "quoted":
        return Token("quoted", _ESCAPED.sub(_unescaped, text[1:-1]), line)
    if kind == "word" and text.lower() in KEYWORDS:
        return Token("keyword", text.lower(), line)
    return Token("id", text, line)


def _unescaped(escaped: re.Match[str]) -> str:
    return "" if escaped[1].endswith("\n") else escaped[1]


def _html(text: str, start: int, line: int, where: str) -> tuple[int, Token]:
    """Return the end of a text in angle brackets, and its token."""
    depth = 0
    for angle in _ANGLE.finditer(text, start):
        depth += 1 if angle.group() == "<" else -1
        if depth == 0:
            return angle.end(), Token("id", text[start + 1 : angle.start()], line)
    raise FormatError(f"{where}: line {line}: not DOT: a '<' is never closed")
