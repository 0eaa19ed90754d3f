"""CPU seconds of the command `place` on graphs of a million operators.

    python -m benchmarks.million [--operators N]

Each command runs four times in a new process, from reading the graph (.npz) to printing the result,
without and with a placement file. The first run may compile kernels and is not counted; figures are
medians of the other three. There are no targets.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

from benchmarks.large_graphs import PRESETS, Setting
from benchmarks.speed import cpu_of
from streamplace.files import write_dataset

ROUNDS = 3
OPTIONS = ("--devices", "16x2500", "--placer", "multilevel")
SEED = 0


def main() -> None:
    """Print the CPU seconds of every preset, without and with a placement file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--operators", type=int, default=10**6, help="number; default: 1000000")
    count = parser.parse_args().operators
    print("| CPU s of `place` | without a file | with a placement file |\n|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        graph, placement = str(Path(folder) / "graph.npz"), str(Path(folder) / "placement.json")
        for preset in PRESETS:
            write_dataset(graph, [Setting(preset, count, SEED).graph()])
            cells = [f"{spent_on(graph, *output):.1f}" for output in ((), ("-o", placement))]
            print(f"| {count:,} operators, {preset} | {' | '.join(cells)} |", flush=True)


def spent_on(graph: str, *output: str) -> float:
    """Return the median CPU seconds of placing a graph file."""
    words = ("place", graph, *OPTIONS, *output)
    return statistics.median([cpu_of(*words) for _ in range(ROUNDS + 1)][1:])


if __name__ == "__main__":
    main()
