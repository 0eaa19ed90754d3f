"""Rows of some systems of the study dream, made again after a change of their placers.

    python -m benchmarks.studies_rows SYSTEM … [--data DATA]

Each system of the study places with its own random numbers, so that its rows can be made again
without the others, which are kept, as are CPU times. A row of the table is printed for each system
and model, with its mean relative throughput before and after; then benchmarks/studies/dream gets
the new rows and tables. DATA is the folder with the released graphs (default: ../shared/data); the
weights of the paper's allocators are needed as well (benchmarks/studies/README.md).
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks.exit_codes import exit_code
from benchmarks.released_data import SHARED
from benchmarks.studies_again import FOLDERS, Kept, kept_in, studies_named
from benchmarks.studies_tables import write
from streamplace.papers.ni2020.study.outcome import SYSTEMS
from streamplace.papers.ni2020.study.study import DreamStudy

NAME = "dream"


def main() -> None:
    """Make the rows again."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("systems", nargs="+", choices=SYSTEMS, metavar="SYSTEM")
    parser.add_argument("--data", type=Path, default=SHARED)
    options = parser.parse_args()
    study = studies_named([NAME], options.data)[NAME]
    assert isinstance(study, DreamStudy)
    plan, kept = study.plan(), kept_in(FOLDERS / NAME)
    order = {system: place for place, system in enumerate(plan.settings["systems"])}
    systems = {system: SYSTEMS[system] for system in options.systems}
    means = defaultdict[tuple[str, str], list[tuple[list[float], list[float]]]](list)
    for unit in plan.units:
        before = {(row["graph"], row["system"]): row for row in kept[unit.key].rows}
        after = {
            (row["graph"], row["system"]): row
            for row in study.rows(**unit.settings, systems=systems)
        }
        for of, row in after.items():
            old = before[of]["relative_throughput"] if of in before else [np.nan, np.nan]
            means[of[1], row["model"]].append((old, row["relative_throughput"]))
        rows = sorted(
            (before | after).values(), key=lambda row: (row["graph"], order[row["system"]])
        )
        kept[unit.key] = Kept(rows, kept[unit.key].seconds)
    print("| system | model | before, at 1e4 and 2e4 | after |\n|---|---|---|---|")
    for (system, model), pairs in means.items():
        old, new = (" ".join(f"{mean:.4f}" for mean in means) for means in np.mean(pairs, axis=0))
        print(f"| {system} | {model} | {old} | {new} |")
    write(NAME, study, plan, kept)


if __name__ == "__main__":
    sys.exit(exit_code(main, name="studies_rows"))
