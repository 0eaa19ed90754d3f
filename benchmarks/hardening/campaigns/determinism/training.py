"""Repeated training in fresh processes, which must end in the same state, bit for bit."""

import shutil
import sys
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
from benchmarks.reference.trainings import config, of_kind
from streamplace.families import Recipe
from streamplace.files import write_dataset, write_json
from streamplace.files.training_logs import CHECKPOINT, CONFIG, POLICY
from streamplace.policy.weights import unpacked

KINDS = (
    *("device-scorer", "encoder-decoder", "encoder-decoder-released", "placeto", "giph", "rebuild"),
    *("doppler", "hsdag", "rnn"),
)
STEPS = 200
TORCHRUN = (2, 4)  # processes per run
PER_STEP = 2 * TORCHRUN[-1]  # problems per step, the same number in each process


def training_row(
    folder: Path,
    processes: int,
    rng: np.random.Generator,
    kinds: Sequence[str] = KINDS,
    steps: int = STEPS,
) -> Row:
    """Train for a number of steps; compare parameters, Adam's moments, memory and log."""
    dataset = _dataset(folder, 12)
    results = []
    for kind in kinds:
        settings = config(of_kind(kind), stage={"epochs": steps // 2, "problems_per_step": 6})
        file = folder / f"{kind}.json"
        write_json(file, settings.model_dump(mode="json"))
        results.append((kind, partial(_train, (dataset, "--config", file), COMMAND, steps)))
    return differences_row(f"train: state after {steps} steps", results, processes, folder, rng)


def teacher_row(folder: Path, processes: int, rng: np.random.Generator, count: int = GRAPHS) -> Row:
    """Train with a teacher that places on 1, 2 and 4 worker processes."""
    dataset, file = _dataset(folder, count + 1), folder / "taught.json"
    teacher = {"placer": "search:evaluations=500", "epochs": 1}
    settings = config(teacher=teacher, stage={"epochs": 1, "problems_per_step": 16})
    steps = 2 * count // 16
    write_json(file, settings.model_dump(mode="json"))

    def train(surroundings: Surroundings) -> bytes:
        return _train(
            (dataset, "--config", file, "--jobs", surroundings.jobs), COMMAND, steps, surroundings
        )

    what = "train with a teacher: state at the end"
    return differences_row(what, [("teacher", train)], processes, folder, rng, varied=ON_WORKERS)


def torchrun_row(
    folder: Path, processes: int, rng: np.random.Generator, count: int, steps: int = STEPS
) -> Row:
    """Train repeatedly with torchrun on a number of processes.

    Results of different numbers of processes are not compared, since they add up gradients in
    different orders.
    """
    dataset, file = _dataset(folder, 2 * PER_STEP + 1), folder / "together.json"
    settings = config(stage={"epochs": steps // 2, "problems_per_step": PER_STEP})
    write_json(file, settings.model_dump(mode="json"))
    torchrun = (sys.executable, "-m", "torch.distributed.run", "--standalone")
    on_processes = (*torchrun, "--nproc-per-node", count, *COMMAND[1:])
    train = partial(_train, (dataset, "--config", file), on_processes, steps)
    what = f"train on {count} processes of torchrun: state after {steps} steps"
    return differences_row(what, [("torchrun", train)], processes, folder, rng)


def _train(
    options: Sequence[object], program: Sequence[object], steps: int, surroundings: Surroundings
) -> bytes:
    """Train and check the number of steps; return all files of the run without run times."""
    surroundings.run(*program, "train", *options, "-o", "run")
    run = surroundings.folder / "run"
    parts = [(run / name).read_bytes() for name in (CONFIG, "log.jsonl")]
    for name in (CHECKPOINT, POLICY):
        tensors, metadata = unpacked((run / name).read_bytes(), name)
        for _, word in sorted(metadata.items()):
            parts.append(without_times(word) if word.startswith("{") else word.encode())
        parts += [x.numpy().tobytes() + key.encode() for key, x in sorted(tensors.items())]
    done = len((run / "log.jsonl").read_text().splitlines())
    if done != steps:
        raise RuntimeError(f"{done} steps instead of {steps}")
    shutil.rmtree(run)
    return b"\n".join(parts)


def _dataset(folder: Path, count: int) -> Path:
    path = folder / f"{count}.jsonl"
    recipe = Recipe("layered", count, range(6, 16), seed=1)
    write_dataset(path, (recipe.graph(number) for number in range(count)))
    return path
