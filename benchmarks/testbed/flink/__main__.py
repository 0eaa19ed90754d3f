"""Measurements on Apache Flink: the paper's cases T2 and T3, and placements of random graphs.

    make testbed-flink

This runs ``python -m benchmarks.testbed.flink FLINK``, where FLINK is the folder of Flink that
holds ``lib``. The simulation is the closed form. The CPU time that Flink needs to send or receive a
tuple (o in LogP) is not calibrated; ``--o-us`` sets it.
"""

import argparse
import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
from scripting import ScriptError

from benchmarks.exit_codes import exit_code
from benchmarks.testbed import campaign
from benchmarks.testbed.commands import NAME, add_folder
from benchmarks.testbed.comparing import relation
from benchmarks.testbed.emulator import swept
from benchmarks.testbed.facilities import TestbedError
from benchmarks.testbed.flink.cluster import TestbedFlink, flink
from benchmarks.testbed.scaling import Machine, Scaled, scale
from benchmarks.testbed.tables import RATE, Row, rows, scaled
from streamplace import Placement, simulate
from streamplace.files.writing import make_folder
from streamplace.util.arrays import Ints

HERE = Path(__file__).resolve().parent
GRAPHS, PLACERS = 4, ("metis", "fuser", "policy", "auto")
WARM_S, MEASURED_S = 8.0, 8.0


def main() -> int:
    """Print one line per table row and placement; return 0 if the ranks of T2 and T3 hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path, help="Flink's folder, which holds lib")
    add_folder(parser)
    parser.add_argument(
        "--o-us",
        type=float,
        default=0.0,
        help="microseconds of CPU time to send or receive a tuple (LogP's o); default: 0",
    )
    parser.add_argument(
        "--graphs", type=int, default=GRAPHS, help=f"number of random graphs; default: {GRAPHS}"
    )
    parser.add_argument("--only-graphs", action="store_true", help="leave out T2 and T3")
    arguments = parser.parse_args()
    return exit_code(lambda: run(arguments), name=NAME, others=(ScriptError,))


@swept()
def run(arguments: argparse.Namespace) -> int:
    """Start Flink, and run the tables and the random graphs on it."""
    folder = make_folder(arguments.folder / "flink").resolve()
    home = arguments.home.resolve()
    jar = built(home, folder)
    machine = Machine(o_s=arguments.o_us * 1e-6)
    selected = [row for row in rows() if row.table in ("T2", "T3") and not arguments.only_graphs]
    good = True
    first = scaled(rows()[0], machine)
    with flink(home, folder, first) as cluster:
        for row in selected:
            good &= measure_row(row, cluster, jar, machine)
        for graph in islice(campaign.graphs(24), arguments.graphs):
            small = scale(campaign.problem_of(graph), machine)
            for name, devices in campaign.placements(small):
                if name in PLACERS:
                    simulated, reached = both(cluster, jar, small, devices)
                    line = {
                        "graph": graph.name,
                        "placer": name,
                        "closed": simulated,
                        "measured": reached,
                    }
                    with (folder / "flink.jsonl").open("a") as file:
                        file.write(json.dumps(line) + "\n")
                    print(f"{graph.name} {name}: {simulated:.3f} {reached:.3f}", flush=True)
    print(f"\nall ranks hold: {'yes' if good else 'NO'}")
    return 0 if good else 1


def built(home: Path, folder: Path) -> Path:
    """Compile the job and return its jar."""
    classes, jar = folder / "classes", folder / "graph.jar"
    java = ["javac", "-nowarn", "-d", str(classes), "-cp", f"{home / 'lib'}/*"]
    packed = ["jar", "--create", f"--file={jar}", "--main-class=GraphJob", "-C", str(classes), "."]
    for command in ([*java, str(HERE / "GraphJob.java")], packed):
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise TestbedError(
                f"the testbed cannot run Flink: no program {command[0]!r}; install a JDK"
            ) from None
        if done.returncode:
            raise TestbedError(f"{command[0]}: {' '.join(done.stderr.split())}")
    return jar


def both(cluster: TestbedFlink, jar: Path, small: Scaled, devices: Ints) -> tuple[float, float]:
    """Return the relative throughput of a placement, (V,), in simulation and on Flink."""
    simulated = simulate(Placement(small.problem, devices)).relative_throughput
    return simulated, cluster.measure(jar, small, devices, WARM_S, MEASURED_S)


def measure_row(row: Row, cluster: TestbedFlink, jar: Path, machine: Machine) -> bool:
    """Run and print a row of a table; return whether its ranks hold on Flink."""
    small = scaled(row, machine)
    pairs = {
        name: both(cluster, jar, small, np.array(devices, dtype=np.int32))
        for name, devices in row.placements.items()
    }
    reached = {name: measured for name, (_, measured) in pairs.items()}
    cells = [", ".join(f"{RATE * pair[i]:.1f}" for pair in pairs.values()) for i in (0, 1)]
    ranks = ", ".join(
        f"{a}{relation(reached[a], reached[b])}{b}"
        for a, b in ((text[:2], text[3:]) for text in row.expected)
    )
    verdict = "yes" if row.holds(reached) else f"NO: {ranks}"
    print(f"| {row.table} {row.case} | {' | '.join(cells)} | {verdict} |", flush=True)
    return row.holds(reached)


if __name__ == "__main__":
    sys.exit(main())
