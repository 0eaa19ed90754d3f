"""The training loop."""

import hashlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from streamplace.errors import CheckpointError, ConfigError, FormatError
from streamplace.execution.backends import LOCAL, Backend
from streamplace.execution.parallel import cpu_count, each
from streamplace.execution.progress import track
from streamplace.files import write_json
from streamplace.files.atomic import atomic, check_target, make_folder
from streamplace.files.folder_lock import held
from streamplace.files.training_logs import LOG
from streamplace.placers.registry import make_placer, ready_placer
from streamplace.policy.batch import Batch
from streamplace.policy.config import EncoderDecoderKind
from streamplace.policy.decoding import Sampler
from streamplace.policy.features import EncodedProblem
from streamplace.policy.weights import is_there, pack_policy, parameter_hash, unpacked
from streamplace.problem.graph import StreamGraph
from streamplace.problem.problem import Problem
from streamplace.training.algorithms.reinforce import Learner, Record, repaired
from streamplace.training.checkpoint import Position, load_checkpoint, save_checkpoint
from streamplace.training.config import TrainConfig
from streamplace.training.distributed import Workers, share
from streamplace.training.log import TrainingLog
from streamplace.training.problems import largest_first, make_problems, steps_of
from streamplace.training.rewards import rewards
from streamplace.util.arrays import Ints

CHECKPOINT, POLICY, CONFIG = "checkpoint.safetensors", "policy.safetensors", "config.json"
WRITTEN = (CHECKPOINT, POLICY, CONFIG, LOG)


@dataclass(frozen=True)
class Trained:
    """What a run has come to."""

    steps: int
    epochs: int
    parameter_hash: str
    policy: Path
    interrupted: bool

    def to_dict(self) -> dict[str, Any]:
        """Return what `train --json` prints."""
        return {**vars(self), "policy": str(self.policy)}


