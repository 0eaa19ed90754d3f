"""Imitation of a teacher's placements (behaviour cloning)."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from streamplace.errors import ObjectiveError, StreamplaceError, within
from streamplace.execution.parallel import each
from streamplace.execution.progress import track
from streamplace.learning.policy.base import Constructive, Refiner
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.encoded import Batch
from streamplace.learning.policy.teachers import TEACHERS, Teacher
from streamplace.learning.policy.trajectories import summed_over_steps
from streamplace.learning.training.algorithms.base import Algorithm, Known, Record, Step
from streamplace.learning.training.algorithms.policy_gradient import forced_rows
from streamplace.learning.training.measuring.measure import with_full_runs
from streamplace.learning.training.stages import DaggerStage, ImitationStage
from streamplace.placers.registry import make_placer
from streamplace.placers.running import run_placer
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Ints


class Imitation(Algorithm[ImitationStage]):
    """Maximum likelihood of a placer's placements, one per problem."""

    @property
    def remembered(self) -> int:
        """One placement of each problem, the teacher's."""
        return 1

    def begin(self, known: Known) -> None:
        """Compute the teacher's placement of every problem of this process.

        Placements from earlier stages are dropped, since only the teacher's are imitated.

        Raises
        ------
        StageInterruptedError
            If the run is interrupted during that.
        StreamplaceError
            If the teacher cannot place a problem.
        TrainingError
            If that happens in another process.
        """
        self.learner.agree(self._place())

    def _place(self) -> StreamplaceError | None:
        """Store the teacher's placements until one fails or the run is interrupted.

        The result is the error of the one that failed; other processes learn of it by `agree`.
        """
        stage, learner = self.stage, self.learner
        task = partial(teacher_placement, placer=stage.teacher, seed=learner.seed)
        tasks = [(int(i), with_full_runs(self.rewards.problems[i])) for i in learner.own]
        with closing(each(task, tasks, learner.jobs, learner.backend)) as rows:
            placements: Iterator[Ints] = rows
            if learner.workers.is_rank_zero:
                placements = track(rows, len(tasks), "placing with the teacher")
            try:
                for i, row in zip(learner.own, placements, strict=True):
                    self.memory.add(int(i), self.rewards(int(i), row[None]), row[None])
                    if learner.stop.is_set():
                        break
            except StreamplaceError as error:
                return error
        return None

    def loss(self, step: Step, record: Record) -> Tensor:
        """Return the mean negative log-likelihood per decision of the teacher's placements."""
        batch = self.learner.batch(step.problems)
        if isinstance(self.learner.policy, Refiner):
            return self._refining(self.learner.policy, batch, step, record)
        policy = Constructive.of(self.learner.policy)
        taught = [{0: self.memory.of(int(i))[0]} for i in step.problems]
        forced, _ = forced_rows(policy, batch, 0, taught)
        trajectories = policy.rollout(batch, 1, Sampler(), forced)
        record["decisions"] = int(batch.sizes.sum())
        length = torch.from_numpy(batch.sizes).to(trajectories.log_prob.device, torch.float32)
        return self.combined(-trajectories.log_probability.sum(dim=1), length)

    def _refining(
        self, policy: Refiner[Any, Any], batch: Batch, step: Step, record: Record
    ) -> Tensor:
        """Return the same for episodes from random placements to the teacher's."""
        rng, _ = step.generators()
        start = np.full((len(batch), 1, int(batch.sizes[0])), -1, dtype=np.int32)
        actions = []
        for p, (i, one) in enumerate(zip(step.problems, batch.encoded, strict=True)):
            start[p, 0, : one.size] = make_placer("random")(one.problem, rng).devices
            actions.append(policy.towards(one, self.memory.of(int(i))[0]))
        steps = [len(own) for own in actions]
        forced = np.full((len(batch), 1, max(steps), actions[0].shape[1]), -1, dtype=np.int32)
        for p, own in enumerate(actions):
            forced[p, 0, : steps[p]] = own
        evaluators = [evaluator(self.rewards.problems[int(i)]) for i in step.problems]
        made = policy.rollout(batch, start, steps, Sampler(), evaluators, forced)
        for i, count in zip(step.problems, steps, strict=True):
            self.rewards.count(int(i), count + 1)
        record["decisions"] = sum(steps)
        length = torch.tensor(steps, dtype=torch.float32, device=made.log_prob.device)
        return self.combined(-summed_over_steps(made.log_prob).sum(dim=1), length)


def teacher_placement(numbered_problem: tuple[int, Problem], *, placer: str, seed: int) -> Ints:
    """Return a teacher's placement, (V,), of one problem, seeded with the problem's number.

    Raises
    ------
    StreamplaceError
        If the teacher cannot place the problem.
    """
    number, problem = numbered_problem
    rng = np.random.default_rng([seed, 3, number])
    try:
        with within(problem.graph.name):
            return run_placer(problem, placer, rng).placement.devices
    except ObjectiveError as error:  # what it recommends is for commands that place
        remedy = "choose another teacher, or another objective of [[problems]]"
        error.put("teacher")
        error.update(remedy=remedy)
        raise


class Dagger(Algorithm[DaggerStage]):
    """Maximum likelihood of an expert's actions in the states that the policy visits.

    The policy makes the placements. In every state it visits, the expert names the best actions, of
    which several may be equally good, and their log-probability is raised. Placements from earlier
    stages are kept for later ones.
    """

    def loss(self, step: Step, record: Record) -> Tensor:
        """Return the mean negative log-likelihood per decision of the expert's actions."""
        stage, batch = self.stage, self.learner.batch(step.problems)
        _, generator = step.generators()
        exploration = step.between(stage.exploration, stage.final_exploration)
        sampler = Sampler(generator, exploration=exploration, greedy=stage.greedy)
        teacher = Teacher(TEACHERS[stage.teacher], stage.ties)
        policy = Constructive.of(self.learner.policy)
        trajectories = policy.rollout(batch, stage.samples, sampler, teacher=teacher)
        agreement = trajectories.agreement
        assert agreement is not None, "a policy must return the agreement with a teacher"
        record["decisions"] = stage.samples * int(batch.sizes.sum())
        record["entropy"] = float(trajectories.mean_entropy.detach().mean())
        loss = -summed_over_steps(agreement)
        if stage.entropy:
            loss = loss - stage.entropy * summed_over_steps(trajectories.entropy)
        decisions = torch.from_numpy(stage.samples * batch.sizes).to(loss.device, torch.float32)
        return self.combined(loss.sum(dim=1), decisions)
