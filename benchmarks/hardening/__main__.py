"""The hardening campaign.

python -m benchmarks.hardening PART …   run parts, whole; `all` are all
python -m benchmarks.hardening report   the table of what was counted
"""

import argparse
import importlib
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, cast

from benchmarks.hardening.rows import MOST_FAULTS, Row, markdown, read_rows, write_rows
from streamplace.files.atomic import make_folder, write_text

FOLDER = Path(__file__).parent / "results"
PARTS = (
    "readers",
    "command_line",
    "fuzzing",
    "writers",
    "corruption",
    "determinism",
    "invariants",
    "solvers",
    "load",
    "supply",
)
BEGIN, END = "<!-- hardening: begin -->\n", "<!-- hardening: end -->\n"
HEADER = "| what | tried | went wrong | measured | command |\n|---|---|---|---|---|\n"


class Part(Protocol):
    """A module of the campaign."""

    def run(self, share: float = 1.0, seed: int = 0) -> Iterator[Row]:
        """Yield rows; a smaller share tries less, on the same paths."""


def main() -> int:
    """Run parts, or tell what they counted; return 1 if anything is wrong."""
    arguments = _parsed()
    if arguments.parts == ["report"]:
        return report(arguments.folder, arguments.into)
    chosen = PARTS if arguments.parts == ["all"] else arguments.parts
    make_folder(arguments.folder)
    bad = [name for name in chosen if not run(name, arguments)]
    return 1 if bad else 0


def run(name: str, arguments: argparse.Namespace) -> bool:
    """Run a part and keep what it counts; return whether all is well."""
    part = cast("Part", importlib.import_module(f"benchmarks.hardening.{name}"))
    begin, rows = time.monotonic(), []
    print(f"{name}:", flush=True)
    for row in part.run(arguments.share, arguments.seed):
        print(f"  {row}", flush=True)
        for fault in row.faults[:MOST_FAULTS]:
            print(f"    {fault}", flush=True)
        rows.append(row)
    about = {
        "command": f"python -m benchmarks.hardening {name}",
        "share": arguments.share,
        "seed": arguments.seed,
        "commit": _commit(),
        "on": f"{datetime.now(UTC):%Y-%m-%d}",
        "seconds": round(time.monotonic() - begin, 1),
    }
    write_rows(arguments.folder / f"{name}.json", rows, **about)
    return all(row.good for row in rows)


def report(folder: Path, into: Path | None) -> int:
    """Print the table of what was counted last; return 1 if a part is missing or wrong."""
    text, good = table(folder)
    if into is None:
        print(text, end="")
    else:
        before, _, rest = into.read_text().partition(BEGIN)
        _, end, after = rest.partition(END)
        if not end:
            raise SystemExit(f"{into}: has no place for the table, {BEGIN.strip()}")
        write_text(into, before + BEGIN + text + END + after)
    return 0 if good else 1


def table(folder: Path) -> tuple[str, bool]:
    """Return the table of what was counted last, and whether all of it is there and good."""
    text, good = HEADER, True
    for name in PARTS:
        path = folder / f"{name}.json"
        if not path.exists():
            text += f"| {name} | 0 | not run | | |\n"
            good = False
            continue
        rows, about = read_rows(path)
        good = good and all(row.good for row in rows)
        text += markdown(rows, about["command"])
    return text, good


def _commit() -> str:
    told = ["git", "describe", "--always", "--dirty"]
    found = subprocess.run(told, capture_output=True, text=True, check=False)
    return found.stdout.strip()


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hardening",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="+", choices=[*PARTS, "all", "report"])
    parser.add_argument("--share", type=float, default=1.0, help="of the whole campaign")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", type=Path, default=FOLDER, dest="folder")
    parser.add_argument("--into", type=Path, help="file that holds the report's table")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
