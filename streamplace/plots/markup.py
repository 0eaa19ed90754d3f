"""Tables as Markdown and LaTeX, with names escaped."""

from collections.abc import Iterable, Sequence

from streamplace.util.text import printable

OF_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "…": r"\ldots{}",
} | {letter: "\\" + letter for letter in "&%$#_{}"}
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
        cells = (cell.replace("-", "--").replace("%", r"\%") for cell in numbers)
        lines.append(rf"{' & '.join([_escaped(name, OF_LATEX), *cells])} \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _escaped(text: str, letters: dict[str, str]) -> str:
    return "".join(letters.get(letter, letter) for letter in printable(text))
