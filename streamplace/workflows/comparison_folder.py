"""The tables, and the folder, that `compare` writes.

Tables by rate have a line per placer; every
cell holds the figure at the first source rate, followed by those at the other rates in brackets.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from streamplace.display.formats import KINDS, TABLES, Rows, kind_of, latex, markdown
from streamplace.errors import FormatError
from streamplace.files.reading import to_csv
from streamplace.files.writing import write_text
from streamplace.problem.makespan import MAKESPAN
from streamplace.problem.objective import Objective, Throughput
from streamplace.util.extras import load_drawing
from streamplace.workflows.comparison import MINUS_FIRST, Comparison, ComparisonRow
from streamplace.workflows.comparison_tables import SAVED, rows_as_csv
from streamplace.workflows.makespan_comparison import MakespanComparison

BETTER, WORSE = "better than METIS", "worse than METIS"
COLUMNS: dict[str, Callable[[ComparisonRow], float | None]] = {
    "mean": lambda row: row.mean,
    "Q1": lambda row: row.q1,
    "median": lambda row: row.median,
    BETTER: lambda row: row.better_than_metis,
    WORSE: lambda row: row.worse_than_metis,
    MINUS_FIRST: lambda row: row.minus_first,
    "95% from": lambda row: row.minus_first_low,
    "95% to": lambda row: row.minus_first_high,
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


def write_table(path: str | Path, result: Comparison | MakespanComparison) -> None:
    """Write the table of a comparison to a file, whose suffix sets the format.

    CSV has the rows with all digits, as table.csv in the folder of `save_report`; Markdown and
    LaTeX have those of its files with these suffixes.

    Raises
    ------
    UsageError
        If the suffix is not ``.csv``, ``.md`` or ``.tex``.
    FormatError
        If the file cannot be written.
    """
    kind = kind_of(path, TABLES, "table")
    if kind == "csv":
        text = rows_as_csv(result.to_dict()["rows"])
    elif isinstance(result, MakespanComparison):
        text = {"md": markdown, "tex": latex}[kind](*makespan_table(result))
    else:
        text = {"md": markdown_table, "tex": latex_table}[kind](result)
    write_text(Path(path), text)


def makespan_table(comparison: MakespanComparison) -> tuple[str, list[str], Rows]:
    """Return the caption, the head and the rows of a table of makespans."""
    rows = [(placer, comparison.cells(i)[1:]) for i, placer in enumerate(comparison.placers)]
    return comparison.headline, list(comparison.columns), rows


def _rows(comparison: Comparison) -> Rows:
    """Yield the name of each placer and its cells."""
    for placer, line in zip(comparison.placers, _figures(comparison), strict=True):
        yield placer, [_cell(figures) for figures in line]


def _figures(comparison: Comparison) -> list[list[list[float | None]]]:
    """Return the figures, indexed by placer, column and source rate."""
    rows, step = comparison.rows, len(comparison.placers)
    return [
        [
            [
                None if name in (BETTER, WORSE) and placer == comparison.reference else figure(row)
                for row in rows[j::step]
            ]
            for name, figure in COLUMNS.items()
        ]
        for j, placer in enumerate(comparison.placers)
    ]


def _cell(figures: Sequence[float | None]) -> str:
    first, *others = ("-" if x is None else f"{x:.3f}" for x in figures)
    return f"{first} ({', '.join(others)})" if others else first


def _caption(comparison: Comparison) -> str:
    first, *others = (_rate(rate) for rate in comparison.source_rates)
    unit = "" if comparison.source_rates == (None,) else " tuples/s"
    at = f"at {first}{unit}" + (f" (in brackets at {', '.join(others)})" if others else "")
    what = f"relative throughput over {comparison.cases} under {comparison.scored_by}, {at}"
    several = len(comparison.placers) > 1
    return (
        f"{what}; {MINUS_FIRST}: mean difference from {comparison.placers[0]}" if several else what
    )


def _rate(rate: float | None) -> str:
    return "their own rates" if rate is None else f"{rate:.6g}"


BY_RATE = ("by_rate.csv", "by_rate.md", "by_rate.tex")
PICTURES = ("throughput", "devices")
MAKESPAN_TABLES = ("table.md", "table.tex")
PASS_PICTURES = ("makespan", "costs")  # of makespans, and of other costs of a pass
BUDGETS = "budgets"  # the picture of several budgets
DRAW = "streamplace.pictures.comparison_pictures:draw"
"""Draws the pictures; loaded once they are wanted, since it loads matplotlib."""
CURVES = 6  # as many placers as can be told apart in a picture
Budgets = Mapping[str, Sequence[str]]
"""Name of a placer -> its names in the table, one for each of its budgets, ascending."""


def names_of(pictures: str | None, objective: Objective, budgets: bool = False) -> list[str]:
    """Return the names of the files that `save_report` writes under an objective."""
    is_pass = objective.is_pass
    drawn = [*([picture_of(objective)] if is_pass else PICTURES), *([BUDGETS] if budgets else [])]
    tables = MAKESPAN_TABLES if is_pass else BY_RATE
    return [*SAVED, *tables, *(f"{name}.{pictures}" for name in drawn if pictures is not None)]


def save_report(
    folder: str | Path,
    result: Comparison | MakespanComparison,
    pictures: str | None = "png",
    budgets: Budgets | None = None,
    evaluations: Sequence[int] = (),
) -> tuple[Path, ...]:
    """Write a comparison with its tables and pictures to a folder, which is created if missing.

    The files are compare.json, table.csv and graphs.csv (see `Comparison.save`). Those of
    throughput are joined by by_rate.csv, .md and .tex, a line per placer, and throughput and
    devices, Figures 5 and 6 of the paper; those of makespans by table.md and .tex, and the picture
    makespan, named costs under other objectives. If the folder holds an earlier comparison, those
    of its tables and pictures that are not replaced are removed. Pictures with curves have those of
    the first `CURVES` placers.

    Parameters
    ----------
    pictures
        ``png``, ``svg`` or ``pdf``; None: no pictures.
    budgets
        The placers with their budgets, which the picture budgets shows; the other pictures of
        throughput show the largest ones. None: every placer has one budget.
    evaluations
        These budgets as evaluations per graph, over which budgets is drawn; empty: over the time.

    Returns
    -------
    The removed files.

    Raises
    ------
    FormatError
        If a file cannot be written or removed.
    """
    folder = Path(folder)
    has_earlier = (folder / SAVED[0]).is_file()
    result.save(folder)
    objective: Objective = Throughput()
    if isinstance(result, MakespanComparison):
        objective = result.objective
        for name, written in zip(MAKESPAN_TABLES, (markdown, latex), strict=True):
            write_text(folder / name, written(*makespan_table(result)))
    else:
        for name, table in zip(BY_RATE, (csv_table, markdown_table, latex_table), strict=True):
            write_text(folder / name, table(result))
    if pictures is not None:
        load_drawing(DRAW)(folder, result, pictures, budgets, evaluations)
    kept = names_of(pictures, objective, budgets is not None)
    return _remove_stale(folder, kept) if has_earlier else ()


def picture_of(objective: Objective) -> str:
    """Return the name of the picture under an objective of a pass."""
    return PASS_PICTURES[objective.quantity != MAKESPAN]


def _remove_stale(folder: Path, kept: Iterable[str]) -> tuple[Path, ...]:
    """Remove tables and pictures of all kinds but those in `kept`, and return their paths."""
    pictures = (*PICTURES, *PASS_PICTURES, BUDGETS)
    drawn = (f"{name}.{kind}" for kind in KINDS for name in pictures)
    names = [name for name in (*BY_RATE, *MAKESPAN_TABLES, *drawn) if name not in set(kept)]
    stale = tuple(folder / name for name in names if (folder / name).is_file())
    for path in stale:
        try:
            path.unlink()
        except OSError as error:
            raise FormatError(f"{path}: cannot be removed: {error.strerror or error}") from None
    return stale
