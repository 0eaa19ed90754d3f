"""Rules of controllers compared on simulated traces with changing rates and failing devices.

    python -m benchmarks.control [--traces N] [--downtime LOW HIGH] [--jobs N] -o FOLDER

A run that was interrupted goes on where it stopped. Jobs and traces are those of
`benchmarks.control.cases`; the fluid model of `benchmarks.control.simulated` takes the place of
the tick engine, which would take too long.
"""

import argparse
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.commit import running_commit
from benchmarks.control.cases import case
from benchmarks.control.rules import SETTINGS, entries
from benchmarks.control.simulated.comparison import Prices, compare
from benchmarks.control.simulated.run import GAP_S
from benchmarks.control.tables import TABLE, page
from benchmarks.result_lines import Results
from streamplace.execution.parallel import each
from streamplace.files.writing import write_text

PRICES = Prices(SETTINGS.machine_price, SETTINGS.delayed_tuple_price, SETTINGS.horizon_s)


def row_of(seed: int, downtime_s: tuple[float, float]) -> dict[str, Any]:
    """Return the figures of all rules on the trace of a seed."""
    of = case(seed)
    figures = {
        name: compare(
            of.job,
            of.trace,
            of.first,
            entry.make(of, downtime_s),
            seed,
            window_s=entry.window_s,
            parts=entry.parts,
            gap_s=downtime_s,
            prices=PRICES,
        ).to_dict()
        for name, entry in entries().items()
    }
    return {"seed": seed, "kind": of.trace.kind, "rules": figures}


def main() -> None:
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", type=int, default=1000, help="number; default: 1000")
    parser.add_argument(
        "--downtime", type=float, nargs=2, default=list(GAP_S), help="seconds; default: measured"
    )
    parser.add_argument("--jobs", type=int, help="number of processes; default: one per processor")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the results")
    asked = parser.parse_args()
    low_s, high_s = asked.downtime
    if asked.traces < 1 or not 0 < low_s <= high_s:
        parser.error("--traces must be at least 1, and --downtime 0 < LOW <= HIGH")
    settings = {
        "downtime_s": [low_s, high_s],
        "commit": running_commit(),
        "rules": list(entries()),
    }
    results = Results(asked.output, settings)
    done = {row["seed"] for row in results.rows()}
    rest = [seed for seed in range(asked.traces) if seed not in done]
    for row in each(partial(row_of, downtime_s=(low_s, high_s)), rest, asked.jobs):
        results.add(row)
    rows = [row for row in results.rows() if row["seed"] < asked.traces]
    command = shlex.join(["python", "-m", "benchmarks.control", *sys.argv[1:]])
    text = page(rows, command, settings)
    write_text(asked.output / TABLE, text)
    print(text)


if __name__ == "__main__":
    main()
