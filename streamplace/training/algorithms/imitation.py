"""Imitation of a teacher's placements (behaviour cloning)."""

import math
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import numpy as np
import torch
from torch import Tensor

from streamplace.execution.parallel import each
from streamplace.execution.progress import track
from streamplace.placers.registry import make_placer
from streamplace.policy.base import constructive
from streamplace.policy.decoding import Sampler
from streamplace.problem.problem import Problem
from streamplace.training.algorithms.base import Algorithm, Known, Record, Step
from streamplace.training.elite_buffer import EliteBuffer
from streamplace.training.learner import StageInterruptedError
from streamplace.training.problems import with_full_runs
from streamplace.training.stages import ImitationStage
from streamplace.util.arrays import Ints


class Imitation(Algorithm[ImitationStage]):
    """Maximum likelihood of a placer's placements, one per problem."""

    def new_memory(self) -> EliteBuffer:
        """Return a memory for one placement per problem, the teacher's."""
        return EliteBuffer(len(self.learner.encoded), 1, -math.inf)

    def begin(self, known: Known) -> None:
        """Compute the teacher's placement of every problem of this process.

        Placements from earlier stages are dropped, since only the teacher's are imitated.

        Raises
        ------
        StageInterruptedError
            If the run is interrupted during that.
        """
        stage, learner = self.stage, self.learner
        task = partial(teacher_placement, placer=stage.teacher, seed=learner.seed)
        tasks = [(int(i), with_full_runs(self.rewards.problems[i])) for i in learner.own]
        with closing(each(task, tasks, learner.jobs, learner.backend)) as rows:
            placements: Iterator[Ints] = rows
            if learner.workers.is_rank_zero:
                placements = track(rows, len(tasks), "placing with the teacher")
            for i, row in zip(learner.own, placements, strict=True):
                self.memory.add(int(i), self.rewards(int(i), row[None]), row[None])
                if learner.stop.is_set():
                    break
        if learner.interrupted():
            raise StageInterruptedError

    def loss(self, step: Step, record: Record) -> Tensor:
        """Return the mean negative log-likelihood per decision of the teacher's placements."""
        policy, batch = constructive(self.learner.policy), self.learner.batch(step.problems)
        forced = np.zeros((len(batch), 1, int(batch.sizes[0])), dtype=np.int32)
        for p, (i, one) in enumerate(zip(step.problems, batch.encoded, strict=True)):
            forced[p, 0, : one.size] = policy.canonical(one, self.memory.of(int(i))[0], 0)
        trajectories = policy.rollout(batch, 1, Sampler(), forced)
        record["decisions"] = int(batch.sizes.sum())
        length = torch.from_numpy(batch.sizes).to(trajectories.log_prob.device, torch.float32)
        return self.combined(-trajectories.log_probability.sum(dim=1), length)


def teacher_placement(numbered_problem: tuple[int, Problem], *, placer: str, seed: int) -> Ints:
    """Return a teacher's placement, (V,), of one problem, seeded with the problem's number."""
    number, problem = numbered_problem
    rng = np.random.default_rng([seed, 3, number])
    return make_placer(placer)(problem, rng).devices
