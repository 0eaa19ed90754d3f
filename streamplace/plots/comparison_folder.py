"""The folder that `compare -o` writes."""

from pathlib import Path

from streamplace.errors import FormatError
from streamplace.files.atomic import write_text
from streamplace.plots.comparison_tables import csv_table, latex_table, markdown_table
from streamplace.plots.formats import KINDS
from streamplace.workflows.comparison import SAVED, Comparison

TABLES = {"csv": csv_table, "md": markdown_table, "tex": latex_table}
PICTURES = ("throughput", "devices")


def names_of(pictures: str | None = "png") -> list[str]:
    """Return the names of the files that `save_report` writes."""
    drawn = [] if pictures is None else [f"{name}.{pictures}" for name in PICTURES]
    return [*SAVED, *(f"by_rate.{kind}" for kind in TABLES), *drawn]


def save_report(
    folder: str | Path, result: Comparison, pictures: str | None = "png"
) -> tuple[Path, ...]:
    """Write a comparison with its tables and pictures to a folder, which is created if missing.

    The files are compare.json, table.csv and graphs.csv (see `Comparison.save`); by_rate.csv, .md
    and .tex, a line per placer; throughput and devices, Figures 5 and 6 of the paper. If the folder
    holds an earlier comparison, its pictures of other formats are removed.

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
    for kind, table in TABLES.items():
        write_text(folder / f"by_rate.{kind}", table(result))
    if pictures is not None:
        from streamplace.plots import comparison  # noqa: PLC0415 - heavy

        drawn = (comparison.throughput_picture, comparison.devices_picture)
        for name, draw in zip(PICTURES, drawn, strict=True):
            draw(folder / f"{name}.{pictures}", result)
    return _remove_stale(folder, pictures) if has_earlier else ()


def _remove_stale(folder: Path, pictures: str | None) -> tuple[Path, ...]:
    """Remove the pictures of all formats but `pictures`, and return their paths."""
    paths = [folder / f"{name}.{kind}" for kind in KINDS if kind != pictures for name in PICTURES]
    stale = tuple(path for path in paths if path.is_file())
    for path in stale:
        try:
            path.unlink()
        except OSError as error:
            raise FormatError(f"{path}: cannot be removed: {error.strerror or error}") from None
    return stale
