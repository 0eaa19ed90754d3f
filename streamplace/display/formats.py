"""Formats of pictures and tables by file suffix, and tables as Markdown and LaTeX."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from streamplace.errors import UsageError
from streamplace.util.suggest import did_you_mean
from streamplace.util.text import printable

KINDS = ("png", "svg", "pdf")
TABLES = ("csv", "md", "tex")


def kind_of(path: str | Path, kinds: Sequence[str] = KINDS, what: str = "picture") -> str:
    """Return the format of a file, one of some kinds, by its suffix.

    Raises
    ------
    UsageError
        If the suffix is not a known format, or the path is ``-``, which is stdout.
    """
    if str(path) == "-":
        *most, last = (f".{kind}" for kind in kinds)
        names = f"{', '.join(most)} or {last}"
        raise UsageError(f"cannot write a {what} to stdout; name a {names} file")
    kind = Path(path).suffix.removeprefix(".").lower()
    if not kind:
        names = ", ".join(f".{one}" for one in kinds)
        raise UsageError(f"{str(path)!r}: the name has no ending; choose from {names}")
    if kind not in kinds:
        hint = did_you_mean(kind, kinds) or f"; choose from {', '.join(kinds)}"
        raise UsageError(f"{str(path)!r}: unknown {what} format {kind!r}{hint}")
    return kind


OF_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "…": r"\ldots{}",
} | {letter: "\\" + letter for letter in "&%$#_{}"}
MINUS = re.compile(r"(?<![\de])--(?=[\d.])")
"""A minus of a number, which LaTeX sets as one in mathematics; other hyphens become dashes."""
OF_MARKDOWN = {letter: "\\" + letter for letter in r"\`*_[]<>|~"}
Rows = Iterable[tuple[str, Sequence[str]]]
"""Names, which are escaped, and the numbers beside each as text."""


def markdown(caption: str, head: Sequence[str], rows: Rows) -> str:
    """Return a table of a name and numbers per row as Markdown, below a caption."""
    lines = [f"| {' | '.join(head)} |", "|---" + "|---:" * (len(head) - 1) + "|"]
    for name, numbers in rows:
        lines.append(f"| {' | '.join([_escaped(name, OF_MARKDOWN), *numbers])} |")
    return f"{caption}\n\n" + "\n".join(lines) + "\n"


def latex(caption: str, head: Sequence[str], rows: Rows) -> str:
    """Return a table of a name and numbers per row as LaTeX, which needs the package booktabs."""
    heads = [title.replace("%", r"\%") for title in head]
    lines = [
        f"% {caption}; needs \\usepackage{{booktabs}}",
        rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"\toprule",
        rf"{' & '.join(heads)} \\",
        r"\midrule",
    ]
    for name, numbers in rows:
        cells = (MINUS.sub("$-$", cell.replace("-", "--")).replace("%", r"\%") for cell in numbers)
        lines.append(rf"{' & '.join([_escaped(name, OF_LATEX), *cells])} \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _escaped(text: str, letters: dict[str, str]) -> str:
    return "".join(letters.get(letter, letter) for letter in printable(text))
