"""The tables made of what was counted: a line a part for the README, all of it for RESULTS.md."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.hardening.rows import Row, read_rows

HERE = Path(__file__).resolve().parent
README, RESULTS = HERE.parents[1] / "README.md", HERE / "RESULTS.md"
BEGIN, END = "<!-- hardening: begin -->\n", "<!-- hardening: end -->\n"
OF_PARTS = "| part | share of the whole | tried | went wrong | command |\n|---|---|---|---|---|\n"
OF_ROWS = "| what | tried | went wrong | measured |\n|---|---|---|---|\n"
NOT_RUN = "not run"


def written(folder: Path, parts: Sequence[str]) -> dict[Path, str]:
    """Return the files that tell what was counted, as they are to be.

    Parameters
    ----------
    folder
        Of results.
    parts
        Of the campaign.
    """
    title = "# The hardening campaign\n\nMade by `python -m benchmarks.hardening report --write`.\n"
    before, _, rest = README.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    return {
        README: before + BEGIN + summary(folder, parts) + END + after,
        RESULTS: title + full(folder, parts),
    }


def summary(folder: Path, parts: Sequence[str]) -> str:
    """Return a table with a line a part."""
    text = OF_PARTS
    for name in parts:
        rows, about = found(folder, name)
        command = f"`python -m benchmarks.hardening {name}`"
        if not rows:
            text += f"| {name} | 0 | 0 | {NOT_RUN} | {command} |\n"
            continue
        wrong: Counter[str] = Counter()
        for row in rows:
            wrong.update(row.wrong)
        bad = ", ".join(f"{count:,} {what}" for what, count in wrong.items() if count) or "0"
        missing = [row.what for row in rows if not row.tried]
        bad += f"; {NOT_RUN}: {', '.join(missing)}" if missing else ""
        tried = sum(row.tried for row in rows)
        text += f"| {name} | {about['share']:g} | {tried:,} | {bad} | {command} |\n"
    return text


def full(folder: Path, parts: Sequence[str]) -> str:
    """Return a section a part, with all its rows."""
    text = ""
    for name in parts:
        rows, about = found(folder, name)
        text += f"\n## {name}\n"
        if not rows:
            text += f"{NOT_RUN}\n"
            continue
        command = about.pop("command")
        told = ", ".join(f"{key} {value}" for key, value in about.items())
        text += f"`{command}`, {told}\n\n{OF_ROWS}" + "".join(map(_line, rows))
    return text


def found(folder: Path, name: str) -> tuple[list[Row], dict[str, Any]]:
    """Return what a part has counted last, and of which run it is; nothing if it was never run."""
    path = folder / f"{name}.json"
    return read_rows(path) if path.exists() else ([], {})


def _line(row: Row) -> str:
    wrong = ", ".join(f"{count:,} {what}" for what, count in row.wrong.items())
    figures = ", ".join(f"{what} {value}" for what, value in row.figures.items())
    cells = [row.what, f"{row.tried:,}", wrong if row.tried else NOT_RUN, figures]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
