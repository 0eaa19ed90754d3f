"""Tables for papers, as LaTeX and as Markdown."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from streamplace.util.text import printable

OF_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "…": r"\ldots{}",
    "[": "{[}",  # at the beginning of a row, LaTeX would read an option of the line before
    "*": "{*}",
    "`": r"\textasciigrave{}",
} | {letter: "\\" + letter for letter in "&%$#_{}"}
MINUS = re.compile(r"(?<![\w.])-(?=[\d.])")
"""A minus of a number, which LaTeX sets as one in mathematics; other hyphens stay hyphens."""
TWO_HYPHENS = re.compile("-(?=-)")
"""A hyphen before another one, of which LaTeX would make a dash."""
OF_MARKDOWN = {letter: "\\" + letter for letter in r"\`*_[]<>|~&$"}
COLUMN_PT = 240  # points: a column of ACM's two-column papers has 241, one of IEEE's 252
LETTER_PT, GAP_PT = 4.0, 6  # mean letter of our tables in Computer Modern at 8 points, and a gap
Best = Callable[..., Any]
"""`max` or `min`, whichever finds the best of several values."""
Place = tuple[int, int]
"""Row and column of a cell."""


@dataclass(frozen=True)
class PaperTable:
    """A table with a caption, whose cells are text: no character of it is a command.

    Parameters
    ----------
    label
        The name that LaTeX's ``\\label`` gives it after ``tab:``, with a hyphen for whatever is no
        letter or digit.
    caption
        What the table shows, without a full stop at its end.
    head
        The headings.
    rows
        The cells of each row.
    words
        Numbers of the columns that are left-aligned.
    bold
        Row and column of each cell in bold print.
    block
        The number of rows after which LaTeX draws a line; 0: none is drawn.
    """

    label: str
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Collection[int] = (0,)
    bold: Collection[Place] = ()
    block: int = 0

    def markdown(self) -> str:
        """Return the table as Markdown, below its caption."""
        sides = "|".join("---" if j in self.words else "---:" for j in range(len(self.head)))
        lines = [_line_of_markdown(_in_markdown(title) for title in self.head), f"|{sides}|"]
        for i, cells in enumerate(self.rows):
            texts = enumerate(map(_in_markdown, cells))
            lines.append(
                _line_of_markdown(f"**{x}**" if (i, j) in self.bold else x for j, x in texts)
            )
        return f"{_in_markdown(self.caption)}\n\n" + "\n".join(lines) + "\n"

    def latex(self) -> str:
        """Return the table as a LaTeX float, which needs the package booktabs.

        A heading that is wider than all cells below it has two lines. A table that would be wider
        than a column spans both columns of a two-column paper.
        """
        heads, wide = self._heads()
        kind = "table*" if wide else "table"
        sides = "".join("l" if j in self.words else "r" for j in range(len(self.head)))
        label = re.sub("[^a-z0-9]+", "-", self.label.lower()).strip("-")
        lines = [
            r"% needs \usepackage{booktabs}",
            rf"\begin{{{kind}}}",
            r"\centering",
            r"\footnotesize",
            rf"\setlength{{\tabcolsep}}{{{GAP_PT // 2}pt}}",
            rf"\caption{{{_in_latex(self.caption)}.}}",
            rf"\label{{tab:{label}}}",
            rf"\begin{{tabular}}{{@{{}}{sides}@{{}}}}",
            r"\toprule",
            rf"{' & '.join(heads)} \\",
            r"\midrule",
        ]
        for i, cells in enumerate(self.rows):
            if i and self.block and i % self.block == 0:
                lines.append(r"\midrule")
            texts = enumerate(map(_in_latex, cells))
            bold = (rf"\textbf{{{x}}}" if (i, j) in self.bold else x for j, x in texts)
            lines.append(rf"{' & '.join(bold)} \\")
        end = [r"\bottomrule", r"\end{tabular}", rf"\end{{{kind}}}"]
        return "\n".join([*lines, *end]) + "\n"

    def _heads(self) -> tuple[list[str], bool]:
        """Return the headings in LaTeX, and whether the table is wider than a column."""
        heads, letters = [], 0
        for j, title in enumerate(self.head):
            cells = max((len(row[j]) for row in self.rows), default=0)
            lines = [title] if len(title) <= cells else _two_lines(title)
            texts = r"\\".join(map(_in_latex, lines))
            side = "l" if j in self.words else "r"
            heads.append(rf"\shortstack[{side}]{{{texts}}}" if len(lines) > 1 else texts)
            letters += max(cells, *map(len, lines))
        return heads, LETTER_PT * letters + GAP_PT * (len(heads) - 1) > COLUMN_PT


def best_places(cells: Iterable[tuple[Place, Any, str]], best: Best) -> set[Place]:
    """Return the places of the best value among cells, and of those that read like it.

    Parameters
    ----------
    cells
        Place, value and text of each. Values that are no numbers, such as NaN, do not count; a
        single number has no others to be better than.
    """
    known = [cell for cell in cells if isinstance(cell[1], int | float) and not isnan(cell[1])]
    if len(known) == 1 or not known:
        return set()
    _, _, text = best(known, key=lambda cell: cell[1])
    return {place for place, _, shown in known if shown == text}


def _two_lines(text: str) -> list[str]:
    """Return text in the two lines of which the longer one is shortest; one word stays one line."""
    words = text.split(" ")
    ways = ([" ".join(words[:n]), " ".join(words[n:])] for n in range(1, len(words)))
    return min(ways, key=lambda lines: max(map(len, lines)), default=[text])


def _line_of_markdown(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _in_markdown(text: str) -> str:
    return _escaped(text, OF_MARKDOWN)


def _in_latex(text: str) -> str:
    if text == "-":  # no value
        return "--"
    return MINUS.sub("$-$", TWO_HYPHENS.sub("-{}", _escaped(text, OF_LATEX)))


def _escaped(text: str, letters: dict[str, str]) -> str:
    return "".join(letters.get(letter, letter) for letter in printable(text))
