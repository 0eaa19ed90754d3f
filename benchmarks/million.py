"""CPU seconds of the command `place` on graphs of a million operators.

    python -m benchmarks.million [--operators N]

Each command runs three times in a new process with cached kernels, from reading the graph (.npz)
to printing the result, without and with a placement file. Medians; there are no targets.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

from benchmarks.large_graphs import PRESETS
from benchmarks.speed import cpu_of, report

ROUNDS = 3
OPTIONS = ("--devices", "16x2500", "--placer", "multilevel")


def main() -> None:
    """Print the CPU seconds of every preset, without and with a placement file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--operators", type=int, default=10**6, help="number; default: 1000000")
    count = parser.parse_args().operators
    with tempfile.TemporaryDirectory() as folder:
        graph, placement = str(Path(folder) / "graph.npz"), str(Path(folder) / "placement.json")
        for preset in PRESETS:
            cpu_of("generate", preset, "--operators", str(count), "--count", "1", "-o", graph)
            for title, output in (("", ()), (" with a placement file", ("-o", placement))):
                words = ("place", graph, *OPTIONS, *output)
                spent = statistics.median(cpu_of(*words) for _ in range(ROUNDS))
                report(f"place{title}, {count:,} {preset}, CPU s", f"{spent:.1f}", "-", True)


if __name__ == "__main__":
    main()
