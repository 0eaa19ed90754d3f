"""Training run in a folder: config, log, checkpoints and weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from streamplace.errors import (
    CheckpointError,
    ConfigError,
    Fault,
    StreamplaceError,
)
from streamplace.execution.backends import LOCAL, Backend
from streamplace.files import write_json
from streamplace.files.training_logs import CHECKPOINT, CONFIG, POLICY
from streamplace.files.writing import atomic, check_target, make_folder
from streamplace.learning.policy.registry import make_policy
from streamplace.learning.policy.tensor_files import exists
from streamplace.learning.policy.weights import (
    pack_policy,
    parameter_hash,
    take_parameters,
    unpack_tensors,
)
from streamplace.learning.training.algorithms.base import Record
from streamplace.learning.training.config import TrainConfig
from streamplace.learning.training.distributed import Workers, share
from streamplace.learning.training.learner import Learner
from streamplace.learning.training.loop import Loop
from streamplace.learning.training.measuring.measure import NamedMeasure
from streamplace.learning.training.measuring.measurement_log import MeasurementLog
from streamplace.learning.training.measuring.measurements import Measurements, write_fastest
from streamplace.learning.training.problems import encoded_by, hash_of, make_problems
from streamplace.learning.training.run_files import (
    TrainingLog,
    identity_of,
    load_checkpoint,
    save_checkpoint,
)
from streamplace.placers.registry import ready
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.problem import Problem


@dataclass(frozen=True)
class Trained:
    """The result of a run.

    Attributes
    ----------
    steps, epochs
        Numbers of steps and of whole epochs done.
    parameter_hash
        SHA-256 of the parameters.
    policy
        The file of weights.
    interrupted
        Whether Ctrl-C or SIGTERM ended the run early.
    """

    steps: int
    epochs: int
    parameter_hash: str
    policy: Path
    interrupted: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that `train --json` prints."""
        return {**vars(self), "policy": str(self.policy)}


class Run:
    """A training loop and the folder in which it is saved.

    Attributes
    ----------
    card
        Origin of the weights: dataset, hash of the problems, number of processes and config.
    logged
        The last step in the log of this process; 0 before the first one.
    """

    def __init__(self, loop: Loop, config: TrainConfig, folder: Path, card: dict[str, Any]) -> None:
        self.loop, self.config = loop, config
        self.folder, self.card = folder, card
        self.policy, self.workers = loop.learner.policy, loop.learner.workers
        self.log: TrainingLog | None = None
        self.logged = 0

    @classmethod
    def start(
        cls,
        graphs: Sequence[StreamGraph],
        config: TrainConfig,
        folder: Path,
        dataset: str,
        resume: bool,
        workers: Workers,
        *,
        clusters: Sequence[Cluster] | None = None,
        jobs: int | None = None,
        backend: Backend = LOCAL,
        measure: NamedMeasure | None = None,
    ) -> "Run":
        """Check the arguments, then start or resume a run."""
        check_start(graphs, config, folder, resume)
        torch.manual_seed(config.run.seed)
        policy = make_policy(config.policy)
        if config.run.weights is not None and not resume:
            take_parameters(policy, config.policy, config.run.weights)
        workers.move(policy)
        trained, held_out = _split(graphs, config, clusters)
        card = {
            "dataset": dataset,
            "problems": hash_of([*trained, *held_out]),
            "processes": workers.count,
            "config": config.model_dump(mode="json"),
        }
        if measure is not None:
            card["measure"] = measure.name
        own = np.array(share(range(len(trained)), workers))
        if not len(own):
            processes = "1 process" if workers.count == 1 else f"{workers.count} processes"
            counts = f"{len(trained)} for {processes}"
            fault = f"the dataset gives too few problems to train on ({counts})"
            # keys of problems are at fault if there are graphs to train on and none is chosen
            chooses_none = not len(trained) and len(graphs) > config.run.held_out
            raise ConfigError(Fault(fault, "config", option="problems") if chooses_none else fault)
        encoded, validated = encoded_by(policy, trained), encoded_by(policy, held_out)
        measurements = None if measure is None else _measurements(measure, trained, folder, card)
        learner = Learner(
            policy, encoded, own, config.run.seed, workers, jobs, backend, measurements
        )
        loop = Loop(learner, config.stage, validated)
        run = cls(loop, config, folder, card)
        if resume:
            load_checkpoint(folder / CHECKPOINT, loop, run._identity)
        else:
            loop.begin()
        if workers.is_rank_zero:
            make_folder(folder)
            write_json(folder / CONFIG, card["config"])
            run.log = TrainingLog(folder, loop.position.step)
        return run

    @property
    def _identity(self) -> dict[str, Any]:
        """The properties of the run that a checkpoint must share."""
        card = self.card
        same = {key: card[key] for key in ("problems", "processes", "measure") if key in card}
        return {
            "config": identity_of(self.config)
        } | same  # what says most about a difference first

    def steps(self) -> Iterator[Record]:
        """Run, log and save the remaining steps; yield the metrics of each."""
        interval = self.config.run.checkpoint_every
        for record in self.loop.steps():
            if self.log is not None:
                self.log.write(record)
            self.logged = self.loop.position.step
            if self.loop.position.step % interval == 0:
                self.save()
            yield record

    def save(self) -> None:
        """Write a checkpoint and the current weights."""
        state = self.loop.state()
        if not self.workers.is_rank_zero:
            return
        if self.log is not None:
            self.log.flush()
        position = self.loop.position
        progress = {name: x for name, x in vars(position).items() if name != "seconds"}
        # without times, so that a resumed run writes the same bytes as an uninterrupted one
        card = {**self.card, **progress, "parameter_hash": parameter_hash(self.policy)}
        weights = pack_policy(self.policy, self.config.policy, card, half=self.config.run.half)
        save_checkpoint(self.folder / CHECKPOINT, self.policy, state, position, self._identity)
        path = self.folder / POLICY
        with atomic(path, verify=lambda written: unpack_tensors(written, str(path))) as file:
            file.write(weights)

    def finish(self, interrupted: bool) -> Trained:
        """Save the run and the fastest measured placements, and return its result."""
        self.save()
        learner = self.loop.learner
        if learner.measurements is not None:
            write_fastest(self.folder, learner.problems, learner.measurements)
        position = self.loop.position
        return Trained(
            position.step,
            position.epoch,
            parameter_hash(self.policy),
            self.folder / POLICY,
            interrupted,
        )

    def close(self) -> None:
        """Close the log."""
        if self.log is not None:
            self.log.close()