def train(
    graphs: Sequence[StreamGraph],
    config: TrainConfig,
    folder: Path,
    *,
    dataset: str = "",
    resume: bool = False,
    jobs: int | None = None,
    backend: Backend = LOCAL,
    tell: Callable[[Record], None] = lambda record: None,
) -> Trained:
    """Train a policy.

    Parameters
    ----------
    folder
        Gets ``config.json``, ``log.jsonl``, ``checkpoint.safetensors`` and ``policy.safetensors``.
    dataset
        What the graphs are called on the card of the weights.
    resume
        Go on from the folder's checkpoint, bit for bit on the same number of threads.
    jobs, backend
        Processes for the teacher's placements, and where they are; nothing depends on it.
    tell
        Is told of every step, and of every epoch's validation.

    Raises
    ------
    StreamplaceError
        Whatever is wrong with graphs, config or checkpoint, before anything starts; another
        process that trains into the folder.
    TrainingError
        If gradients stop being finite.
    """
    threads = torch.get_num_threads()
    with Workers() as workers, ExitStack() as later:
        _hold(folder, workers, later)
        try:
            torch.set_num_threads(config.run.threads or max(1, cpu_count() // workers.here))
            run = Run.start(
                graphs, config, folder, dataset, resume, workers, jobs=jobs, backend=backend
            )
            try:
                with _interruptions() as interrupted:
                    return _go(run, interrupted, tell)
            finally:
                run.close()
        finally:
            torch.set_num_threads(threads)


def _hold(folder: Path, workers: Workers, later: ExitStack) -> None:
    """Keep other runs out of the folder until later; all processes of this one are told."""
    message = ""
    if workers.is_rank_zero:
        try:
            later.enter_context(held(folder))
        except FormatError as error:
            message = str(error)
    if fault := "".join(workers.gathered(message)):
        raise FormatError(fault)


def _go(run: "Run", interrupted: threading.Event, tell: Callable[[Record], None]) -> Trained:
    """Do all steps that are left, unless interrupted."""
    for record in run.steps():
        tell(record)
        if run.workers.any(interrupted.is_set()):
            return run.finish(interrupted=True)
    return run.finish(interrupted=False)


class Run:
    """One run: its problems, network, optimiser and memory, and how far it has come."""

    def __init__(
        self,
        prepared: list[EncodedProblem],
        held_out: list[EncodedProblem],
        config: TrainConfig,
        folder: Path,
        card: dict[str, Any],
        workers: Workers,
    ) -> None:
        self.prepared, self.held_out, self.config = prepared, held_out, config
        self.folder, self.card, self.workers = folder, card, workers
        self.learner = Learner(prepared, config, workers)
        self.network, self.memory = self.learner.network, self.learner.memory
        self.position = Position()
        self.records: TrainingLog | None = None
        self.own = np.array(share(range(len(prepared)), workers))

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
        jobs: int | None = None,
        backend: Backend = LOCAL,
    ) -> "Run":
        """Check everything, then make or take up a run."""
        if len(graphs) <= config.run.held_out:
            message = f"{len(graphs)} graphs, and {config.run.held_out} are held out"
            raise ConfigError(f"config: run.held_out: {message}")
        if config.teacher.placer:
            ready_placer(config.teacher.placer, config.problems[0].model)
        checkpoint = folder / CHECKPOINT
        if resume != is_there(checkpoint):
            message = "holds no checkpoint to resume" if resume else "holds a run; see --resume"
            raise CheckpointError(f"{folder}: {message}")
        check_target(folder / CHECKPOINT, make=True)
        seed, held_out = config.run.seed, config.run.held_out
        order = np.random.default_rng([seed, 4]).permutation(len(graphs))
        prepared, held = (
            make_problems([graphs[i] for i in some], config.problems, seed)
            for some in (order[held_out:], order[:held_out])
        )
        card = {
            "dataset": dataset,
            "problems": _hash_of([*prepared, *held]),
            "processes": workers.count,
            "config": config.model_dump(mode="json"),
        }
        run = cls(
            prepared,
            held,
            config,
            folder,
            card,
            workers,
        )
        run._check()
        if resume:
            state = (run.network, run.learner.optimiser, run.memory)
            shapes = [(one.size, len(one.problem.cluster.devices)) for one in prepared]
            run.position = load_checkpoint(checkpoint, *state, run._identity, shapes)
        elif config.teacher.placer:
            run.ask_teacher(jobs, backend)
        if workers.is_rank_zero:
            make_folder(folder)
            write_json(folder / CONFIG, card["config"])
            run.records = TrainingLog(folder, run.position.step)
        return run

    def _check(self) -> None:
        """Refuse what could never take a step."""
        if not len(self.own):
            what = f"{len(self.prepared)} problems for {self.workers.count} processes"
            raise ConfigError(f"config: problems: graphs and groups make {what}")
        kind = self.config.policy
        if isinstance(kind, EncoderDecoderKind):
            for one in [*self.prepared, *self.held_out]:
                if (count := len(one.problem.cluster.devices)) != kind.sizes.devices:
                    message = f"it is for {kind.sizes.devices} devices, and a problem has {count}"
                    raise ConfigError(f"config: policy.sizes.devices: {message}")

    @property
    def _identity(self) -> dict[str, Any]:
        """What a checkpoint must agree with; how a run is kept may change when it is resumed."""
        config = {k: v for k, v in self.card["config"].items() if k != "run"}
        run = self.config.run
        config["run"] = {"seed": run.seed, "held_out": run.held_out}
        return {key: self.card[key] for key in ("problems", "processes")} | {"config": config}

    def steps(self) -> Iterator[Record]:
        """Do the steps that are left, one after another; yield what each tells."""
        sampling, every = self.config.sampling, self.config.run.checkpoint_every
        imitated = self.config.teacher.epochs
        epochs = imitated + sampling.epochs
        while self.position.epoch < epochs:
            epoch = self.position.epoch
            steps = self.steps_of(epoch)
            for i in range(self.position.step_of_epoch, len(steps)):
                started = time.perf_counter()
                self.learner.set_rate((epoch + i / len(steps)) / epochs, self.position.step)
                record = self.learner.step(steps[i], self.position.step, epoch - imitated)
                self.position.step += 1
                self.position.step_of_epoch = i + 1
                self.position.seconds += time.perf_counter() - started
                record |= {"step": self.position.step, "epoch": epoch}
                if i + 1 == len(steps):
                    self.position.epoch, self.position.step_of_epoch = epoch + 1, 0
                    record |= self._validated()
                if self.records is not None:
                    self.records.write(record)
                if self.position.step % every == 0:
                    self.save()
                yield record

    def steps_of(self, epoch: int) -> list[np.ndarray]:
        """Return the steps of an epoch: which of this process's problems each looks at."""
        sampling, seed = self.config.sampling, [self.config.run.seed, 1, epoch, self.workers.rank]
        problems = max(1, sampling.problems_per_step // self.workers.count)
        steps = steps_of(self.prepared, self.own, problems, sampling.scores_per_step, seed)
        return steps[: min(self.workers.gathered(len(steps)))]

    def _validated(self) -> Record:
        """Return the mean reward of one greedy placement of each held-out problem."""
        if not self.held_out:
            return {}
        found = []
        size = self.config.sampling.problems_per_step
        order = largest_first(self.held_out, np.arange(len(self.held_out)))
        for i in range(0, len(order), size):
            batch = Batch.of([self.held_out[k] for k in order[i : i + size]], self.workers.device)
            placements = self.network.sample(batch, 1, Sampler())
            for p, one in enumerate(batch.prepared):
                _, row = repaired(one, np.zeros(1, np.int64), placements[p, :, : one.size])
                if len(row):
                    found.append(rewards(one, row, self.config.sampling.reward)[0])
        return {"validation": float(np.mean(found))} if found else {}

    def ask_teacher(self, jobs: int | None, backend: Backend) -> None:
        """Remember the teacher's placement of every problem."""
        task = partial(taught, placer=self.config.teacher.placer, seed=self.config.run.seed)
        asked = [(int(i), _with_full_runs(self.prepared[i].problem)) for i in self.own]
        with closing(each(task, asked, jobs, backend)) as rows:
            answers: Iterator[Ints] = rows
            if self.workers.is_rank_zero:
                answers = track(rows, len(asked), "asking the teacher")
            for i, row in zip(self.own, answers, strict=True):
                self.learner.remember(int(i), row)

    def save(self) -> None:
        """Write a checkpoint, and the weights as they are."""
        own = set(self.own.tolist())
        kept = [entry for entry in self.memory.entries() if entry[0] in own]
        memories = self.workers.gathered((kept, self.memory.best))
        if not self.workers.is_rank_zero:
            return
        whole = self.learner.new_memory()
        for entries, best in memories:
            whole.restore(entries)
            whole.best = np.maximum(whole.best, best)
        if self.records is not None:
            self.records.flush()
        state = (self.network, self.learner.optimiser, whole, self.position)
        card = {**self.card, **vars(self.position), "parameter_hash": parameter_hash(self.network)}
        half = self.config.run.half
        policy = pack_policy(self.network, self.config.policy, card, half=half)
        save_checkpoint(self.folder / CHECKPOINT, *state, self._identity)
        path = self.folder / POLICY
        with atomic(path, verify=lambda written: unpacked(written, str(path))) as file:
            file.write(policy)

    def finish(self, interrupted: bool) -> Trained:
        """Save, and say what the run has come to."""
        self.save()
        return Trained(
            self.position.step,
            self.position.epoch,
            parameter_hash(self.network),
            self.folder / POLICY,
            interrupted,
        )

    def close(self) -> None:
        """Let go of the log."""
        if self.records is not None:
            self.records.close()


def taught(numbered: tuple[int, Problem], *, placer: str, seed: int) -> Ints:
    """Return a teacher's placement, (V,), of one problem; chance comes from its number."""
    number, problem = numbered
    rng = np.random.default_rng([seed, 3, number])
    return make_placer(placer)(problem, rng).devices


def _with_full_runs(problem: Problem) -> Problem:
    """Return a problem that the engine scores by runs of its full length, unlike rewards."""
    return problem.with_objective(replace(problem.objective, engine=None))


def _hash_of(prepared: Sequence[EncodedProblem]) -> str:
    """Return a hash of problems: graphs, clusters, source rates, constraints and models.

    It hashes reprs, which leave out added fields at their default.
    """
    found = hashlib.sha256()
    for one in prepared:
        problem = one.problem
        cluster = (problem.cluster.devices, problem.cluster.network)
        rest = (*cluster, problem.source_rate, problem.constraints, problem.model)
        found.update(f"{problem.graph.sha256} {rest!r}\n".encode())
    return found.hexdigest()


@contextmanager
def _interruptions() -> Iterator[threading.Event]:
    """Raise a flag on Ctrl-C and SIGTERM, so that the step in progress is finished and saved."""
    flag = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(s, lambda number, frame: flag.set()) for s in signals]
    try:
        yield flag
    finally:
        for s, handler in zip(signals, before, strict=True):
            signal.signal(s, handler)
