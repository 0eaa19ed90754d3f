"""Training again in fresh processes: it ends in the same state, to the last bit."""

import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.hardening.fresh import (
    GRAPHS,
    ON_WORKERS,
    Surroundings,
    differences,
    without_times,
)
from benchmarks.hardening.processes import COMMAND
from benchmarks.hardening.rows import Row
from benchmarks.hardening.trained import KINDS
from benchmarks.reference.trainings import config, of_kind
from streamplace.files import write_dataset, write_json
from streamplace.generate import Recipe
from streamplace.policy.weights import unpacked
from streamplace.training.trainer import CHECKPOINT, CONFIG, POLICY

STEPS = 200
TOGETHER = (2, 4)  # processes that train together
A_STEP = 2 * TOGETHER[-1]  # problems: as many for each of them


def trained(
    folder: Path,
    processes: int,
    rng: np.random.Generator,
    kinds: Sequence[str] = KINDS,
    steps: int = STEPS,
) -> Row:
    """Train for so many steps: parameters, Adam's moments, memory, log."""
    dataset = _dataset(folder, 12)
    results = []
    for kind in kinds:
        wanted = config(of_kind(kind), sampling={"epochs": steps // 2, "problems_per_step": 6})
        told = folder / f"{kind}.json"
        write_json(told, wanted.model_dump(mode="json"))
        results.append((kind, partial(_train, (dataset, "--config", told), COMMAND, steps)))
    return differences(f"train: state after {steps} steps", results, processes, folder, rng)


def taught(folder: Path, processes: int, rng: np.random.Generator, count: int = GRAPHS) -> Row:
    """Train with a teacher whose placements are made on 1, 2 and 4 worker processes."""
    dataset, told = _dataset(folder, count + 1), folder / "taught.json"
    teacher = {"placer": "search:evaluations=500", "epochs": 1}
    wanted = config(teacher=teacher, sampling={"epochs": 1, "problems_per_step": 16})
    steps = 2 * count // 16
    write_json(told, wanted.model_dump(mode="json"))

    def train(around: Surroundings) -> bytes:
        return _train((dataset, "--config", told, "--jobs", around.jobs), COMMAND, steps, around)

    what = "train with a teacher: state at the end"
    return differences(what, [("teacher", train)], processes, folder, rng, varied=ON_WORKERS)


def together(
    folder: Path, processes: int, rng: np.random.Generator, count: int, steps: int = STEPS
) -> Row:
    """Train on so many processes that torchrun starts, and again, each time fresh ones.

    On another number of them gradients are summed in another order; the same is not promised.
    """
    dataset, told = _dataset(folder, 2 * A_STEP + 1), folder / "together.json"
    wanted = config(sampling={"epochs": steps // 2, "problems_per_step": A_STEP})
    write_json(told, wanted.model_dump(mode="json"))
    torchrun = (sys.executable, "-m", "torch.distributed.run", "--standalone")
    several = (*torchrun, "--nproc-per-node", count, *COMMAND[1:])
    train = partial(_train, (dataset, "--config", told), several, steps)
    what = f"train on {count} processes of torchrun: state after {steps} steps"
    return differences(what, [("torchrun", train)], processes, folder, rng)


def _train(
    told: Sequence[object], program: Sequence[object], steps: int, around: Surroundings
) -> bytes:
    """Return all that a run leaves but times, having seen that it did all steps."""
    around.run(*program, "train", *told, "-o", "run")
    run = around.folder / "run"
    found = [(run / name).read_bytes() for name in (CONFIG, "log.jsonl")]
    for name in (CHECKPOINT, POLICY):
        tensors, words = unpacked((run / name).read_bytes(), name)
        for _, word in sorted(words.items()):
            found.append(without_times(word) if word.startswith("{") else word.encode())
        found += [x.numpy().tobytes() + key.encode() for key, x in sorted(tensors.items())]
    done = len((run / "log.jsonl").read_text().splitlines())
    if done != steps:
        raise RuntimeError(f"{done} steps and not {steps}")
    shutil.rmtree(run)
    return b"\n".join(found)


def _dataset(folder: Path, count: int) -> Path:
    path = folder / f"{count}.jsonl"
    recipe = Recipe("layered", count, range(6, 16), seed=1)
    write_dataset(path, (recipe.graph(number) for number in range(count)))
    return path
