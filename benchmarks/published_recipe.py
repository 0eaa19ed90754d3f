"""Training with the published recipe of Ni et al., and with changes of it.

    python -m benchmarks.published_recipe -o FOLDER [--only NAME …] [--seeds 3] [--steps 3000]
        [--cpu-minutes M]

Every row is a config with changed keys, trained on 3,150 generated graphs, one graph a step unless
its name says more, for a number of steps or for a CPU time. The greedy policy then places 630
others, as METIS does. A row has the mean relative throughput of each seed; its mean difference from
METIS over seeds and graphs, with a 95% interval from a paired bootstrap over the graphs; the share
of graphs on which it is better and worse than METIS; the entropy of a choice in the last 500 steps,
at most ln 5 = 1.609; and the share of units of the hidden layer that are 0 for every operator of
thirteen graphs, and thus without gradients. While a row is trained, the mean on every seventh of
the 630 graphs is printed.

FOLDER keeps runs and results. An interrupted run goes on from its last checkpoint, and runs whose
result FOLDER has are not repeated. A row without any result is "not run".
"""

import argparse
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from streamplace import Problem, Recipe, StreamGraph, compare
from streamplace.files import write_json
from streamplace.files.training_logs import CHECKPOINT, LOG
from streamplace.files.writing import make_folder
from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.training import read_config
from streamplace.learning.training.config import with_seed, with_values
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.run import Run
from streamplace.papers.ni2020.network import EncoderDecoder
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect
from streamplace.workflows.differences import TIE

GRAPHS, HELD_BACK = 3150, 630
WATCHED = 7  # one of so many graphs is watched, since graphs are in order of their class
COUNTED = 500  # steps at the end of a run
EVERY_STEPS = 250  # between checkpoints, at which a run is watched
EVERY = 262  # graph on which hidden units are observed
SAMPLES = 6
RATE = 1e4  # tuples/s


def at_rate(rate: float) -> dict[str, Any]:
    """Return the keys of a constant rate."""
    return {"stage[0].optimiser.rate": rate, "stage[0].optimiser.final_rate": rate}


def several(graphs: int) -> dict[str, Any]:
    """Return the key of a number of graphs a step."""
    return {"stage[0].problems_per_step": graphs}


