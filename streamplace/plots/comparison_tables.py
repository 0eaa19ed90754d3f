r"""Tables of a comparison, placers by source rates, as CSV, Markdown and LaTeX.

The layout is that of Table 1 of Ni et al. (AAAI 2020): a line per placer; every cell holds the
figure at the first source rate, followed by those at the other rates in brackets.
"""

from collections.abc import Callable, Sequence

from streamplace.files.reading import to_csv
from streamplace.plots.markup import Rows, latex, markdown
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
    return markdown(_caption(comparison), ["placer", *COLUMNS], _rows(comparison))


def latex_table(comparison: Comparison) -> str:
    """Return the table as LaTeX, which needs the package booktabs."""
    return latex(_caption(comparison), ["placer", *COLUMNS], _rows(comparison))


def _rows(comparison: Comparison) -> Rows:
    """Yield the name of each placer and its cells."""
    for placer, line in zip(comparison.placers, _figures(comparison), strict=True):
        yield placer, [_cell(figures) for figures in line]


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
    return f"relative throughput over {comparison.cases} under {comparison.scored_by}, {at}"


def _rate(rate: float | None) -> str:
    return "their own rates" if rate is None else f"{rate:.6g}"
