"""Determinism: with a seed and no time limit, every process produces the same bytes."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.hardening.campaigns.determinism import makespans
from benchmarks.hardening.campaigns.determinism.refining import refine_row
from benchmarks.hardening.campaigns.determinism.surroundings import (
    GRAPHS,
    JOBS,
    ON_WORKERS,
    Surroundings,
    differences_row,
    without_times,
)
from benchmarks.hardening.campaigns.determinism.training import (
    TORCHRUN,
    teacher_row,
    torchrun_row,
    training_row,
)
from benchmarks.hardening.harness.measured_commands import COMMAND
from benchmarks.hardening.harness.rows import Row
from streamplace.families import PRESETS, Recipe
from streamplace.files import write_dataset

PROCESSES = 10
PLACERS = (
    "search:evaluations=50000",
    "auto:evaluations=50000",
    "multilevel",
    "metis",
    "metis-recursive",
    "metis-oracle",
    "metis-sweep",
    "fuser-oracle",
    "contiguous",
    "greedy",
    "climb",
    "random",
    "policy",
    "policy:samples=16",
    "policy:beam=4",
    "giph",
)
COMPARED_PLACERS = (
    "metis,fuser,greedy,search:evaluations=2000,auto:evaluations=2000,policy:samples=4"
)

ONE_GRAPH = ("chain-mm", "ffnn", "transformer-block", "transformer-layer")
"""Families of one graph each, which its shards determine."""
OF_ONE_SIZE = (*ONE_GRAPH, "dream", "contended", "giph-paper", "giph-code", "sensor-fusion")
"""Families whose settings determine the number of operators."""


def run(share: float = 1.0, seed: int = 0, only: Sequence[str] | None = None) -> Iterator[Row]:
    """Repeat each command in fresh processes; a smaller share starts fewer processes."""
    processes = max(len(JOBS), round(PROCESSES * share))
    rng = np.random.default_rng(seed)
    with TemporaryDirectory(prefix="streamplace-determinism-") as folder:
        for name in only or ROWS:
            yield ROWS[name](Path(folder), processes, rng)


def generate_row(
    folder: Path,
    processes: int,
    rng: np.random.Generator,
    presets: Sequence[str] = tuple(PRESETS),
    count: int = GRAPHS,
) -> Row:
    """Generate datasets on 1, 2 and 4 worker processes, and one graph per preset."""

    def dataset_bytes(preset: str, surroundings: Surroundings) -> bytes:
        graphs = 1 if preset in ONE_GRAPH else count
        words = ("generate", preset, "--count", graphs, "--seed", 7)
        surroundings.run(*COMMAND, *words, "--jobs", surroundings.jobs, "-o", "graphs.jsonl.gz")
        return (surroundings.folder / "graphs.jsonl.gz").read_bytes()

    def graph_bytes(preset: str, surroundings: Surroundings) -> bytes:
        size = () if preset in OF_ONE_SIZE else ("--operators", 2000)
        words = ("generate", preset, *size, "--seed", 7)
        surroundings.run(*COMMAND, *words, "-o", "graph.npz")
        return (surroundings.folder / "graph.npz").read_bytes()

    results = [(f"{preset}, a dataset", partial(dataset_bytes, preset)) for preset in presets]
    results += [(f"{preset}, a graph", partial(graph_bytes, preset)) for preset in presets]
    what = "generate: bytes of the files"
    return differences_row(what, results, processes, folder, rng, varied=ON_WORKERS)


def place_row(
    folder: Path, processes: int, rng: np.random.Generator, placers: Sequence[str] = PLACERS
) -> Row:
    """Place one graph with every placer that is not limited by time."""
    graph = folder / "graph.json"
    write_dataset(graph, [Recipe("layered", 1, range(80, 81), seed=3).graph(0)])

    def place(words: tuple[object, ...], surroundings: Surroundings) -> bytes:
        command = ("place", graph, "--source-rate", 1e4, *words, "--json", "--seed", 5)
        return without_times(surroundings.run(*COMMAND, *command))

    results = [(placer, partial(place, ("--placer", placer))) for placer in placers]
    search = ("--placer", PLACERS[0], "--model", "path-average")
    results.append((f"{PLACERS[0]}, path-average", partial(place, search)))
    return differences_row("place: placements, limited by count", results, processes, folder, rng)


def compare_row(
    folder: Path,
    processes: int,
    rng: np.random.Generator,
    placers: str = COMPARED_PLACERS,
    count: int = GRAPHS,
) -> Row:
    """Compare on 1, 2 and 4 worker processes; write the input files in varying order."""
    recipe = Recipe("layered", count, range(10, 40), seed=2)
    graphs = [recipe.graph(number) for number in range(count)]

    def compare(surroundings: Surroundings) -> bytes:
        graphs_folder = surroundings.folder / "graphs"
        graphs_folder.mkdir()
        for number in rng.permutation(count):
            write_dataset(graphs_folder / f"{number:03d}.json", [graphs[number]])
        words = ("compare", "graphs", "--placers", placers, "--source-rate", "1e4,2e4", "--seed", 5)
        rest = ("--jobs", surroundings.jobs, "-o", "comparison", "--plots", "none", "--json")
        table = without_times(surroundings.run(*COMMAND, *words, *rest))
        return table + (surroundings.folder / "comparison" / "graphs.csv").read_bytes()

    varied = f"{ON_WORKERS}, order in which files were written"
    results = [("compare", compare)]
    what = "compare: tables, without times"
    return differences_row(what, results, processes, folder, rng, varied=varied)


ROWS: dict[str, Callable[[Path, int, np.random.Generator], Row]] = {
    "generate": generate_row,
    "place": place_row,
    "compare": compare_row,
    "place-makespan": makespans.place_row,
    "compare-makespan": makespans.compare_row,
    "refine": refine_row,
    "train": training_row,
    "teacher": teacher_row,
    **{f"torchrun-{count}": partial(torchrun_row, count=count) for count in TORCHRUN},
}
"""Name -> the function that repeats a command and returns its row."""
