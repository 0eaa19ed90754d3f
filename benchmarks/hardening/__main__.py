"""Command line of the hardening campaign.

python -m benchmarks.hardening PART …   run parts of the campaign; `all` runs every part
python -m benchmarks.hardening report   print the results
"""

import argparse
import importlib
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, cast

from benchmarks.hardening.harness.rows import MAX_FAULTS, Counted, Row, Run, save_rows
from benchmarks.hardening.harness.tables import full_table, missing, report_files
from streamplace.files.writing import make_folder, write_text

FOLDER = Path(__file__).parent / "results"
PARTS = (
    "readers",
    "writers",
    "corruption",
    "determinism",
    "invariants",
    "solvers",
    "load",
    "supply",
    "fuzzing",  # last, since it changes the archives of seeds
)


class Part(Protocol):
    """Interface of the module `campaign` of each part."""

    def run(self, share: float = 1.0, seed: int = 0, *only: Sequence[str]) -> Iterator[Row]:
        """Yield the rows of the part.

        Parameters
        ----------
        share
            The fraction of the whole campaign to run, 0 to 1. A smaller share makes fewer tries on
            the same code paths.
        seed
            The seed of all random choices.
        only
            What to try, by name, in parts that can be divided; without it, everything.
        """


def main() -> int:
    """Run parts or report their results; return 1 if anything is wrong."""
    arguments = _parsed()
    if arguments.parts == ["report"]:
        return report(arguments.folder, arguments.write)
    chosen = PARTS if arguments.parts == ["all"] else arguments.parts
    make_folder(arguments.folder)
    bad = [name for name in chosen if not run(name, arguments)]
    return 1 if bad else 0


def run(name: str, arguments: argparse.Namespace) -> bool:
    """Run a part and save each row; return whether all rows are good."""
    part = cast("Part", importlib.import_module(f"benchmarks.hardening.campaigns.{name}.campaign"))
    counted: list[Counted] = []
    print(f"{name}:", flush=True)
    this_run = Run.of(name, arguments.share, arguments.seed)
    path = arguments.folder / f"{name}.json"
    only = (arguments.only,) if arguments.only else ()
    for row in _all_of(part.run(arguments.share, arguments.seed, *only)):
        print(f"  {row}", flush=True)
        for fault in row.faults[:MAX_FAULTS]:
            print(f"    {fault}", flush=True)
        counted.append((row, this_run))
        save_rows(path, counted)
    save_rows(path, counted, replace_all=not only)
    return all(row.good for row, _ in counted)


def _all_of(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows of a part; if an exception ends it, yield a row for the exception."""
    try:
        yield from rows
    except Exception:
        last = traceback.format_exc().strip().splitlines()
        yield Row("unexpected end of the part", 1, {"exceptions": 1}, {}, [" | ".join(last[-3:])])


def report(folder: Path, write: bool) -> int:
    """Print or write the saved results; return 1 if the table is incomplete."""
    if write:
        for path, text in report_files(folder, PARTS).items():
            write_text(path, text)
    else:
        print(full_table(folder, PARTS), end="")
    gaps = missing(folder, PARTS)
    for line in gaps:
        print(line, file=sys.stderr)
    return 1 if gaps else 0


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hardening",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="+", choices=[*PARTS, "all", "report"], help="parts to run")
    parser.add_argument(
        "--share", type=float, default=1.0, help="fraction of the whole campaign to run, 0 to 1"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the tries; default: 0")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        help="try only these readers (in readers, fuzzing), solvers (in solvers), "
        "commands (in determinism) or invariants (in invariants)",
    )
    parser.add_argument("-o", type=Path, default=FOLDER, dest="folder", help="folder of results")
    parser.add_argument(
        "--write", action="store_true", help="write the report to RESULTS.md, docs/reliability.md"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