TRAININGS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "paper": ("paper", {}),
    "paper as printed": ("paper-as-printed", {}),
    "as printed, a tenth of the rate": ("paper-as-printed", at_rate(1e-4)),
    "paper, no unit length": ("paper", {"policy.sizes.unit_length": False}),
    "paper, all devices offered": ("paper", {"policy.sizes.breaks_symmetry": False}),
    "paper, random ones learnt from": ("paper", {"stage[0].learns_from_random": True}),
    "paper, rate 3e-4": ("paper", at_rate(3e-4)),
    "paper, rate 1e-4": ("paper", at_rate(1e-4)),
    "paper, entropy bonus .001": ("paper", {"stage[0].entropy": 0.001}),
    "paper, exploration .1": ("paper", {"stage[0].exploration": 0.1}),
    "paper, length 128": ("paper", {"policy.sizes.length": 128}),
    "paper, 8 graphs": ("paper", several(8)),
    "paper, 8 graphs, normalised": ("paper", several(8) | {"stage[0].normalise": True}),
    "paper, 8 graphs, all remembered": ("paper", several(8) | {"stage[0].memory.threshold": 0.0}),
    "paper, 64 graphs": ("paper", several(64)),
    "paper, 64 graphs, rate falls to 1e-4": (
        "paper",
        several(64) | {"stage[0].optimiser.final_rate": 1e-4},
    ),
    "released": ("released", {}),
    "released, all devices offered": ("released", {"policy.sizes.breaks_symmetry": False}),
}
"""Config, and other values of its keys."""


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", dest="folder", type=Path, required=True)
    parser.add_argument("--only", nargs="*", choices=TRAININGS, default=list(TRAININGS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--cpu-minutes", type=float, default=float("inf"))
    options = parser.parse_args()
    make_folder(options.folder)
    graphs = recipe_graphs(GRAPHS, 1)
    held_back = recipe_graphs(HELD_BACK, 0)
    torch.set_num_threads(1)
    metis = throughputs(held_back, "metis")
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in TRAININGS}
    for seed in range(options.seeds):
        for name, rows in found.items():
            folder = options.folder / f"{name.replace(',', '').replace(' ', '-')}-{seed}"
            path = folder / "result.json"
            if name in options.only and not path.exists():
                write_json(path, trained(graphs, held_back, name, seed, folder, options))
            if path.exists():
                rows.append(json.loads(path.read_text()))
    print(*table(found, metis), sep="\n")


def recipe_graphs(count: int, seed: int) -> list[StreamGraph]:
    """Return generated graphs of the paper's classes."""
    recipe = Recipe("dream", count, seed=seed)
    return [recipe.graph(i) for i in range(count)]


def throughputs(graphs: list[StreamGraph], placer: str) -> Floats:
    """Return the relative throughput of a placer on each graph."""
    found = compare(graphs, {"it": placer}, [RATE], model="path-average", jobs=1)
    row: Floats = found.values[0, 0]
    return row


def trained(
    graphs: list[StreamGraph],
    held_back: list[StreamGraph],
    name: str,
    seed: int,
    folder: Path,
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Train until the steps or the CPU time are over; return the metrics of the end."""
    config, values = TRAININGS[name]
    values = {**values, "run.checkpoint_every": EVERY_STEPS}
    settings = with_seed(with_values(read_config(config), values), seed)
    resume = (folder / CHECKPOINT).exists()
    known = folder / "watched.json"
    watched = json.loads(known.read_text()) if resume and known.exists() else []
    used = watched[-1]["cpu_s"] if watched else 0.0
    run = Run.start(graphs, settings, folder, "", resume, Workers.of_torchrun())
    weights = f"policy:file={folder / 'policy.safetensors'}"
    began = time.process_time()
    for record in run.steps():
        step, cpu_s = int(record["step"]), used + time.process_time() - began
        over = step >= options.steps or cpu_s >= 60 * options.cpu_minutes
        if over or step % EVERY_STEPS == 0:
            run.save()
            began, used = time.process_time(), cpu_s
            mean = float(throughputs(held_back[::WATCHED], weights).mean())
            watched.append({"step": step, "cpu_s": cpu_s, "mean": mean})
            print(f"{name}, seed {seed}: step {step}, {cpu_s:.0f} CPU s: {mean:.3f}", flush=True)
            write_json(known, watched)
            began = time.process_time()
        if over:
            break
    run.close()
    lines = (folder / LOG).read_text().splitlines()[-COUNTED:]
    records = [json.loads(line) for line in lines]
    return {
        "reached": throughputs(held_back, weights).tolist(),
        "entropy": float(np.mean([record["entropy"] for record in records])),
        "dead": dead_units(run.policy, graphs[::EVERY]),
        **watched[-1],
    }


def dead_units(policy: nn.Module, graphs: list[StreamGraph]) -> float | None:
    """Return the share of hidden units that are 0 throughout; None without a hidden layer."""
    if not isinstance(policy, EncoderDecoder):
        return None
    on = torch.zeros(policy.mix.out_features, dtype=torch.bool)

    def observe(layer: nn.Module, read: tuple[Tensor]) -> None:
        on.logical_or_((read[0] > 0).any(dim=0))

    handle = policy.choose.register_forward_pre_hook(observe)
    sampler = Sampler.seeded(0)
    for graph in graphs:
        problem = Problem(graph, "5x2500", source_rate=RATE, model="path-average")
        Constructive.of(policy).sample(policy.batch([policy.encode(problem)]), SAMPLES, sampler)
    handle.remove()
    return 1.0 - float(on.float().mean())


def table(found: Mapping[str, list[dict[str, Any]]], metis: Floats) -> list[str]:
    """Return the lines of a table: a row per training, and METIS."""
    head = "by seed                 above METIS               better worse entropy  dead units"
    lines = [f"{'training':37}   mean  {head}", f"{'METIS':37} {metis.mean():6.3f}"]
    for name, rows in found.items():
        if not rows:
            lines.append(f"{name:37} not run")
            continue
        reached = np.array([row["reached"] for row in rows])
        above = reached - metis
        seeds = " ".join(f"{mean:.3f}" for mean in reached.mean(axis=1))
        shares = f"{(above > TIE).mean():6.0%} {(above < -TIE).mean():5.0%}"
        entropy = np.mean([row["entropy"] for row in rows])
        dead = " ".join(f"{row['dead']:.0%}" for row in rows if row["dead"] is not None)
        effect = str(Effect.of(above.mean(axis=0)))
        done = f"{min(row['step'] for row in rows):,} steps, {rows[0]['cpu_s']:,.0f} CPU s"
        lines.append(
            f"{name:37} {reached.mean():6.3f}  {seeds:22}  {effect:25} {shares} {entropy:7.3f}  "
            f"{dead:12} {done}"
        )
    return lines


if __name__ == "__main__":
    main()
