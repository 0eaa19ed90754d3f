"""The controller beside Apache Flink's own autoscaler, in pairs of runs on a real Flink.

    make flink-rivals AUTOSCALER=FOLDER

This runs ``python -m benchmarks.rivals FLINK --autoscaler FOLDER``, where FLINK is the folder of
Flink that holds ``lib``, and FOLDER has the jars of a built flink-autoscaler-standalone and of what
it needs beside Flink's own. Without the folder, nothing runs. A pair has the same job, cluster,
slots and load, for one controller after the other, in an order drawn by seed. A run that was
interrupted goes on where it stopped. After each pair, tables are written beside the results, and
pictures into flink-loop/rivals.
"""

import argparse
import signal
import sys
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

from local_flink import FlinkError
from scripting import say, terminated
from submitted import HERE, build
from watched import SCALE

from benchmarks.commit import ROOT, running_commit
from benchmarks.result_lines import Results
from benchmarks.rivals.controllers import LOOP_MS, matched
from benchmarks.rivals.loads import FAMILIES, LENGTH_S, order
from benchmarks.rivals.report import write
from benchmarks.rivals.trial import CONFIG, MANAGERS, PARK_US, SLOTS, run
from benchmarks.testbed.commands import exit_code

SOURCES = ("BidsJob", "Clocked", "ShapedJob", "CountJob", "Work")
QUERIES = ("filter", "counts")


def main() -> int:
    """Run the pairs that are missing, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path, help="Flink's folder, which holds lib")
    parser.add_argument("--autoscaler", type=Path, help="folder with the jars of the autoscaler")
    parser.add_argument("--pairs", type=int, default=10, help="of each job and load (10)")
    parser.add_argument("--loads", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument(
        "-o",
        type=Path,
        default=ROOT / "benchmarks" / "results" / "flink-rivals",
        dest="folder",
        help="folder of results",
    )
    asked = parser.parse_args()
    if asked.autoscaler is None or not list(asked.autoscaler.glob("*autoscaler*.jar")):
        print("flink-rivals: skipped, because --autoscaler names no folder with its jars")
        return 0
    return exit_code(lambda: campaign(asked), name="flink-rivals", others=(FlinkError,))


def campaign(asked: argparse.Namespace) -> int:
    """Run all pairs, those with the lowest seeds first; return the exit code 0."""
    settings = {
        "seconds": LENGTH_S,
        "scale": round(SCALE, 6),
        "slots": SLOTS * len(MANAGERS),
        "park_us": PARK_US,
        "loop_ms": LOOP_MS,
        "flink": CONFIG,
        "matched": matched(),
    }
    results = Results(asked.folder.resolve(), settings)
    work = Path("flink-loop").resolve() / "rivals"
    work.mkdir(parents=True, exist_ok=True)
    home, built = asked.home.resolve(), asked.autoscaler.resolve()
    jar = build(work, home, SOURCES[0], [HERE / f"{name}.java" for name in SOURCES])
    done = {(row["query"], row["load"], row["seed"], row["rival"]) for row in results.rows()}
    for seed, family, query in product(range(asked.pairs), asked.loads, QUERIES):
        about = {"query": query, "load": family, "seed": seed}
        for place, rival in enumerate(order(query, family, seed)):
            if (*about.values(), rival) in done:
                continue
            row = run(home, work, jar, query, family, seed, rival, built)
            made = {"commit": running_commit(), "date": f"{datetime.now(UTC):%Y-%m-%dT%H:%M}"}
            results.add({**about, "rival": rival, "place": place + 1, **made, **row})
            say(f"{query}, {family}, seed {seed}, {rival}: {_shown(row)}")
        write(results.rows(), settings, results.folder, work / "pictures")
    return 0


def _shown(row: dict[str, object]) -> str:
    names = ("served", "waiting_tuple_s", "behind_s", "paused_s", "slot_s", "rescales", "exact")
    return ", ".join(f"{name} {row[name]:.4g}" for name in names)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, terminated)
    sys.exit(main())
