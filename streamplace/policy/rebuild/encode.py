"""What the policy reads of a problem, and what rebuilding it needs."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sim.schedule.connected import Neighbours, neighbours_of
from sim.schedule.contention import Memory, no_schedule
from sim.schedule.ranks import mean_messages, mean_seconds, optimistic_costs, upward_rank
from sim.schedule.task_graph import FREE
from streamplace.placers.base import refuse_other_objectives
from streamplace.policy.encoded import SortedBatch
from streamplace.problem.problem import Problem
from streamplace.scoring.makespan_evaluator import MakespanEvaluator
from streamplace.scoring.registry import makespan_evaluator
from streamplace.util.arrays import Floats

TINY = 1e-12  # share that is added to both, so that graphs without work or messages have a ratio
FEATURES = 8
"""Numbers that a step reads: five of the problem, and three of the episode so far."""


@dataclass(frozen=True, eq=False)
class EncodedProblem:
    """A problem as the policy reads it.

    Attributes
    ----------
    scored
        The evaluator of the problem, with its arrays.
    rank
        (V,) upward ranks of HEFT, in seconds.
    ahead
        (V, D) PEFT's optimistic costs, in seconds.
    neighbours
        The operators at the other ends of streams.
    memory
        The working memory of list schedules.
    features
        (5,) numbers of the problem that do not change.
    """

    problem: Problem
    scored: MakespanEvaluator
    rank: Floats
    ahead: Floats
    neighbours: Neighbours
    memory: Memory
    features: Floats

    @property
    def size(self) -> int:
        """The number of operators."""
        return self.scored.tasks.operators


RebuildBatch: TypeAlias = SortedBatch[EncodedProblem]


def encode(problem: Problem) -> EncodedProblem:
    """Return what the policy reads of a problem; see `Policy.encode`.

    Raises
    ------
    ObjectiveError
        If the objective is not the makespan.
    """
    refuse_other_objectives(problem, "rebuild", "makespan")
    scored = makespan_evaluator(problem)
    tasks, masks = scored.tasks, scored.compiled.masks
    seconds, messages = mean_seconds(tasks, *masks), mean_messages(tasks, *masks)
    ahead = optimistic_costs(tasks, *masks)
    least = TINY * (messages.sum() + seconds.sum()) or 1.0
    features = [
        1.0,
        np.log(tasks.operators) / 4.0,
        np.log(tasks.devices) / 2.0,
        np.log((messages.sum() + least) / (seconds.sum() + least)) / 4.0,
        float(tasks.network != FREE),
    ]
    return EncodedProblem(
        problem=problem,
        scored=scored,
        rank=upward_rank(tasks, seconds, messages),
        ahead=np.where(np.isfinite(ahead), ahead, 0.0),
        neighbours=neighbours_of(tasks.operators, tasks.source, tasks.target, messages),
        memory=no_schedule(tasks, scored.compiled.rules),
        features=np.clip(features, -4.0, 4.0),
    )
