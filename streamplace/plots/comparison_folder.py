"""The folder that `compare -o` writes."""

from collections.abc import Iterable
from pathlib import Path

from streamplace.errors import FormatError
from streamplace.files.atomic import write_text
from streamplace.plots import makespan_tables
from streamplace.plots.comparison_tables import csv_table, latex_table, markdown_table
from streamplace.plots.formats import KINDS
from streamplace.workflows.comparison import Comparison
from streamplace.workflows.comparison_tables import SAVED
from streamplace.workflows.makespan_comparison import MakespanComparison

TABLES = ("by_rate.csv", "by_rate.md", "by_rate.tex")
PICTURES = ("throughput", "devices")
MAKESPAN_TABLES = ("table.md", "table.tex")
MAKESPAN_PICTURES = ("makespan",)


def names_of(pictures: str | None = "png", makespan: bool = False) -> list[str]:
    """Return the names of the files that `save_report` writes for one kind of comparison."""
    drawn = MAKESPAN_PICTURES if makespan else PICTURES
    tables = MAKESPAN_TABLES if makespan else TABLES
    return [*SAVED, *tables, *(f"{name}.{pictures}" for name in drawn if pictures is not None)]


def save_report(
    folder: str | Path, result: Comparison | MakespanComparison, pictures: str | None = "png"
) -> tuple[Path, ...]:
    """Write a comparison with its tables and pictures to a folder, which is created if missing.

    The files are compare.json, table.csv and graphs.csv (see `Comparison.save`). Those of
    throughput are joined by by_rate.csv, .md and .tex, a line per placer, and throughput and
    devices, Figures 5 and 6 of the paper; those of makespans by table.md and .tex, and the picture
    makespan. If the folder holds an earlier comparison, those of its tables and pictures that are
    not replaced are removed.

    Parameters
    ----------
    pictures
        ``png``, ``svg`` or ``pdf``; None: no pictures.

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
    is_makespan = isinstance(result, MakespanComparison)
    if isinstance(result, MakespanComparison):
        _write_makespans(folder, result, pictures)
    else:
        _write_throughput(folder, result, pictures)
    return _remove_stale(folder, names_of(pictures, is_makespan)) if has_earlier else ()


def _write_throughput(folder: Path, result: Comparison, pictures: str | None) -> None:
    for name, table in zip(TABLES, (csv_table, markdown_table, latex_table), strict=True):
        write_text(folder / name, table(result))
    if pictures is not None:
        from streamplace.plots import comparison  # noqa: PLC0415 - heavy

        drawn = (comparison.throughput_picture, comparison.devices_picture)
        for name, draw in zip(PICTURES, drawn, strict=True):
            draw(folder / f"{name}.{pictures}", result)


def _write_makespans(folder: Path, result: MakespanComparison, pictures: str | None) -> None:
    tables = (makespan_tables.markdown_table, makespan_tables.latex_table)
    for name, table in zip(MAKESPAN_TABLES, tables, strict=True):
        write_text(folder / name, table(result))
    if pictures is not None:
        from streamplace.plots.makespan_comparison import makespan_picture  # noqa: PLC0415 - heavy

        makespan_picture(folder / f"{MAKESPAN_PICTURES[0]}.{pictures}", result)


def _remove_stale(folder: Path, kept: Iterable[str]) -> tuple[Path, ...]:
    """Remove tables and pictures of all kinds but those in `kept`, and return their paths."""
    drawn = (f"{name}.{kind}" for kind in KINDS for name in (*PICTURES, *MAKESPAN_PICTURES))
    names = [name for name in (*TABLES, *MAKESPAN_TABLES, *drawn) if name not in set(kept)]
    stale = tuple(folder / name for name in names if (folder / name).is_file())
    for path in stale:
        try:
            path.unlink()
        except OSError as error:
            raise FormatError(f"{path}: cannot be removed: {error.strerror or error}") from None
    return stale
