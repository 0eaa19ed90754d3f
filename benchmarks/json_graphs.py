"""CPU seconds of reading and writing graphs as JSON, and the memory of reading them.

    python -m benchmarks.json_graphs [--operators N]

Figures are medians of three new processes, without their start. There are no targets;
`benchmarks.speed_beside FOLDER --only json` runs the same in another version.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from streamplace import Recipe
from streamplace.execution.calls import peak_bytes
from streamplace.files import read_graph, write_dataset

ROUNDS = 3
SEED = 0


def main() -> None:
    """Print the figures of every size, or of one process."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--operators", type=int, default=10**5, help="number; default: 100000")
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)  # of one process
    arguments = parser.parse_args()
    if arguments.file is not None:
        print(*once(arguments.file))
        return
    print(f"{'figure':56} {'measured':>12}")
    count = arguments.operators
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph.json"
        write_dataset(file, [Recipe("layered", 1, range(count, count + 1), seed=SEED).graph(0)])
        command = [sys.executable, "-P", __file__, "--file", str(file)]
        found = [
            [float(x) for x in subprocess.check_output(command, text=True).split()]
            for _ in range(ROUNDS)
        ]
    titles = ("reading, CPU s", "writing, CPU s", "memory, MB")
    for title, values in zip(titles, zip(*found, strict=True), strict=True):
        name = f"JSON graph of {count:,} operators, {title}"
        print(f"{name:56} {statistics.median(values):12.2f}")


def once(file: Path) -> tuple[float, float, float]:
    """Return the CPU seconds of reading and of writing a graph, and the memory until then, in MB.

    The memory is the largest of the process before it writes.
    """
    begun = time.process_time()
    graph = read_graph(file)
    read = time.process_time()
    memory = peak_bytes() / 1e6
    write_dataset(file.with_name("copy.json"), [graph])
    return read - begun, time.process_time() - read, memory


if __name__ == "__main__":
    main()
