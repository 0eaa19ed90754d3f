"""Units of the studies in benchmarks/studies, run again and compared with the rows kept there.

    python -m benchmarks.studies_again [DATA] [--seconds S] [--only NAME …] [--jobs N]

The studies take hours, so units are drawn at random (seed 0) until those of a study took S seconds
of CPU time when they were first run; a unit that took more than what is left of S is never drawn.
All values of their rows except CPU times are compared. DATA is the folder with the released data
that three of the studies read (default: ../shared/data); without it they are left out, and so is
dream without the weights of the paper's allocators (benchmarks/studies/README.md). Where NAME is
one of them, the exit code is 2.
"""

import argparse
import json
import lzma
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.exit_codes import exit_code
from benchmarks.reference.differences import (
    largest_difference,
    relative_difference,
)
from benchmarks.released_data import SHARED
from streamplace.execution.parallel import each_when_known
from streamplace.papers.doppler.study.streams import StreamDopplerStudy
from streamplace.papers.doppler.study.study import DopplerStudy
from streamplace.papers.giph.study.streams import StreamGiphStudy
from streamplace.papers.giph.study.study import GiphStudy
from streamplace.papers.hsdag.study.study import HsdagStudy
from streamplace.papers.ni2020.study.study import DreamStudy
from streamplace.papers.orders.study.streams import StreamOrdersStudy
from streamplace.papers.orders.study.study import OrdersStudy
from streamplace.papers.studies.run import PLAN, RESULTS, check_plan
from streamplace.papers.studies.study import Row, Study, Unit

FOLDERS = Path(__file__).parent / "studies"
NAMES = sorted(path.name for path in FOLDERS.iterdir() if path.is_dir())
WEIGHTS = Path(__file__).parent / "weights"
SEED = 0
NOT_COMPARED = "cpu_s"
ROUNDING = 1e-9  # relative difference that another order of a sum explains


@dataclass(frozen=True)
class Kept:
    """A result that is kept: the rows of a unit, and the CPU seconds that it took."""

    rows: list[Row]
    seconds: float


@dataclass(frozen=True)
class Repetition:
    """The units of a study that are run again, and what is kept of each.

    Attributes
    ----------
    planned
        Number of units of the whole plan.
    """

    study: Study
    units: tuple[Unit, ...]
    kept: tuple[Kept, ...]
    planned: int


def studies(data: Path) -> dict[str, Study]:
    """Return the studies with committed folders, by folder; without those whose data is missing."""
    found: dict[str, Study] = {
        "orders": OrdersStudy(False, SEED),
        "streams": StreamOrdersStudy(False, SEED),
        "giph": GiphStudy(False, SEED),
        "giph-streams": StreamGiphStudy(False, SEED),
        "doppler-streams": StreamDopplerStudy(False, SEED),
    }
    if data.is_dir():
        if WEIGHTS.is_dir():
            graphs = str(data / "dream" / "graphs.jsonl.gz")
            found["dream"] = DreamStudy(False, SEED, graphs, str(WEIGHTS))
        else:
            print(f"{WEIGHTS}: no such folder; dream is left out", file=sys.stderr)
        found["doppler"] = DopplerStudy(False, SEED, str(data / "doppler"))
        found["hsdag"] = HsdagStudy(False, SEED, str(data))
    else:
        print(f"{data}: no such folder; dream, doppler and hsdag are left out", file=sys.stderr)
    return found


def studies_named(names: Collection[str], data: Path) -> dict[str, Study]:
    """Return the studies with these names; end with exit code 2 if the data of one is missing."""
    found = studies(data)
    if not found.keys() >= set(names):
        sys.exit(2)  # `studies` has said what is missing
    return {name: found[name] for name in names}


def kept_in(folder: Path) -> dict[str, Kept]:
    """Return the kept results of a study by the key of their unit."""
    return kept_from(lzma.decompress((folder / f"{RESULTS}.xz").read_bytes()))


def kept_from(data: bytes) -> dict[str, Kept]:
    """Return the results in the lines of a file by the key of their unit."""
    lines = [json.loads(line) for line in data.splitlines()]
    return {line["unit"]: Kept(line["rows"], line["cpu_s"]) for line in lines}


def drawn_from(name: str, study: Study, seconds: float) -> Repetition:
    """Draw the units of a study; an error if its plan is no longer that of its folder."""
    plan = study.plan()
    check_plan(FOLDERS / name / PLAN, study.name, plan.settings)
    kept, left, drawn = kept_in(FOLDERS / name), seconds, []
    for number in np.random.default_rng(SEED).permutation(len(plan.units)):
        unit = plan.units[number]
        if unit.key in kept and kept[unit.key].seconds <= left:
            left -= kept[unit.key].seconds
            drawn.append(unit)
    return Repetition(study, tuple(drawn), tuple(kept[unit.key] for unit in drawn), len(plan.units))


def rows_of(study: Study, unit: Unit) -> list[Row]:
    """Return the rows of a unit as they are written to a file."""
    rows: list[Row] = json.loads(json.dumps(study.run(unit)))
    return rows


def differences(one: Any, other: Any) -> Iterator[float]:
    """Yield the relative differences of two rows' numbers; infinite where other values differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one.keys() - {NOT_COMPARED}:
            yield from differences(one[key], other[key])
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for first, second in zip(one, other, strict=True):
            yield from differences(first, second)
    elif isinstance(one, int | float) and isinstance(other, int | float):
        yield relative_difference(one, other)
    else:
        yield 0.0 if one == other else np.inf


def compare(name: str, work: Repetition, jobs: int | None) -> None:
    """Run the units of a study again, and print a row of the table."""
    found: list[float] = []
    run = partial(rows_of, work.study)
    for number, rows in each_when_known(run, work.units, jobs):
        unit = deviations(rows, work.kept[number].rows)
        found += unit
        if not is_rounding(worst := largest_difference(unit)):
            print(f"{name}: {work.units[number].key}: {worst:.3g}", file=sys.stderr)
    equal, different = found.count(0.0), sum(not is_rounding(each) for each in found)
    counts = (len(work.units), work.planned, len(found), equal, different)
    worst = largest_difference(found)
    print(f"| {name} | " + " | ".join(map(str, counts)) + f" | {worst:.2g} |", flush=True)


def deviations(rows: list[Row], kept: list[Row]) -> list[float]:
    """Return the largest relative difference of each row; infinite for rows without another."""
    pairs = zip(rows, kept, strict=False)
    unmatched = abs(len(rows) - len(kept))
    return [largest_difference(differences(*pair)) for pair in pairs] + [np.inf] * unmatched


def is_rounding(difference: float) -> bool:
    """Return whether rounding explains a difference; NaN is none that it explains."""
    return difference <= ROUNDING


def main() -> None:
    """Print a table with a row for each study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=SHARED)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--only", nargs="*", default=[], choices=NAMES, metavar="NAME")
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args()
    found = studies_named(options.only, options.data) if options.only else studies(options.data)
    print(
        "| study | units | units planned | rows | equal | different | largest relative difference |"
    )
    print("|---|---|---|---|---|---|---|", flush=True)
    for name, study in found.items():
        compare(name, drawn_from(name, study, options.seconds), options.jobs)


if __name__ == "__main__":
    sys.exit(exit_code(main, name="studies_again"))
