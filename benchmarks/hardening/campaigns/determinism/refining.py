"""Repeated placements by Placeto, which refines the placement that it starts from."""

from functools import partial
from pathlib import Path

import numpy as np
import torch

from benchmarks.hardening.campaigns.determinism.makespans import MAKESPAN, cluster
from benchmarks.hardening.campaigns.determinism.surroundings import (
    GRAPHS,
    ON_WORKERS,
    Result,
    Surroundings,
    differences_row,
    without_times,
)
from benchmarks.hardening.harness.measured_commands import COMMAND
from benchmarks.hardening.harness.rows import Row
from streamplace.families import Recipe
from streamplace.files import write_cluster, write_dataset
from streamplace.policy.registry import make_policy, policy_section
from streamplace.policy.weights import pack_policy

OPTIONS = ("episodes=2", "samples=4", "order=random")


def refine_row(folder: Path, processes: int, rng: np.random.Generator, count: int = GRAPHS) -> Row:
    """Refine the placement of one graph, and those of a dataset on 1, 2 and 4 processes."""
    graph, graphs, file = folder / "one.json", folder / "all.jsonl", folder / "devices.json"
    placed, weights = folder / "start.json", folder / "placeto.safetensors"
    write_dataset(graph, [Recipe("layered", 1, range(40, 41), seed=4).graph(0)])
    recipe = Recipe("layered", count, range(6, 12), seed=5)
    write_dataset(graphs, map(recipe.graph, range(count)))
    write_cluster(file, cluster())
    write_weights(weights)
    on = ("--cluster", file, *MAKESPAN, "--json", "--seed", 5)

    def place(words: tuple[object, ...], surroundings: Surroundings) -> bytes:
        return without_times(surroundings.run(*COMMAND, "place", graph, *on, *words))

    def compare(surroundings: Surroundings) -> bytes:
        placers = f"heft,policy:file={weights}:samples=2"
        words = ("compare", graphs, *on, "--placers", placers, "--jobs", surroundings.jobs)
        return without_times(surroundings.run(*COMMAND, *words))

    first = Surroundings.drawn(folder / "start", 0, rng)
    words = ("place", graph, "--cluster", file, *MAKESPAN, "--placer", "random", "-o", placed)
    first.run(*COMMAND, *words)
    policy = f"policy:file={weights}"
    results: list[tuple[str, Result]] = [
        (option, partial(place, ("--placer", f"{policy}:{option}"))) for option in OPTIONS
    ]
    results.append(("--start", partial(place, ("--placer", policy, "--start", placed))))
    results.append(("compare", compare))
    what = "Placeto: refined placements; tables of compare, without times"
    return differences_row(what, results, processes, folder, rng, varied=ON_WORKERS)


def write_weights(path: Path) -> None:
    """Write random weights of Placeto for the devices of the cluster."""
    section = policy_section({"kind": "placeto", "sizes": {"devices": len(cluster().devices)}})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        path.write_bytes(pack_policy(make_policy(section), section, {}))
