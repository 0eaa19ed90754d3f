"""The start of training with the published recipe of Ni et al., and with changes of it.

    python -m benchmarks.published_recipe -o FOLDER [--seeds 3] [--steps 1500]

Configs `paper` and `released` learn from one graph a step. Their first steps are repeated with a
tenth of the rate, without learning from random placements, and with devices named in the order of
first use. Rows are means over the last 500 steps of all seeds: the reward of the policy's own
samples, and how much it is above that of `paper` on the same graphs, with a 95% interval from a
paired bootstrap over steps; the entropy of a choice, at most ln 5 = 1.609; and the share of units
of the hidden layer that are 0 for every operator of thirteen graphs, and thus without gradients.
FOLDER keeps the result of each run, and runs that it has are not repeated.
"""

import argparse
import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from streamplace import Problem, Recipe, StreamGraph
from streamplace.files import write_json
from streamplace.files.writing import make_folder
from streamplace.learning.policy.base import constructive
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.training import read_config
from streamplace.learning.training.config import with_seed, with_values
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.run import Run
from streamplace.papers.ni2020.network import EncoderDecoder
from streamplace.util.effect import Effect

GRAPHS = 3150
COUNTED = 500  # steps at the end of a run
EVERY = 262  # graph on which hidden units are observed
SAMPLES = 6
SLOWER = {"stage[0].optimiser.rate": 1e-4, "stage[0].optimiser.final_rate": 1e-4}
OWN = {"stage[0].random_samples": 0.0, "stage[0].random_if_empty": 0}
NAMES = {"policy.sizes.breaks_symmetry": True}
TRAININGS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "paper": ("paper", {}),
    "a tenth of the rate": ("paper", SLOWER),
    "no random placements": ("paper", OWN),
    "both": ("paper", SLOWER | OWN),
    "both, devices in the order of first use": ("paper", SLOWER | OWN | NAMES),
    "released": ("released", {}),
}
"""Config, and other values of its keys."""


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", dest="folder", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=1500)
    options = parser.parse_args()
    make_folder(options.folder)
    recipe = Recipe("dream", GRAPHS, seed=1)
    graphs = [recipe.graph(i) for i in range(GRAPHS)]
    torch.set_num_threads(1)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in TRAININGS}
    for seed in range(options.seeds):
        for name, rows in found.items():
            path = options.folder / f"{name.replace(' ', '-')}-{seed}-{options.steps}.json"
            if not path.exists():
                write_json(path, begun(graphs, name, seed, options.steps))
            rows.append(json.loads(path.read_text()))
    print(*table(found), sep="\n")


def begun(graphs: list[StreamGraph], name: str, seed: int, steps: int) -> dict[str, Any]:
    """Take the first steps of a training; return the metrics of the last ones."""
    config, values = TRAININGS[name]
    settings = with_seed(with_values(read_config(config), values), seed)
    with TemporaryDirectory() as folder:
        run = Run.start(graphs, settings, Path(folder), "", False, Workers.of_torchrun())
        records = list(islice(run.steps(), steps))[-COUNTED:]
        run.close()
    return {
        "reward": [record["reward"] for record in records],
        "entropy": float(np.mean([record["entropy"] for record in records])),
        "dead": dead_units(run.policy, graphs[::EVERY]),
    }


def dead_units(policy: nn.Module, graphs: list[StreamGraph]) -> float | None:
    """Return the share of hidden units that are 0 throughout; None without a hidden layer."""
    if not isinstance(policy, EncoderDecoder):
        return None
    on = torch.zeros(policy.mix.out_features, dtype=torch.bool)

    def observe(layer: nn.Module, read: Any, made: Tensor) -> None:
        on.logical_or_((made > 0).any(dim=0))

    handle = policy.mix.register_forward_hook(observe)
    sampler = Sampler.seeded(0)
    for graph in graphs:
        problem = Problem(graph, "5x2500", source_rate=1e4, model="path-average")
        constructive(policy).sample(policy.batch([policy.encode(problem)]), SAMPLES, sampler)
    handle.remove()
    return 1.0 - float(on.float().mean())


def table(found: Mapping[str, list[dict[str, Any]]]) -> list[str]:
    """Return the lines of a table: a row per training."""
    lines = [f"{'training':40} {'reward':>6}  {'above paper':26} {'entropy':>7}  dead units"]
    first = np.concatenate([row["reward"] for row in found["paper"]])
    for name, rows in found.items():
        reward = np.concatenate([row["reward"] for row in rows])
        above = "" if name == "paper" else Effect.of(reward - first)
        entropy = np.mean([row["entropy"] for row in rows])
        dead = "  ".join(f"{row['dead']:.0%}" for row in rows if row["dead"] is not None)
        lines.append(f"{name:40} {reward.mean():6.3f}  {above!s:26} {entropy:7.3f}  {dead}")
    return lines


if __name__ == "__main__":
    main()
