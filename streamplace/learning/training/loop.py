"""The training loop: the steps of all stages, in memory, and the validation between them."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from streamplace.errors import StreamplaceError
from streamplace.learning.policy.base import AnyPolicy, Constructive, Refiner
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.encoded import Batch, Encoded
from streamplace.learning.policy.refining import refine_problems
from streamplace.learning.policy.registry import faults_of
from streamplace.learning.training.algorithms.base import Algorithm, Record, State, Step
from streamplace.learning.training.baselines import baselines, restore_baselines, rewards_of
from streamplace.learning.training.learner import Learner, Optimiser
from streamplace.learning.training.problems import (
    FALLBACK,
    largest_first,
    repair_rows,
    start_of,
    steps_of,
)
from streamplace.learning.training.rewards import Rewards
from streamplace.learning.training.stages import OptimiserSection, Stage, StepReinforceStage
from streamplace.problem.placement import Placement
from streamplace.util.arrays import Floats, Ints
from streamplace.util.plugins import load_ours
from streamplace.util.threads import one_thread_of_numpy


def make_algorithm(
    stage: Stage, learner: Learner, optimiser: Optimiser, number: int = 0
) -> Algorithm[Any]:
    """Return a new algorithm for a stage, which has this number in its run."""
    made: Algorithm[Any] = load_ours(stage.path)(stage, learner, optimiser, number)
    return made


@dataclass
class Position:
    """The progress of a run.

    Attributes
    ----------
    epoch, step_of_epoch
        Epoch of the next step, and the number of the step within it, from 0.
    step
        Number of steps done.
    seconds
        Wall time of the steps, without validation, checkpoints and the teacher's placements.
    schedule_step
        Number of steps done when the current learning-rate schedule began.
    """

    epoch: int = 0
    step_of_epoch: int = 0
    step: int = 0
    seconds: float = 0.0
    schedule_step: int = 0


class Loop:
    """The steps of all stages of a run, in order.

    Attributes
    ----------
    position
        Progress of the run.
    algorithm
        Algorithm of the last step's stage; None before the first step.
    """

    def __init__(
        self, learner: Learner, stages: Sequence[Stage], held_out: Sequence[Encoded] = ()
    ) -> None:
        self.learner, self.stages = learner, stages
        self.position = Position()
        self.algorithm: Algorithm[Any] | None = None
        self._stage = -1
        self._held_out = held_out
        self._starts: Sequence[Placement] | None = None  # of the held-out problems
        self._baselines: State | None = None  # on these problems; None: not yet
        self._beside: dict[str, Floats] = {}  # their rewards in the unit of the stage
        self._first_epochs = first_epochs(stages)

    @property
    def epochs(self) -> int:
        """The total number of epochs of all stages."""
        return self._first_epochs[-1]

    def begin(self) -> None:
        """Begin the first stage, so that a failing teacher shows before any file is written."""
        self._algorithm_of(self.position.epoch)

    def steps(self) -> Iterator[Record]:
        """Run the remaining steps and yield the metrics of each."""
        while self.position.epoch < self.epochs:
            yield from self._epoch(self.position.epoch)

    def _epoch(self, epoch: int) -> Iterator[Record]:
        """Run the remaining steps of an epoch."""
        algorithm = self._algorithm_of(epoch)
        steps = self.steps_of(epoch)
        for i in range(self.position.step_of_epoch, len(steps)):
            if i + 1 == len(steps) and self._baselines is None:
                self._place_baselines()  # before the step, so that an interruption leaves no trace
                self.learner.agree(None)
            started = time.perf_counter()
            done = epoch + i / len(steps)
            algorithm.optimiser.set_rate(done, self.position.step)
            record = self._stepped(algorithm, self._step(steps[i], epoch, done))
            self.position.step += 1
            self.position.step_of_epoch = i + 1
            self.position.seconds += time.perf_counter() - started
            is_last, following = i + 1 == len(steps), epoch + 1
            if algorithm.is_spent:  # the stage ends early
                is_last, following = True, self._first_epochs[self._stage + 1]
            reached = following if is_last else epoch + (i + 1) / len(steps)
            progress = reached / self.epochs
            record |= {"step": self.position.step, "epoch": epoch, "progress": progress}
            if is_last:
                self.position.epoch, self.position.step_of_epoch = following, 0
                # threads of numpy that wait for each other would cost CPU time, as in `one_thread`
                with one_thread_of_numpy(), faults_of(self.learner.policy, "validation"):
                    record |= self._validation(algorithm.stage)
            yield record
            if is_last:
                return

    def _validation(self, stage: Stage) -> Record:
        """Return the mean rewards of greedy placements of the held-out problems and of placers."""
        policy = self.learner.policy
        if self._starts is None:  # the run was resumed within the stage
            self._starts = starts_of(policy, self._held_out, stage, self._stage)
        if self._baselines is None:  # the stage has ended before its last step
            self._place_baselines()
        problems = [one.problem for one in self._held_out]
        self._beside = self._beside or rewards_of(self._baselines or {}, problems, stage)
        return validation(policy, self._held_out, stage, self._starts, self._beside)

    def _place_baselines(self) -> None:
        """Place the held-out problems by placers in process 0, unless the run is interrupted."""
        problems, workers = [one.problem for one in self._held_out], self.learner.workers
        placed: State | None = None
        if workers.is_rank_zero:
            with one_thread_of_numpy():
                placed = baselines(problems, self.learner.stop)
        self._baselines = workers.gathered(placed)[0]

    def _stepped(self, algorithm: Algorithm[Any], step: Step) -> Record:
        """Take a step in training mode; random layers such as dropout draw from the step's seed."""
        policy = self.learner.policy
        random = torch.random.fork_rng(devices=_gpus(policy))
        with random, no_denormals(), faults_of(policy, "training"):
            torch.manual_seed(int(np.random.default_rng([*step.seed, 1]).integers(2**62)))
            policy.train()
            try:
                return algorithm.step(step)
            finally:
                policy.eval()

    def _step(self, problems: np.ndarray, epoch: int, done: float) -> Step:
        """Return the description of a step for the stage's algorithm."""
        first, end = self._first_epochs[self._stage : self._stage + 2]
        learner = self.learner
        seed = [learner.seed, 2, self.position.step, learner.workers.rank]
        return Step(problems, seed, epoch - first, (done - first) / (end - first))

    def steps_of(self, epoch: int) -> list[np.ndarray]:
        """Return the steps of an epoch, each as the numbers of this process's problems."""
        learner, workers = self.learner, self.learner.workers
        stage = self.stages[stage_at(self.stages, epoch)]
        seed = [learner.seed, 1, epoch, workers.rank]
        problems = max(1, stage.problems_per_step // workers.count)
        steps = steps_of(learner.encoded, learner.own, problems, stage.scores_per_step, seed)
        return steps[: min(workers.gathered(len(steps)))]

    def _algorithm_of(self, epoch: int) -> Algorithm[Any]:
        """Return the algorithm of an epoch, beginning its stage and any empty stages before it."""
        number = stage_at(self.stages, epoch)
        while self.algorithm is None or self._stage < number:
            self._begin(self._stage + 1)
        return self.algorithm

    def _begin(self, number: int) -> None:
        """Begin a stage with its own optimiser, or with that of the previous stage."""
        before, stage = self.algorithm, self.stages[number]
        if before is not None and stage.optimiser is None:
            optimiser = before.optimiser
        else:
            self.position.schedule_step = self.position.step
            optimiser = self._new_optimiser(number)
        algorithm = make_algorithm(stage, self.learner, optimiser, number)
        algorithm.begin({} if before is None else before.known())
        learner = self.learner
        starts, fault = list[Placement](), None
        try:
            starts = starts_of(learner.policy, self._held_out, stage, number, learner.stop)
        except StreamplaceError as error:
            fault = error
        learner.agree(fault)
        self._stage, self.algorithm, self._starts = number, algorithm, starts
        self._beside = {}

    def _new_optimiser(self, number: int) -> Optimiser:
        """Return an optimiser for a stage; its schedule spans all stages that share it."""
        sections = [stage.optimiser for stage in self.stages[: number + 1]]
        section = next((one for one in reversed(sections) if one), OptimiserSection())
        span = schedule_span(self.stages, number)
        return Optimiser(self.learner.policy, section, span, self.position.schedule_step)

    def state(self) -> State:
        """Return the current state over all processes; every process must call it."""
        of_algorithm = {} if self.algorithm is None else self.algorithm.merge()
        return of_algorithm | (self._baselines or {})

    def restore(self, position: Position, state: Mapping[str, Tensor]) -> None:
        """Resume at a position, with the state of the algorithm of the step before it.

        Raises
        ------
        KeyError, ValueError, RuntimeError
            If the state does not fit the position's stage.
        """
        self.position = position
        if position.epoch < self.epochs and position.step_of_epoch:
            steps = len(self.steps_of(position.epoch))
            if position.step_of_epoch >= steps:
                got = position.step_of_epoch
                raise ValueError(f"step_of_epoch: must be less than {steps} (got {got})")
        if position.step == 0:
            return
        last_epoch = position.epoch if position.step_of_epoch else position.epoch - 1
        self._stage = stage_at(self.stages, last_epoch)
        optimiser = self._new_optimiser(self._stage)
        stage = self.stages[self._stage]
        self.algorithm = make_algorithm(stage, self.learner, optimiser, self._stage)
        self.algorithm.restore(state)
        self._baselines = restore_baselines(state, [one.problem for one in self._held_out]) or None


def _gpus(policy: AnyPolicy) -> list[torch.device]:
    """Return the policy's GPU as a list, which is empty on the CPU."""
    device = policy.torch_device
    return [device] if device.type == "cuda" else []


def stage_at(stages: Sequence[Stage], epoch: int) -> int:
    """Return the number of the stage to which an epoch of the run belongs."""
    end = 0
    for number, stage in enumerate(stages):
        end += stage.epochs
        if epoch < end:
            return number
    return len(stages) - 1


def first_epochs(stages: Sequence[Stage]) -> list[int]:
    """Return the first epoch of each stage, and the total number of epochs."""
    firsts = [0]
    for stage in stages:
        firsts.append(firsts[-1] + stage.epochs)
    return firsts


def schedule_span(stages: Sequence[Stage], number: int) -> tuple[int, int]:
    """Return the first epoch, and one past the last, of the schedule that covers a stage."""
    firsts = first_epochs(stages)
    first = number
    while first > 0 and stages[first].optimiser is None:
        first -= 1
    last = number + 1
    while last < len(stages) and stages[last].optimiser is None:
        last += 1
    return firsts[first], firsts[last]


def validation(
    policy: AnyPolicy,
    held_out: Sequence[Encoded],
    stage: Stage,
    starts: Sequence[Placement],
    beside: Mapping[str, Floats] = MappingProxyType({}),
) -> dict[str, float]:
    """Return the mean reward of one greedy placement per problem; empty without problems.

    A policy that refines placements takes one greedy episode from the start of each problem, as
    `starts_of` returns them, and the best placement of the episode counts. Problems whose placement
    cannot be repaired are left out.

    Parameters
    ----------
    beside
        (P,) rewards of others by name, whose means over the same problems are added. They are NaN
        where there is none, and the mean is then left out.
    """
    rewards = Rewards([one.problem for one in held_out], stage.reward, stage.model)
    reached: dict[int, float] = {}
    for numbers in _batches(held_out, stage.problems_per_step):
        batch = policy.batch([held_out[k] for k in numbers])
        placements = _placements(policy, batch, [starts[k] for k in numbers if starts])
        for number, one, row in zip(numbers, batch.encoded, placements, strict=True):
            _, rows = repair_rows(one.problem, np.zeros(1, np.int64), row[:, : one.size])
            if len(rows):
                reached[int(number)] = rewards(int(number), rows)[0]
    if not reached:
        return {}
    others = {name: float(row[list(reached)].mean()) for name, row in beside.items()}
    known = {name: mean for name, mean in others.items() if not np.isnan(mean)}
    return {"validation": float(np.mean([*reached.values()])), **known}


def starts_of(
    policy: AnyPolicy,
    held_out: Sequence[Encoded],
    stage: Stage,
    number: int,
    stop: threading.Event | None = None,
) -> list[Placement]:
    """Return the placement from which the greedy episode of each problem starts.

    The stage's placer of starts makes them, or `FALLBACK` if the stage has none. A policy that
    builds placements needs none.

    Parameters
    ----------
    number
        The number of the stage, for messages.
    stop
        Set when the run is interrupted; the result is then empty.

    Raises
    ------
    StreamplaceError
        If the placer cannot place a problem.
    """
    if isinstance(policy, Constructive):
        return []
    placer, key = FALLBACK, f"stage[{number}], validation"
    if isinstance(stage, StepReinforceStage):
        placer, key = stage.start, f"stage[{number}].start"
    starts: dict[int, Placement] = {}
    for numbers in _batches(held_out, stage.problems_per_step):
        rng = np.random.default_rng(0)
        for k in numbers.tolist():
            if stop is not None and stop.is_set():
                return []
            problem = held_out[k].problem
            starts[k] = start_of(problem, placer, rng, key, f"{k} of those held out")
    return [starts[k] for k in range(len(held_out))]


def _placements(policy: AnyPolicy, batch: Batch, starts: Sequence[Placement]) -> Ints:
    """Return one greedy placement per problem, (P, 1, V)."""
    if isinstance(policy, Constructive):
        return policy.sample(batch, 1, Sampler())
    return refine_problems(Refiner.of(policy), batch, starts, [Sampler()])[:, None]


def _batches(problems: Sequence[Encoded], batch_size: int) -> Iterator[np.ndarray]:
    """Yield the problem numbers of each batch; its problems have the same number of devices."""
    devices = np.array([len(one.problem.cluster.devices) for one in problems], dtype=np.int64)
    for count in np.unique(devices):
        group = largest_first(problems, np.flatnonzero(devices == count))
        yield from (group[i : i + batch_size] for i in range(0, len(group), batch_size))


@contextmanager
def no_denormals() -> Iterator[None]:
    """Round results below the smallest normal number (1e-38 for 32 bits) to 0 in this thread.

    A processor takes up to a hundred times as long for such numbers. They appear in training once a
    policy is nearly certain: gradients vanish, and the moments of Adam decay.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
