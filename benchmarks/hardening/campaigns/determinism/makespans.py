"""Repeated placements and comparisons of makespans, and generated lists of clusters."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.hardening.campaigns.determinism.surroundings import (
    GRAPHS,
    ON_WORKERS,
    Surroundings,
    differences_row,
    without_times,
)
from benchmarks.hardening.harness.measured_commands import COMMAND
from benchmarks.hardening.harness.rows import Row
from streamplace.families import Recipe
from streamplace.files import write_cluster, write_dataset
from streamplace.problem.cluster import Cluster, Device, Network

MAKESPAN = ("--objective", "makespan")
PLACERS = (
    "search:evaluations=20000",
    "auto:evaluations=20000",
    "climb:evaluations=5000",
    "heft",
    "heft:contention",
    "peft",
    "peft:links",
    "cpop",
    "critical-path",
    "random-eft",
    "enumerative",
    "giph",
    "rebuild",
    "metis-oracle",
    "random",
)
SETTINGS: dict[str, tuple[object, ...]] = {
    "order any": ("--order", "any"),
    "order b-level, barrier": ("--order", "b-level", "--barrier"),
    "noise": ("--noise", 0.1, "--repeats", 4),
    "semantics of Placeto": ("--semantics", "placeto"),
}
"""Description -> the options of a pass, each of which `search` takes into account."""
COMPARED_PLACERS = "heft,peft,random-eft,search:evaluations=1000,auto:evaluations=1000"


def cluster() -> Cluster:
    """Return four unequal devices, which send one message at a time."""
    devices = [
        Device(f"d{d}", 1000.0 * (d + 1), 1 + d % 2, startup_s=1e-4 * d, overhead_s_per_byte=1e-10)
        for d in range(4)
    ]
    return Cluster(devices, Network("egress", 100.0, overhead_s=1e-5, gap_s=1e-5))


def place_row(
    folder: Path, processes: int, rng: np.random.Generator, placers: Sequence[str] = PLACERS
) -> Row:
    """Place one graph with every placer of makespans that is not limited by time."""
    graph, file = folder / "pass.json", folder / "cluster.json"
    write_dataset(graph, [Recipe("layered", 1, range(60, 61), seed=4).graph(0)])
    write_cluster(file, cluster())

    def place(words: tuple[object, ...], surroundings: Surroundings) -> bytes:
        command = ("place", graph, "--cluster", file, *MAKESPAN, *words, "--json", "--seed", 5)
        return without_times(surroundings.run(*COMMAND, *command))

    results = [(placer, partial(place, ("--placer", placer))) for placer in placers]
    results += [
        (f"{placers[0]}, {name}", partial(place, ("--placer", placers[0], *words)))
        for name, words in SETTINGS.items()
    ]
    what = "place: placements of short makespan, limited by count"
    return differences_row(what, results, processes, folder, rng)


def compare_row(
    folder: Path,
    processes: int,
    rng: np.random.Generator,
    placers: str = COMPARED_PLACERS,
    count: int = GRAPHS,
) -> Row:
    """Generate graphs and a list of clusters, and compare on 1, 2 and 4 worker processes."""

    def compare(surroundings: Surroundings) -> bytes:
        words = ("generate", "giph-code", "--count", count, "--seed", 7, "-o", "graphs.jsonl")
        surroundings.run(*COMMAND, *words, "--clusters", "clusters.jsonl", "-q")
        files = ("compare", "graphs.jsonl", "--clusters", "clusters.jsonl", *MAKESPAN)
        rest = ("--placers", placers, "--seed", 5, "--jobs", surroundings.jobs, "--json")
        output = ("-o", "comparison", "--plots", "none")
        table = without_times(surroundings.run(*COMMAND, *files, *rest, *output))
        made = ("clusters.jsonl", "comparison/graphs.csv")
        return table + b"".join((surroundings.folder / name).read_bytes() for name in made)

    what = "compare: tables of makespans, without times; lists of clusters"
    return differences_row(what, [("compare", compare)], processes, folder, rng, varied=ON_WORKERS)
