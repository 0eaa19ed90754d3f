"""The tables, and the folder, that `compare` writes."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from streamplace.display.formats import KINDS, TABLES, kind_of
from streamplace.errors import FormatError
from streamplace.files.writing import write_text
from streamplace.util.extras import load_drawing
from streamplace.workflows.comparison import Comparison, ScoreMeasure
from streamplace.workflows.comparison_tables import SAVED, rows_as_csv

FOR_PAPERS = ("table.md", "table.tex")
DRAWN = ("differences", "throughput", "devices", "ratios", "makespan", "costs", "budgets")
"""The pictures of all measures; those of an earlier comparison are removed."""


def write_table(path: str | Path, result: Comparison) -> None:
    """Write the table of a comparison to a file, whose suffix sets the format.

    CSV has all digits; Markdown and LaTeX have the table for a paper (`Comparison.paper_table`).

    Raises
    ------
    UsageError
        If the suffix is not ``.csv``, ``.md`` or ``.tex``.
    FormatError
        If the file cannot be written.
    """
    kind = kind_of(path, TABLES, "table")
    if kind == "csv":
        text = _csv(result)
    else:
        table = result.paper_table()
        text = table.latex() if kind == "tex" else table.markdown()
    write_text(Path(path), text)


def _csv(result: Comparison) -> str:
    """Return the rows with all digits: all columns, or those that were chosen."""
    rows = result.to_records()
    if result.chosen:
        fields = (key for column in result.columns.values() for key in column.keys)
        keys = result.measure.with_names(dict.fromkeys(fields))
        rows = [{key: row[key] for key in keys} for row in rows]
    return rows_as_csv(rows)


BUDGETS = DRAWN[-1]  # the picture of several budgets
DRAW = "streamplace.pictures.comparison_pictures:draw"
"""Draws the pictures; loaded once they are wanted, since it loads matplotlib."""
BARS = 6  # more placers beside each other cannot be distinguished
Budgets = Mapping[str, Sequence[str]]
"""Name of a placer -> its names in the table, one for each of its budgets, ascending."""


def pictures_of(measure: ScoreMeasure, placers: int) -> tuple[str, ...]:
    """Return the names of the pictures of a measure; a single placer is compared with none."""
    return measure.pictures[1:] if placers == 1 else measure.pictures


def names_of(
    pictures: str | None, measure: ScoreMeasure, placers: int, *, budgets: bool = False
) -> list[str]:
    """Return the names of the files that `save_report` writes of some placers by a measure."""
    drawn = [*pictures_of(measure, placers), *([BUDGETS] if budgets else [])]
    shown = [] if pictures is None else [f"{name}.{pictures}" for name in drawn]
    return [*SAVED, *FOR_PAPERS, *shown]


def save_report(
    folder: str | Path,
    result: Comparison,
    pictures: str | None = "png",
    budgets: Budgets | None = None,
    evaluations: Sequence[int] = (),
) -> tuple[Path, ...]:
    """Write a comparison with its tables and pictures to a folder, which is created if missing.

    The files are compare.json, table.csv and graphs.csv (see `Comparison.save`), table.md and
    table.tex, and the pictures: of throughput differences, throughput and devices, the last two as
    Figures 5 and 6 of the paper; ratios and makespan, the latter named costs under other
    objectives. A single placer has no differences or ratios. If the folder holds an earlier
    comparison, its pictures that are not replaced are removed.

    Parameters
    ----------
    pictures
        ``png``, ``svg`` or ``pdf``; None: no pictures.
    budgets
        The placers with their budgets, which the picture budgets shows; the other pictures of
        throughput show the largest ones. None: every placer has one budget.
    evaluations
        These budgets as evaluations per graph, over which budgets is drawn; empty: over CPU time.

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
    for name in FOR_PAPERS:
        write_table(folder / name, result)
    if pictures is not None:
        load_drawing(DRAW)(folder, result, pictures, budgets, evaluations)
    placers, by_budget = len(result.placers), budgets is not None
    kept = names_of(pictures, result.measure, placers, budgets=by_budget)
    return _remove_stale(folder, kept) if has_earlier else ()


def _remove_stale(folder: Path, kept: Iterable[str]) -> tuple[Path, ...]:
    """Remove pictures of all kinds but those in `kept`, and return their paths."""
    drawn = (f"{name}.{kind}" for kind in KINDS for name in DRAWN)
    names = [name for name in drawn if name not in set(kept)]
    stale = tuple(folder / name for name in names if (folder / name).is_file())
    for path in stale:
        try:
            path.unlink()
        except OSError as error:
            raise FormatError(f"{path}: cannot be removed: {error.strerror or error}") from None
    return stale
