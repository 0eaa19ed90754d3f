r"""Tables of a comparison, placers by source rates, as CSV, Markdown and LaTeX.

The layout is that of Table 1 of Ni et al. (AAAI 2020): a line per placer; every cell holds the
figure at the first source rate, followed by those at the other rates in brackets.
"""

from collections.abc import Callable, Sequence

from streamplace.files.reading import to_csv
from streamplace.util.text import counted, printable
from streamplace.workflows.comparison import REFERENCE, Comparison, ComparisonRow

COLUMNS: dict[str, Callable[[ComparisonRow], float | None]] = {
    "mean": lambda row: row.mean,
    "Q1": lambda row: row.q1,
    "median": lambda row: row.median,
    "better than METIS": lambda row: None if row.placer == REFERENCE else row.better_than_metis,
    "worse than METIS": lambda row: None if row.placer == REFERENCE else row.worse_than_metis,
    "min": lambda row: row.min,
    "above 0.97": lambda row: row.share_above_0_97,
    "devices": lambda row: row.mean_devices,
}
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


def csv_table(comparison: Comparison) -> str:
    """Return the table as CSV, with a column per figure and source rate."""
    rates = [_rate(rate) for rate in comparison.source_rates]
    header = [f"{name} at {rate}" for name in COLUMNS for rate in rates]
    return to_csv(
        ["placer", *header],
        (
            [placer, *("" if x is None else x for figures in line for x in figures)]
            for placer, line in zip(comparison.placers, _figures(comparison), strict=True)
        ),
    )


def markdown_table(comparison: Comparison) -> str:
    """Return the table as Markdown, below a caption."""
    heads = ["placer", *COLUMNS]
    lines = [f"| {' | '.join(heads)} |", "|---" + "|---:" * len(COLUMNS) + "|"]
    for placer, figures in zip(comparison.placers, _figures(comparison), strict=True):
        cells = [_escaped(placer, OF_MARKDOWN), *map(_cell, figures)]
        lines.append(f"| {' | '.join(cells)} |")
    return f"{_caption(comparison)}\n\n" + "\n".join(lines) + "\n"


def latex_table(comparison: Comparison) -> str:
    """Return the table as LaTeX, which needs the package booktabs."""
    heads = " & ".join(["", *COLUMNS]).lstrip()
    lines = [
        f"% {_caption(comparison)}; needs \\usepackage{{booktabs}}",
        rf"\begin{{tabular}}{{l{'r' * len(COLUMNS)}}}",
        r"\toprule",
        rf"placer {heads} \\",
        r"\midrule",
    ]
    for placer, figures in zip(comparison.placers, _figures(comparison), strict=True):
        cells = [_escaped(placer, OF_LATEX), *(_cell(f).replace("-", "--") for f in figures)]
        lines.append(rf"{' & '.join(cells)} \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _figures(comparison: Comparison) -> list[list[list[float | None]]]:
    """Return the figures, indexed by placer, column and source rate."""
    rows, step = comparison.rows, len(comparison.placers)
    return [
        [[figure(row) for row in rows[j::step]] for figure in COLUMNS.values()] for j in range(step)
    ]


def _cell(figures: Sequence[float | None]) -> str:
    first, *others = ("-" if x is None else f"{x:.3f}" for x in figures)
    return f"{first} ({', '.join(others)})" if others else first


def _caption(comparison: Comparison) -> str:
    first, *others = (_rate(rate) for rate in comparison.source_rates)
    unit = "" if comparison.source_rates == (None,) else " tuples/s"
    at = f"at {first}{unit}" + (f" (in brackets at {', '.join(others)})" if others else "")
    graphs = counted(len(comparison.graphs), "graph")
    return f"relative throughput over {graphs} under {comparison.scored_by}, {at}"


def _rate(rate: float | None) -> str:
    return "their own rates" if rate is None else f"{rate:.6g}"


def _escaped(text: str, letters: dict[str, str]) -> str:
    return "".join(letters.get(letter, letter) for letter in printable(text))
