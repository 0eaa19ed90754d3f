"""Training in memory: the loop without a folder, for studies and notebooks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from streamplace.policy.base import AnyPolicy
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.training.algorithms.base import Record
from streamplace.training.distributed import Workers
from streamplace.training.learner import Learner
from streamplace.training.limits import LARGEST_SEED
from streamplace.training.loop import Loop
from streamplace.training.problems import encoded_by
from streamplace.training.stages import Stage


@dataclass(frozen=True)
class Fitted:
    """The outcome of `fit`; the policy itself is changed in place.

    Attributes
    ----------
    records
        The figures of each step, as in the log of a run.
    best
        The best placement in the memory of the last stage, of each problem; None where there is
        none, as under an algorithm without a memory.
    """

    records: tuple[Record, ...]
    best: tuple[Placement | None, ...]

    @property
    def evaluations(self) -> int:
        """The number of placements that were scored for rewards."""
        return sum(int(record.get("evaluations", 0)) for record in self.records)


def fit(
    policy: AnyPolicy,
    problems: Sequence[Problem],
    stages: Sequence[Stage],
    rng: np.random.Generator,
    *,
    held_out: Sequence[Problem] = (),
    on_step: Callable[[Record], None] = lambda record: None,
) -> Fitted:
    """Train a policy on problems, in this process and without writing anything.

    The same policy, problems, stages and state of `rng` give the same parameters, on the same
    number of torch's threads.

    Parameters
    ----------
    policy
        Changed in place; it stays on its device.
    stages
        Values such as `ReinforceStage`, or the `stage` of a config that was read.
    held_out
        Problems that are placed greedily after each epoch, for ``validation`` in the records.
    on_step
        Called with the figures of every step.

    Raises
    ------
    StreamplaceError
        If the policy cannot place a problem; the message names its graph.
    TrainingError
        If gradients stop being finite.
    """
    seed = int(rng.integers(LARGEST_SEED))
    encoded = encoded_by(policy, problems)
    learner = Learner(policy, encoded, np.arange(len(problems), dtype=np.int32), seed, Workers())
    loop = Loop(learner, stages, encoded_by(policy, held_out))
    records = []
    for record in loop.steps():
        on_step(record)
        records.append(record)
    known = {} if loop.algorithm is None else loop.algorithm.known()
    best = (known[i][0] if known.get(i) else None for i in range(len(problems)))
    placements = (
        None if row is None else Placement(problem, row)
        for problem, row in zip(problems, best, strict=True)
    )
    return Fitted(tuple(records), tuple(placements))
