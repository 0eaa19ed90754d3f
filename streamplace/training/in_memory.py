"""Training in memory: the loop without a folder, for studies and notebooks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from streamplace.errors import UsageError
from streamplace.policy.base import AnyPolicy
from streamplace.policy.encoded import Encoded
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.training.algorithms.base import Record
from streamplace.training.distributed import Workers
from streamplace.training.learner import Learner
from streamplace.training.limits import LARGEST_SEED
from streamplace.training.loop import Loop
from streamplace.training.problems import encoded_by
from streamplace.training.stages import Stage
from streamplace.util.arrays import Floats
from streamplace.util.checks import check_type


@dataclass(frozen=True, eq=False)
class Fitted:
    """The outcome of training a policy on P problems.

    Attributes
    ----------
    policy
        The trained policy.
    records
        The figures of each of T steps, as in the log of a run.
    best
        (P,) the best placement in the memory of the last stage; None where none reached the
        memory's threshold.
    best_rewards
        (T, P) the best reward of each problem in its stage, after each step; -inf while none is
        known. Rewards of stages are of different kinds where the stages say so.
    evaluations
        (P,) the number of placements of each problem that were scored.
    """

    policy: AnyPolicy
    records: tuple[Record, ...]
    best: tuple[Placement | None, ...]
    best_rewards: Floats
    evaluations: tuple[int, ...]


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
    number of torch's threads. `fit_each` trains a policy of its own for each problem.

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
    check_arguments(problems, stages, rng)
    encoded = encoded_by(policy, problems)
    return run_loop(policy, encoded, stages, rng, encoded_by(policy, held_out), on_step)


def check_arguments(
    problems: Sequence[Problem], stages: Sequence[Stage], rng: np.random.Generator
) -> None:
    """Refuse arguments of the wrong type, and empty ones.

    Raises
    ------
    UsageError
        Naming the argument.
    """
    for name, several, kind in (("problems", problems, Problem), ("stages", stages, Stage)):
        check_type(f"{name}:", several, Sequence, UsageError)
        if not several:
            raise UsageError(f"{name}: must not be empty")
        for i, one in enumerate(several):
            check_type(f"{name}[{i}]:", one, kind, UsageError)
    check_type("rng:", rng, np.random.Generator, UsageError, "as numpy.random.default_rng(0)")


def run_loop(
    policy: AnyPolicy,
    encoded: Sequence[Encoded],
    stages: Sequence[Stage],
    rng: np.random.Generator,
    held_out: Sequence[Encoded] = (),
    on_step: Callable[[Record], None] = lambda record: None,
) -> Fitted:
    """Train a policy on encoded problems; see `fit`."""
    own = np.arange(len(encoded), dtype=np.int32)
    learner = Learner(policy, encoded, own, int(rng.integers(LARGEST_SEED)), Workers(), jobs=1)
    loop = Loop(learner, stages, held_out)
    records, rewards = [], []
    for record in loop.steps():
        on_step(record)
        records.append(record)
        assert loop.algorithm is not None, "a step has an algorithm"
        rewards.append(loop.algorithm.best_rewards.copy())
    known = {} if loop.algorithm is None else loop.algorithm.known()
    best = (
        Placement(one.problem, known[i][0]) if known.get(i) else None
        for i, one in enumerate(encoded)
    )
    best_rewards = np.array(rewards).reshape(len(records), len(encoded))
    evaluations = tuple(learner.evaluations.tolist())
    return Fitted(policy, tuple(records), tuple(best), best_rewards, evaluations)
