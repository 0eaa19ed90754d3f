"""Training in memory, without a run folder, for studies and notebooks."""

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
from streamplace.training.loop import Loop
from streamplace.training.measuring.measure import Measure, measuring
from streamplace.training.measuring.measurements import Measurements
from streamplace.training.problems import encoded_by
from streamplace.training.stages import LARGEST_SEED, Stage
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
        The metrics of each of T steps, as in the log of a run.
    best
        (P,) the best placement in the memory of the last stage; None where no placement reached
        the memory's threshold.
    best_rewards
        (T, P) the best reward of each problem in the current stage, after each step; -inf while no
        placement has been scored. Stages may use different kinds of reward.
    evaluations
        (P,) the number of placements scored for each problem.
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
    measure: Measure | None = None,
    on_step: Callable[[Record], None] = lambda record: None,
) -> Fitted:
    """Train a policy on problems in this process, without writing files.

    The same policy, problems, stages and state of `rng` give the same parameters if torch uses the
    same number of threads. `fit_each` trains a separate policy for each problem.

    Parameters
    ----------
    policy
        The policy to train. It is changed in place and stays on its torch device.
    stages
        Stages such as `ReinforceStage`, or the `stage` list of a `TrainConfig`.
    held_out
        Problems that are placed greedily after each epoch; the records contain their mean reward as
        ``validation``.
    measure
        Measures running times for stages with `measurements`; it is not closed.
    on_step
        Called with the metrics of every step.

    Raises
    ------
    StreamplaceError
        If the policy cannot place a problem; the message names its graph.
    UsageError
        If a stage measures and there is no measure, or the other way round.
    TrainingError
        If gradients stop being finite, or a measurement fails.
    """
    check_arguments(problems, stages, rng)
    with measuring(stages, measure) as named:
        measurements = None if named is None else Measurements(named, problems)
        encoded, validated = encoded_by(policy, problems), encoded_by(policy, held_out)
        return run_loop(policy, encoded, stages, rng, validated, measurements, on_step)


def check_arguments(
    problems: Sequence[Problem], stages: Sequence[Stage], rng: np.random.Generator
) -> None:
    """Refuse empty arguments and arguments of the wrong type.

    Raises
    ------
    UsageError
        If an argument is wrong; the message names it.
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
    measurements: Measurements | None = None,
    on_step: Callable[[Record], None] = lambda record: None,
) -> Fitted:
    """Train a policy on encoded problems; see `fit`."""
    own = np.arange(len(encoded), dtype=np.int32)
    seed = int(rng.integers(LARGEST_SEED))
    learner = Learner(policy, encoded, own, seed, Workers(), jobs=1, measurements=measurements)
    loop = Loop(learner, stages, held_out)
    records, rewards = [], []
    for record in loop.steps():
        on_step(record)
        records.append(record)
        assert loop.algorithm is not None, "every step has an algorithm"
        rewards.append(loop.algorithm.best_rewards.copy())
    known = {} if loop.algorithm is None else loop.algorithm.known()
    best = (
        Placement(one.problem, known[i][0]) if known.get(i) else None
        for i, one in enumerate(encoded)
    )
    best_rewards = np.array(rewards).reshape(len(records), len(encoded))
    evaluations = tuple(learner.evaluations.tolist())
    return Fitted(policy, tuple(records), tuple(best), best_rewards, evaluations)
