"""Tables of all counts: a short one for docs/reliability.md, a full one for RESULTS.md."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.hardening.harness.rows import NOT_RUN, UNREACHABLE, Row, Run, read_rows

HERE = Path(__file__).resolve().parents[1]
PAGE, RESULTS = HERE.parents[1] / "docs" / "reliability.md", HERE / "RESULTS.md"
BEGIN, END = "<!-- hardening: begin -->\n", "<!-- hardening: end -->\n"
SUMMARY_HEAD = "| what | tried | went wrong | command |\n|---|---|---|---|\n"
FULL_HEAD = "| what | tried | went wrong | measured |\n|---|---|---|---|\n"


def report_files(folder: Path, parts: Sequence[str]) -> dict[Path, str]:
    """Return the texts of docs/reliability.md and RESULTS.md.

    Parameters
    ----------
    folder
        The folder of results.
    parts
        The parts of the campaign.
    """
    title = "# The hardening campaign\n\nMade by `python -m benchmarks.hardening report --write`.\n"
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    return {
        PAGE: before + BEGIN + summary_table(folder, parts) + END + after,
        RESULTS: title + full_table(folder, parts),
    }


def summary_table(folder: Path, parts: Sequence[str]) -> str:
    """Return a table with one line per row, or per group of rows that count the same."""
    text = SUMMARY_HEAD
    for part in parts:
        lines: dict[tuple[str, Run], list[Row]] = {}
        for row, run in read_rows(folder / f"{part}.json"):
            lines.setdefault((row.group or row.what, run), []).append(row)
        if not lines:
            text += _cells(part, "0", NOT_RUN, f"`python -m benchmarks.hardening {part}`")
        for (what, run), rows in lines.items():
            text += _cells(what, *_sum(rows), f"`{run.command}`")
    return text


def full_table(folder: Path, parts: Sequence[str]) -> str:
    """Return one section per part, with all its rows."""
    text = ""
    for part in parts:
        text += f"\n## {part}\n"
        by_run: dict[Run, list[Row]] = {}
        for row, run in read_rows(folder / f"{part}.json"):
            by_run.setdefault(run, []).append(row)
        for run, rows in by_run.items():
            told = f"share {run.share:g}, seed {run.seed}, commit {run.commit}, on {run.on}"
            text += f"`{run.command}`: {told}\n\n{FULL_HEAD}" + "".join(map(_line, rows)) + "\n"
        text = f"{text.rstrip()}\n" if by_run else f"{text}{NOT_RUN}\n"
    return text


def missing(folder: Path, parts: Sequence[str]) -> list[str]:
    """Return what the table lacks: rows that were not run, were run in part, or have faults."""
    found = []
    for part in parts:
        counted = read_rows(folder / f"{part}.json")
        if not counted:
            found.append(f"{part}: {NOT_RUN}")
        for row, run in counted:
            if row.figures.get(NOT_RUN) == UNREACHABLE:
                continue
            if not row.tried:
                found.append(f"{part}: {row.what}: {NOT_RUN}")
            elif not row.good:
                found.append(f"{part}: {row}")
            elif run.share < 1.0:
                found.append(f"{part}: {row.what}: {run.share:g} of the whole")
    return found


def _sum(rows: Sequence[Row]) -> tuple[str, str]:
    """Return the sum of tries and the sum of faults as text."""
    wrong: Counter[str] = Counter()
    for row in rows:
        wrong.update(row.wrong)
    told = [f"{count:,} {what}" for what, count in wrong.items() if count] or ["0"]
    told += [f"{NOT_RUN}: {row.what}" for row in rows if len(rows) > 1 and not row.tried]
    if tried := sum(row.tried for row in rows):
        return f"{tried:,}", ", ".join(told)
    why = rows[0].figures.get(NOT_RUN)
    return "0", f"{NOT_RUN}: {why}" if why else NOT_RUN


def _line(row: Row) -> str:
    wrong = ", ".join(f"{count:,} {what}" for what, count in row.wrong.items())
    figures = ", ".join(f"{what} {value}" for what, value in row.figures.items())
    return _cells(row.what, f"{row.tried:,}", wrong if row.tried else NOT_RUN, figures)


def _cells(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
