"""The training loop."""

import hashlib
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from streamplace.arrays import Floats, Ints
from streamplace.errors import CheckpointError, TrainingError, UsageError
from streamplace.files import write_json
from streamplace.files.atomic import atomic, make_folder
from streamplace.graph import StreamGraph
from streamplace.parallel import cpu_count, each
from streamplace.placement import relabelled
from streamplace.placers.registry import make_placer
from streamplace.policy.batch import Batch
from streamplace.policy.features import Prepared
from streamplace.policy.networks import Network, make_network
from streamplace.policy.rollout import Choice
from streamplace.policy.weights import pack_policy, parameter_hash
from streamplace.training.checkpoint import Position, load_checkpoint, save_checkpoint
from streamplace.training.config import TrainConfig
from streamplace.training.memory import Memory
from streamplace.training.problems import largest_first, make_problems, steps_of
from streamplace.training.records import Records
from streamplace.training.reinforce import advantages, policy_loss, rewards
from streamplace.training.workers import Workers, share

CHECKPOINT, POLICY, CONFIG = "checkpoint.safetensors", "policy.safetensors", "config.json"
BAD_STEPS = 20  # in a row without a finite gradient before giving up
Record = dict[str, float | int]


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
    tell
        Is told of every step, and of every epoch's validation.

    Raises
    ------
    StreamplaceError
        Whatever is wrong with graphs, config or checkpoint, before anything starts.
    TrainingError
        If gradients stop being finite.
    """
    with Workers() as workers, _interruptions() as interrupted:
        torch.set_num_threads(config.run.threads or max(1, cpu_count() // workers.count))
        run = Run.start(graphs, config, folder, dataset, resume, workers)
        try:
            for record in run.steps():
                tell(record)
                if workers.any(interrupted.is_set()):
                    break
            return run.finish(interrupted.is_set())
        finally:
            run.close()


class Run:
    """One run: its problems, network, optimiser and memory, and how far it has come."""

    def __init__(
        self,
        prepared: list[Prepared],
        held_out: list[Prepared],
        config: TrainConfig,
        folder: Path,
        card: dict[str, Any],
        workers: Workers,
    ) -> None:
        self.prepared, self.held_out, self.config = prepared, held_out, config
        self.folder, self.card, self.workers = folder, card, workers
        torch.manual_seed(config.run.seed)
        self.network: Network = make_network(config.policy.kind, config.policy.sizes)
        self.network.to(workers.device)
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=config.optimiser.rate)
        self.memory = Memory(len(prepared), config.memory.size, config.memory.threshold)
        self.position = Position()
        self.records: Records | None = None
        self.own = np.array(share(range(len(prepared)), workers))
        self.bad = 0

    @classmethod
    def start(
        cls,
        graphs: Sequence[StreamGraph],
        config: TrainConfig,
        folder: Path,
        dataset: str,
        resume: bool,
        workers: Workers,
    ) -> "Run":
        """Check everything, then make or take up a run."""
        if len(graphs) <= config.run.held_out:
            raise UsageError(f"{len(graphs)} graphs, and {config.run.held_out} are held out")
        if config.teacher.placer:
            make_placer(config.teacher.placer)
        checkpoint = folder / CHECKPOINT
        if resume != checkpoint.exists():
            said = "holds no checkpoint to resume" if resume else "holds a run; see --resume"
            raise CheckpointError(f"{folder}: {said}")
        seed, held_out = config.run.seed, config.run.held_out
        card = {
            "dataset": dataset,
            "graphs": _hash_of(graphs),
            "config": config.model_dump(mode="json"),
        }
        run = cls(
            make_problems(graphs[held_out:], config.problems, seed),
            make_problems(graphs[:held_out], config.problems, seed),
            config,
            folder,
            card,
            workers,
        )
        if resume:
            files = (checkpoint, run.network, run.optimiser, run.memory)
            run.position = load_checkpoint(*files, {k: card[k] for k in ("graphs", "config")})
        elif workers.leads:
            make_folder(folder)
            write_json(folder / CONFIG, card["config"])
        if workers.leads:
            run.records = Records(folder, run.position.step)
        if config.teacher.placer and not resume:
            run.ask_teacher()
        return run

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
                self._set_rate((epoch + i / len(steps)) / epochs)
                record = self._step(steps[i], imitate_only=epoch < imitated)
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

    def _step(self, numbers: np.ndarray, *, imitate_only: bool) -> Record:
        """Sample, reward, learn: one step on these problems, largest first."""
        config, device = self.config, self.workers.device
        seed = [config.run.seed, 2, self.position.step, self.workers.rank]
        rng = np.random.default_rng(seed)
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        batch = Batch.of([self.prepared[i] for i in numbers], device)
        samples = 0 if imitate_only else config.sampling.samples
        forced, counted = self._rows(batch, numbers, samples, rng)
        rollout = self.network.rollout(batch, forced.shape[1], Choice(generator), forced)
        reward = np.zeros(counted.shape)
        if not imitate_only:
            for p, (i, one) in enumerate(zip(numbers, batch.prepared, strict=True)):
                rows = np.flatnonzero(counted[p])
                placed = rollout.placements[p, rows, : one.size]
                reward[p, rows] = rewards(one, placed, config.sampling.reward)
                self.memory.see(int(i), reward[p, rows], placed)
        loss = self._loss(batch, rollout.log_probability, rollout.entropy, reward, counted, samples)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.workers.mean_gradients(self.network)
        self._update()
        record: Record = {
            "loss": float(loss.detach()),
            "decisions": int(counted.sum(axis=1) @ batch.sizes),
        }
        if samples:
            mean, best = reward[:, :samples].mean(axis=1), self.memory.best[numbers]
            record |= {
                "reward": float(mean.mean()),
                "entropy": float(rollout.entropy[:, :samples].detach().mean()),
                "gap": float((best - mean).mean()),
            }
        return record

    def _rows(
        self, batch: Batch, numbers: np.ndarray, samples: int, rng: np.random.Generator
    ) -> tuple[Ints, np.ndarray]:
        """Return the rows of a step: forced devices, (P, S, V), and which rows count, (P, S).

        First the samples, free; then the placements remembered; then random ones.
        """
        sampling, memory = self.config.sampling, self.config.memory
        kept = [self.memory.of(int(i)) for i in numbers]
        learned = memory.samples if samples else 1
        told = max((min(learned, len(rows)) for rows in kept), default=0)
        random = [0] * len(numbers)
        if samples:
            epoch = self.position.epoch - self.config.teacher.epochs
            mean = sampling.random_samples * math.exp(-epoch / sampling.random_decay)
            at_random = int(mean) + int(rng.random() < mean % 1.0)
            random = [at_random + (sampling.random_if_empty if not rows else 0) for rows in kept]
        shape = (len(numbers), samples + told + max(random))
        forced = np.zeros((*shape, int(batch.sizes[0])), dtype=np.int32)
        counted = np.zeros(shape, dtype=bool)
        forced[:, :samples], counted[:, :samples] = -1, True
        for p, one in enumerate(batch.prepared):
            rows = kept[p][:told]
            devices = len(one.problem.cluster.devices)
            drawn = rng.integers(devices, size=(random[p], one.size), dtype=np.int32)
            first = samples + told
            places = [*range(samples, samples + len(rows)), *range(first, first + random[p])]
            for s, row in zip(places, [*rows, *drawn], strict=True):
                forced[p, s, : one.size] = self._in_symmetry(one, row)
                counted[p, s] = True
        return forced, counted

    def _in_symmetry(self, one: Prepared, row: Ints) -> Ints:
        """Return a placement with equal devices named as the network would name them."""
        if not self.network.breaks_symmetry:
            return row
        return relabelled(row, one.job.kind, one.orders[0])

    def _loss(
        self,
        batch: Batch,
        log_probability: torch.Tensor,
        entropy: torch.Tensor,
        reward: Floats,
        counted: np.ndarray,
        samples: int,
    ) -> torch.Tensor:
        optimiser, imitate = self.config.optimiser, self.config.memory.imitate
        device = log_probability.device
        there = torch.from_numpy(counted).to(device)
        length = torch.from_numpy(batch.sizes).to(device, torch.float32)
        if samples == 0:
            return -(log_probability * there).sum() / (length.unsqueeze(1) * there).sum()
        advantage = advantages(
            torch.from_numpy(reward).to(device, torch.float32), there, optimiser.normalise
        )
        if self.config.memory.only_better:  # what a policy no longer does is not to be undone
            advantage[:, samples:].clamp_(min=0.0)
        loss = policy_loss(log_probability, advantage, there)
        if imitate and counted.shape[1] > samples:
            loss = loss - imitate * log_probability[:, samples] * there[:, samples]
        if optimiser.entropy:
            loss = loss - optimiser.entropy * entropy[:, :samples].mean(dim=1) * length
        return loss.sum() / length.sum() if optimiser.per_decision else loss.mean()

    def _update(self) -> None:
        """Take Adam's step, unless the gradient is not finite."""
        limit = self.config.optimiser.largest_gradient or math.inf
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), limit)
        if torch.isfinite(norm):
            self.bad = 0
            self.optimiser.step()
            return
        self.bad += 1
        if self.bad >= BAD_STEPS:
            raise TrainingError(f"{BAD_STEPS} gradients in a row were not finite")

    def _set_rate(self, progress: float) -> None:
        """Warm up, then fall like a cosine from the first rate to the last."""
        optimiser = self.config.optimiser
        last = optimiser.final_rate
        rate = last + (optimiser.rate - last) * 0.5 * (1.0 + math.cos(math.pi * progress))
        if self.position.step < optimiser.warm_up:
            rate *= (self.position.step + 1) / optimiser.warm_up
        for group in self.optimiser.param_groups:
            group["lr"] = rate

    def _validated(self) -> Record:
        """Return the mean reward of one greedy placement of each held-out problem."""
        if not self.held_out:
            return {}
        found = []
        size = self.config.sampling.problems_per_step
        order = largest_first(self.held_out, np.arange(len(self.held_out)))
        for i in range(0, len(order), size):
            batch = Batch.of([self.held_out[k] for k in order[i : i + size]], self.workers.device)
            placements = self.network.sample(batch, 1, Choice())
            for p, one in enumerate(batch.prepared):
                row = placements[p, :, : one.size]
                found.append(rewards(one, row, self.config.sampling.reward)[0])
        return {"validation": float(np.mean(found))}

    def ask_teacher(self) -> None:
        """Remember the teacher's placement of every problem."""
        if not self.own.size:
            return
        task = partial(_taught, placer=self.config.teacher.placer, seed=self.config.run.seed)
        asked = [(int(i), self.prepared[i].problem) for i in self.own]
        for i, row in zip(self.own, each(task, asked), strict=True):
            reward = rewards(self.prepared[i], row[None], self.config.sampling.reward)
            self.memory.see(int(i), reward, row[None])

    def save(self) -> None:
        """Write a checkpoint, and the weights as they are."""
        memories = self.workers.gathered((list(self.memory.entries()), self.memory.best))
        if not self.workers.leads:
            return
        whole = Memory(len(self.prepared), self.config.memory.size, self.config.memory.threshold)
        for entries, best in memories:
            whole.restore(entries)
            whole.best = np.maximum(whole.best, best)
        run = {k: self.card[k] for k in ("graphs", "config")}
        if self.records is not None:
            self.records.flush()
        save_checkpoint(
            self.folder / CHECKPOINT, self.network, self.optimiser, whole, self.position, run
        )
        card = {**self.card, **vars(self.position), "parameters": parameter_hash(self.network)}
        with atomic(self.folder / POLICY) as file:
            file.write(pack_policy(self.network, self.config.policy.kind, card))

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


def _taught(numbered: tuple[int, Any], *, placer: str, seed: int) -> Ints:
    number, problem = numbered
    rng = np.random.default_rng([seed, 3, number])
    return make_placer(placer)(problem, rng).devices


def _hash_of(graphs: Sequence[StreamGraph]) -> str:
    return hashlib.sha256("".join(graph.sha256 for graph in graphs).encode()).hexdigest()


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
