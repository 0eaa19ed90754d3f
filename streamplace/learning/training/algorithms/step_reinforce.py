"""REINFORCE for policies that refine placements: a reward and a baseline per step."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from streamplace.errors import StreamplaceError
from streamplace.execution.progress import track
from streamplace.learning.policy.base import Refiner
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.encoded import Batch
from streamplace.learning.policy.trajectories import Trajectories, summed_over_steps
from streamplace.learning.training.algorithms.base import Algorithm, Known, Record, State, Step
from streamplace.learning.training.algorithms.step_baseline import StepBaseline
from streamplace.learning.training.elite_buffer import EliteBuffer
from streamplace.learning.training.learner import Learner, Optimiser
from streamplace.learning.training.problems import start_of
from streamplace.learning.training.rewards import MeasuredEvaluator, MeasuredRewards, log_of
from streamplace.learning.training.stages import StepReinforceStage
from streamplace.scoring.evaluator import Evaluator
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats, Ints

STARTS = "memory.start."
FALLING: Mapping[str, Callable[[Floats], Floats]] = {
    "log": log_of,
    "loss": np.asarray,
    "best": lambda losses: log_of(np.fmin.accumulate(losses, axis=2)),
}
"""The function of losses, (P, S, T + 1), whose fall is the reward of a step."""
R = TypeVar("R", bound=StepReinforceStage)


class StepReinforce(Algorithm[R]):
    """Policy gradient over episodes that begin with the best placement so far.

    The loss of an episode is -Σ_t [(G_t - b_t) log π(a_t) + c H_t], where G_t is the discounted sum
    of the rewards from step t on, b_t a baseline, H_t the entropy of the step, and the reward of a
    step is the fall of the loss or of its logarithm.
    """

    def __init__(self, stage: R, learner: Learner, optimiser: Optimiser, number: int = 0) -> None:
        super().__init__(stage, learner, optimiser, number)
        Refiner.of(learner.policy)
        self._starts = self.new_memory()
        self._baseline = StepBaseline(stage.window)
        self._evaluators: dict[int, Evaluator] = {}
        self._first: dict[int, Ints] = {}
        self._again: Callable[[], Tensor] | None = None

    @property
    def remembered(self) -> int:
        """The best placement of each problem."""
        return 1

    @property
    def updates(self) -> int:
        """The number of steps of the optimiser that learn from the same episodes."""
        return 1

    def begin(self, known: Known) -> None:
        """Prepare the stage: episodes also start from the best placements of earlier stages.

        The other problems' first starts are placed now, so that a placer of starts that fails does
        so before the first step. Where each episode starts anew, this is only a check.

        Raises
        ------
        StageInterruptedError
            If the run is interrupted during that.
        StreamplaceError
            If the placer of starts cannot place a problem.
        TrainingError
            If that happens in another process.
        """
        super().begin(known)
        for number, placements in self.affordable(known).items():
            rows = np.stack(placements)
            self._starts.add(number, self.scored(number, rows), rows)
        self.learner.agree(self._place_starts())

    def _place_starts(self) -> StreamplaceError | None:
        """Place the first starts of this process until one fails or the run is interrupted.

        The result is the error of the one that failed; other processes learn of it by `agree`.
        """
        learner, goes_on = self.learner, self.stage.restart == "best"
        own = [n for n in learner.own.tolist() if not (goes_on and self._starts.of(n))]
        placed: Iterator[Ints] = map(self._first_of, own)
        if learner.workers.is_rank_zero:
            placed = track(placed, len(own), "placing the starts")
        try:
            for _ in placed:
                if learner.stop.is_set():
                    break
        except StreamplaceError as error:
            return error
        return None

    def scored(self, number: int, rows: Ints) -> Floats:
        """Return the rewards of placements, (S,)."""
        losses = self._evaluator(number).loss(rows)
        self.rewards.count(number, len(rows))
        return -log_of(losses)

    def loss(self, step: Step, record: Record) -> Tensor | None:
        """Return the loss of a step; None for episodes that are only evaluated."""
        unspent = self.unspent(step, record)
        if not len(unspent):
            return None
        stage, numbers = self.stage, unspent.tolist()
        rng, generator = step.generators()
        policy, batch = Refiner.of(self.learner.policy), self.learner.batch(unspent)
        start = self._start_of(batch, numbers, rng)
        steps = [policy.episode(one) for one in batch.encoded]
        evaluators = [self._evaluator(number) for number in numbers]
        if stage.evaluate_every and step.epoch % stage.evaluate_every == 0:
            made = policy.refine(batch, start, steps, Sampler(), evaluators)
            self._remember(numbers, batch, made, record, (self.memory,))
            return None
        exploration = step.between(stage.exploration, stage.final_exploration)
        sampler = Sampler(generator, exploration=exploration)
        made = policy.rollout(batch, start, steps, sampler, evaluators)
        self._remember(numbers, batch, made, record, (self.memory, self._starts))
        record["entropy"] = float(made.mean_entropy.detach().mean())
        advantage = torch.from_numpy(self.advantages(numbers, made)).to(made.log_prob)
        weight = step.between(stage.entropy, stage.final_entropy)
        self._again = lambda: self._loss_of(policy.evaluate(batch, made), advantage, weight)
        return self._loss_of(made, advantage, weight)

    def step(self, step: Step) -> Record:
        """Take one step, with all steps of the optimiser that learn from its episodes."""
        self._again = None
        record = super().step(step)
        for _ in range(self.updates - 1):
            self.descend(None if self._again is None else self._again(), record)
        return record

    def _loss_of(self, made: Trajectories, advantage: Tensor, weight: float) -> Tensor:
        """Return the loss of episodes with advantages, (P, S, T), and a weight of the entropy."""
        policy_loss = -summed_over_steps(made.log_prob * advantage.unsqueeze(3))
        terms = policy_loss - weight * summed_over_steps(made.entropy)
        return self.combined(terms.mean(dim=1))

    def _start_of(self, batch: Batch, numbers: list[int], rng: np.random.Generator) -> Ints:
        """Return the placements, (P, S, V), from which episodes start; -1 where there is none."""
        shape = (len(batch), self.stage.samples, int(batch.sizes[0]))
        start = np.full(shape, -1, dtype=np.int32)
        if self.stage.restart == "anew":
            different = 1 if self.stage.baseline == "samples" else self.stage.samples
            rows = [[self._placed(n, rng) for _ in range(different)] for n in numbers]
            for p, placed in enumerate(rows):
                start[p, :, : batch.sizes[p]] = placed
            return start
        for p, number in enumerate(numbers):
            best = self._starts.of(number)
            restarts = self.stage.restart == "best" and best
            start[p, :, : batch.sizes[p]] = best[0] if restarts else self._first_of(number)
        return start

    def _first_of(self, number: int) -> Ints:
        """Return the start of a problem's first episode, (V,)."""
        if number not in self._first:
            rng = np.random.default_rng([self.learner.seed, 3, number])
            self._first[number] = self._placed(number, rng)
        return self._first[number]

    def _placed(self, number: int, rng: np.random.Generator) -> Ints:
        """Return a placement of a problem by the placer of starts, (V,)."""
        problem, key = self.learner.encoded[number].problem, f"stage[{self.number}].start"
        return start_of(problem, self.stage.start, rng, key, number).devices

    def simulated(self, number: int) -> Evaluator:
        """Return the evaluator of a problem in simulation, which has its losses."""
        return evaluator(self.rewards.problems[number])

    def _evaluator(self, number: int) -> Evaluator:
        """Return the evaluator of a problem, in simulation or with measured losses."""
        if number not in self._evaluators:
            made = self.simulated(number)
            if isinstance(self.rewards, MeasuredRewards):
                made = MeasuredEvaluator(made, self.rewards, number)
            self._evaluators[number] = made
        return self._evaluators[number]

    def _remember(
        self,
        numbers: list[int],
        batch: Batch,
        made: Trajectories,
        record: Record,
        memories: tuple[EliteBuffer, ...],
    ) -> None:
        """Store the best placement of each problem, count evaluations, and report."""
        assert made.losses is not None, "refiners return losses"
        assert made.best is not None, "and the best placements"
        steps = made.mask.sum(dim=2).cpu().numpy()
        for p, number in enumerate(numbers):
            self.rewards.count(number, int((steps[p] + 1).sum()))
            losses = np.nanmin(made.losses[p], axis=1)
            rows = made.best[p, :, : batch.sizes[p]]
            for memory in memories:
                memory.add(number, -log_of(losses), rows)
        record["evaluations"] = int((steps + 1).sum())
        if self.limit:
            record["measurements"] = self.rewards.measured
        record["decisions"] = int(steps.sum())
        last = np.take_along_axis(made.losses, steps[:, :, None], axis=2)[:, :, 0]
        record["reward"] = float(-log_of(last).mean())
        record["best"] = float(self.memory.best[numbers].mean())

    def advantages(self, numbers: list[int], made: Trajectories) -> Floats:
        """Return the advantage of each step, (P, S, T); 0 beyond a problem's last step."""
        rewards, mask = self.step_rewards(made), made.mask.cpu().numpy()
        steps = mask[:, 0].sum(axis=1)
        returns = self.returns(rewards, steps)
        advantages = returns - self.baseline(numbers, rewards, returns, steps)
        return np.where(mask, advantages, 0.0)

    def step_rewards(self, made: Trajectories) -> Floats:
        """Return the reward of each step, (P, S, T); 0 beyond a problem's last step."""
        return made.falls_of(FALLING[self.stage.step_reward])

    @staticmethod
    def logs_of(made: Trajectories) -> Floats:
        """Return the log of the loss before each step, and at the end, (P, S, T + 1)."""
        assert made.losses is not None, "refiners return losses"
        return log_of(made.losses)

    def returns(self, rewards: Floats, steps: Ints) -> Floats:
        """Return the return of each step, (P, S, T): discounted rewards from the step on.

        Parameters
        ----------
        rewards
            The reward of each step, (P, S, T); 0 beyond a problem's last step.
        steps
            (P,) the number of steps of each problem.
        """
        sums = rewards.copy()
        for t in range(sums.shape[2] - 2, -1, -1):
            sums[:, :, t] += self.stage.discount * sums[:, :, t + 1]
        return sums

    def baseline(self, numbers: list[int], rewards: Floats, returns: Floats, steps: Ints) -> Floats:
        """Return what is subtracted from the return of each step, (P, S, T).

        Parameters
        ----------
        numbers
            (P,) the numbers of the problems.
        rewards, returns
            The reward and the return of each step, (P, S, T).
        steps
            (P,) the number of steps of each problem.
        """
        baseline = np.zeros_like(returns)
        if self.stage.baseline == "samples":
            baseline = (returns.sum(axis=1, keepdims=True) - returns) / (returns.shape[1] - 1)
        if self.stage.baseline == "episodes":  # of past episodes, these included
            for p, (number, count) in enumerate(zip(numbers, steps.tolist(), strict=True)):
                own = returns[p, :, :count].mean(axis=0)
                baseline[p, :, :count] = self._baseline.add(number, own)
        return baseline

    def state(self) -> State:
        """Return the state that this process needs to resume."""
        return super().state() | self._starts.state(STARTS) | self._baseline.state()

    def merge(self) -> State:
        """Return the joint state of all processes; every process must call it."""
        own = set(self.learner.own.tolist())
        mine = [entry for entry in self._starts.entries() if entry[0] in own]
        starts = self.learner.workers.gathered((mine, self._starts.best))
        baseline = self._baseline.gathered(self.learner.workers, self.learner.own)
        return super().merge() | self._starts.merged(starts).state(STARTS) | baseline.state()

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Restore what `merge` returned; see `Algorithm.restore`."""
        super().restore(state)
        self._starts.restore(state, self.learner.shapes, STARTS)
        self._baseline.restore(state)