def check_start(
    graphs: Sequence[StreamGraph], config: TrainConfig, folder: Path, resume: bool
) -> None:
    """Refuse a run that cannot start, before anything is computed."""
    if len(graphs) <= config.run.held_out:
        fault = f"must be less than the number of graphs, {len(graphs)} (got {config.run.held_out})"
        raise ConfigError(Fault(fault, "config", option="run.held_out"))
    for key, placer in config.placers.items():
        try:
            ready(placer).accepts_start  # noqa: B018 - reads the weights of a policy
        except StreamplaceError as error:
            error.put(key)
            raise
    if resume != exists(folder / CHECKPOINT):
        option = "--resume, or resume=True in Python"
        existing = f"already contains a run; add {option}, or choose another folder"
        message = f"no checkpoint to resume; leave out {option}" if resume else existing
        raise CheckpointError(f"{folder}: {message}")
    check_target(folder / CHECKPOINT, make=True)


def _measurements(
    measure: NamedMeasure, problems: Sequence[Problem], folder: Path, card: dict[str, Any]
) -> Measurements:
    """Return the measurements of a run, with those that its folder has."""
    shapes = [(len(one.graph.names), len(one.cluster.devices)) for one in problems]
    source = {name: str(card[name]) for name in ("problems", "measure")}
    return Measurements(measure, problems, MeasurementLog(folder, source, shapes))


def _split(
    graphs: Sequence[StreamGraph], config: TrainConfig, clusters: Sequence[Cluster] | None
) -> tuple[list[Problem], list[Problem]]:
    """Return the problems to train on and the problems held out for validation."""
    seed, held_out = config.run.seed, config.run.held_out
    order = np.random.default_rng([seed, 4]).permutation(len(graphs))
    if clusters is not None and len(clusters) != len(graphs):
        raise ConfigError(f"clusters: must be one per graph, {len(graphs)} (got {len(clusters)})")
    trained, held = (
        make_problems(
            [graphs[i] for i in part],
            config.problems,
            seed,
            None if clusters is None else [clusters[i] for i in part],
        )
        for part in (order[held_out:], order[:held_out])
    )
    return trained, held
