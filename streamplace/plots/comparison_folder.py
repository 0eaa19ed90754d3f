"""The folder that `compare -o` writes."""

from pathlib import Path

from streamplace.files.atomic import write_text
from streamplace.plots.comparison_tables import csv_table, latex_table, markdown_table
from streamplace.workflows.comparison import SAVED, Comparison

TABLES = {"csv": csv_table, "md": markdown_table, "tex": latex_table}
PICTURES = ("throughput", "devices")


def names_of(pictures: str | None = "png") -> list[str]:
    """Return the names of the files that `save_report` writes."""
    drawn = [] if pictures is None else [f"{name}.{pictures}" for name in PICTURES]
    return [*SAVED, *(f"by_rate.{kind}" for kind in TABLES), *drawn]


def save_report(folder: str | Path, found: Comparison, pictures: str | None = "png") -> None:
    """Write a comparison with its tables and pictures into a folder, made where there is none.

    compare.json, table.csv and graphs.csv (see `Comparison.save`); by_rate.csv, .md and .tex, a
    line a placer; throughput and devices, Figures 5 and 6 of the paper.

    Parameters
    ----------
    pictures
        ``png``, ``svg`` or ``pdf``; None: no pictures.

    Raises
    ------
    FormatError
        If they cannot be written.
    """
    found.save(folder)
    folder = Path(folder)
    for kind, table in TABLES.items():
        write_text(folder / f"by_rate.{kind}", table(found))
    if pictures is not None:
        from streamplace.plots import comparison  # noqa: PLC0415 - heavy

        drawn = (comparison.throughput_picture, comparison.devices_picture)
        for name, draw in zip(PICTURES, drawn, strict=True):
            draw(folder / f"{name}.{pictures}", found)
