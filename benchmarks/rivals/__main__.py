"""The controller beside Apache Flink's own autoscaler, in pairs of runs on a real Flink.

    make flink-rivals AUTOSCALER=FOLDER

This runs ``python -m benchmarks.rivals FLINK --autoscaler FOLDER``, where FLINK is the folder of
Flink that holds ``lib``, and FOLDER has the jars of a built flink-autoscaler-standalone and of what
it needs beside Flink's own. Without the folder, nothing runs. A pair has the same job, cluster,
slots and load, for one controller after the other, in an order drawn by seed. The same command in
several processes divides the pairs among them, and goes on where an earlier one stopped. Loads with
recorded shapes need the files of ``--traces``, with a rate at the end of each line. After each
pair, the page of results is written, what both controllers decided, and a picture into
flink-loop/rivals/pictures. Times are 1/15 of what users would choose; SLOWER=5 in the environment
makes them five times as long.
"""

import argparse
import os
import signal
import sys
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

from scripting import ScriptError, say, terminated
from submitted import HERE, build

from benchmarks.commit import ROOT, running_commit
from benchmarks.exit_codes import exit_code
from benchmarks.result_lines import Results
from benchmarks.rivals.controllers import LOOP_MS, matched
from benchmarks.rivals.loads import FAMILIES, LENGTH_S, RECORDED, SCALE, drawn, order
from benchmarks.rivals.logs import decisions
from benchmarks.rivals.queries import QUERIES
from benchmarks.rivals.report import PAGE, draw, key_of, page, paired
from benchmarks.rivals.sharing import free_pairs
from benchmarks.rivals.trial import CONFIG, MANAGERS, PARK_US, RUN, SLOTS, run
from streamplace.files.writing import make_folder, write_text

LOGS = "logs"
QUICK_JAVA = "-XX:TieredStopAtLevel=1"  # compiles little, which halves the CPU time of a short run
SOURCES = ("BidsJob", "Bid", "Counter", "Clocked", "ShapedJob", "CountJob", "Work")


def main() -> int:
    """Run the pairs that are missing, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path, help="Flink's folder, which holds lib")
    parser.add_argument("--autoscaler", type=Path, help="folder with the jars of the autoscaler")
    parser.add_argument("--pairs", type=int, default=10, help="of each job and load (10)")
    parser.add_argument("--first", type=int, default=0, help="lowest seed (0)")
    parser.add_argument("--queries", nargs="+", choices=QUERIES, default=list(QUERIES))
    loads = [*FAMILIES, RECORDED]
    parser.add_argument("--loads", nargs="+", choices=loads, default=loads)
    parser.add_argument("--traces", nargs="+", type=Path, default=[], help="files of rates")
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
    if RECORDED in asked.loads and not asked.traces:
        say(f"{RECORDED}: skipped, because --traces names no files")
        asked.loads.remove(RECORDED)
    return exit_code(lambda: campaign(asked), name="flink-rivals", others=(ScriptError,))


def campaign(asked: argparse.Namespace) -> int:
    """Run all pairs, those with the lowest seeds first; return the exit code 0."""
    settings = {
        "seconds": LENGTH_S,
        "scale": round(SCALE, 6),
        "slots": SLOTS * len(MANAGERS),
        "park_us": PARK_US,
        "loop_ms": LOOP_MS,
        "flink": CONFIG,
        "java": QUICK_JAVA,
        "matched": matched(),
    }
    os.environ["JAVA_TOOL_OPTIONS"] = QUICK_JAVA
    results = Results(asked.folder.resolve(), settings)
    work = Path("flink-loop").resolve() / "rivals"
    home, built = asked.home.resolve(), asked.autoscaler.resolve()
    seeds = range(asked.first, asked.first + asked.pairs)
    keys = ((*names, seed) for seed, *names in product(seeds, asked.queries, asked.loads))
    for key, folder in free_pairs(keys, work):
        query, family, seed = key
        trace = asked.traces[seed % len(asked.traces)] if family == RECORDED else None
        pieces, rivals = drawn(family, seed, trace), order(*key)
        done = {(*key_of(row), row["rival"]) for row in results.rows()}
        missing = [rival for rival in rivals if (*key, rival) not in done]
        if not missing:
            continue
        jar = build(folder, home, SOURCES[0], [HERE / f"{name}.java" for name in SOURCES])
        for rival in missing:
            row = run(home, folder / rival, jar, query, pieces, rival, built)
            made = {"commit": running_commit(), "date": f"{datetime.now(UTC):%Y-%m-%dT%H:%M}"}
            log = make_folder(results.folder / LOGS) / f"{folder.name}-{rival}.txt"
            write_text(log, "\n".join([*decisions(rival, folder / rival / RUN), ""]))
            place = rivals.index(rival) + 1
            about = {"query": query, "load": family, "seed": seed, "rival": rival, "place": place}
            results.add({**about, "trace": trace and trace.name, **made, **row})
            say(f"{query}, {family}, seed {seed}, {rival}: {_shown(row)}")
        pairs = paired(results.rows())
        write_text(results.folder / PAGE, page(pairs, settings))
        both = next(both for both in pairs if key_of(both[0]) == key)
        draw(both, make_folder(work / "pictures") / f"{folder.name}.svg")
    return 0


def _shown(row: dict[str, object]) -> str:
    names = ("served", "waiting_tuple_s", "behind_s", "paused_s", "slot_s", "rescales", "exact")
    return ", ".join(f"{name} {row[name]:.4g}" for name in names)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, terminated)
    sys.exit(main())
