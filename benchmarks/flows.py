"""CPU seconds of whole commands on large inputs: `place`, `compare` and `report`.

    python -m benchmarks.flows [--operators N]

Each figure is that of one new process, with its start and its workers. There are no targets;
`benchmarks.speed_beside FOLDER --only flows` runs the same in another version.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.speed import COMPARED, cpu_of
from streamplace import Recipe, write_dataset

GRAPHS = (60, 400)
REPORTED = 10_000  # operators
SEED = 0


def main() -> None:
    """Print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--operators", type=int, default=10**5, help="number; default: 100000")
    arguments = parser.parse_args()
    print(f"{'figure':56} {'measured':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for title, words in flows(Path(folder), arguments.operators):
            print(f"{title + ', CPU s':56} {cpu_of(*words):12.2f}", flush=True)


def flows(folder: Path, operators: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the title and the words of each command, after writing the files that it reads."""
    for end in ("json", "npz"):
        file = layered(folder / f"graph.{end}", operators)
        yield f"place {operators:,} operators from .{end}", ("place", file)
    for count in GRAPHS:
        dataset = str(folder / f"dream-{count}.jsonl.gz")
        write_dataset(dataset, map(Recipe("dream", count, seed=SEED).graph, range(count)))
        yield f"compare {count} graphs, 4 placers", ("compare", dataset, "--placers", COMPARED)
    placed = str(folder / "placement.json")
    cpu_of("place", layered(folder / "reported.npz", REPORTED), "--placer", "metis", "-o", placed)
    yield f"report {REPORTED:,} operators", ("report", placed, "-o", str(folder / "report.html"))


def layered(file: Path, operators: int) -> str:
    """Write a layered graph and return the name of its file."""
    write_dataset(file, [Recipe("layered", 1, range(operators, operators + 1), seed=SEED).graph(0)])
    return str(file)


if __name__ == "__main__":
    main()
