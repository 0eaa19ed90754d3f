"""Training in memory, without a run folder: of one policy, or of one for each problem."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from streamplace.errors import UsageError
from streamplace.learning.policy.base import AnyPolicy, Refiner
from streamplace.learning.policy.encoded import Encoded
from streamplace.learning.policy.registry import PolicySection, make_stack
from streamplace.learning.policy.weights import new_policy
from streamplace.learning.training.algorithms.base import Record
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.learner import Learner
from streamplace.learning.training.loop import Loop
from streamplace.learning.training.measuring.measure import Measure, measuring
from streamplace.learning.training.measuring.measurements import Measurements
from streamplace.learning.training.problems import check_objective, encoded_by
from streamplace.learning.training.stages import (
    LARGEST_SEED,
    Stage,
    StepReinforceStage,
    measured_stages,
)
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
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


def fit_each(
    section: PolicySection,
    problems: Sequence[Problem],
    stages: Sequence[Stage],
    rng: np.random.Generator,
    *,
    repeats: int = 1,
    at_once: int = 64,
) -> list[list[Fitted]]:
    """Train a new policy for each problem and repeat; return the results by problem, then repeat.

    If the policy kind has a stack (`PolicyKind.stack`), many policies are trained at once, each on
    its own problem and from its own random parameters; they do not influence each other. The
    metrics in their records are then means over the policies trained together.

    Parameters
    ----------
    section
        Kind and sizes of the policies, as `policy_section` returns them.
    stages
        As for `fit`. `problems_per_step` is ignored: each policy sees one problem per step.
    repeats
        Number of policies per problem, with different seeds.
    at_once
        Largest number of policies in a stack.

    Raises
    ------
    StreamplaceError
        If the policy cannot place a problem, the message names its graph; if a stage measures.
    TrainingError
        If gradients stop being finite.
    """
    check_type("section:", section, PolicySection, UsageError, "as policy_section({...}) returns")
    check_arguments(problems, stages, rng)
    for number in measured_stages(stages):
        raise UsageError(f"stages[{number}].measurements: not with fit_each; use fit per problem")
    for name, count in (("repeats", repeats), ("at_once", at_once)):
        if count < 1:
            raise UsageError(f"{name}: must be at least 1 (got {count})")
    tasks = [(number, repeat) for number in range(len(problems)) for repeat in range(repeats)]
    policies = {task: new_policy(section, int(rng.integers(LARGEST_SEED))) for task in tasks}
    _check_suits(policies[tasks[0]], problems, stages)
    results: dict[tuple[int, int], Fitted] = {}
    for group in _groups(problems, tasks, at_once):
        members = [policies.pop(task) for task in group]
        fitted = _fit_group(
            section.kind, members, [problems[number] for number, _ in group], stages, rng
        )
        results.update(zip(group, fitted, strict=True))
    return [
        [results[number, repeat] for repeat in range(repeats)] for number in range(len(problems))
    ]


def _check_suits(policy: AnyPolicy, problems: Sequence[Problem], stages: Sequence[Stage]) -> None:
    """Refuse what policies of this kind do not support, before they are stacked.

    Messages would otherwise name the class of the stack.
    """
    for problem in problems:
        check_objective(policy, problem)
    if any(isinstance(stage, StepReinforceStage) for stage in stages):
        Refiner.of(policy)


def _groups(
    problems: Sequence[Problem], tasks: Sequence[tuple[int, int]], at_once: int
) -> Iterator[list[tuple[int, int]]]:
    """Yield groups of at most `at_once` tasks with the same number of devices."""
    by_device_count: dict[int, list[tuple[int, int]]] = {}
    for task in tasks:
        by_device_count.setdefault(len(problems[task[0]].cluster.devices), []).append(task)
    for group in by_device_count.values():
        # sorted by size, because the problems of a stack are padded to the largest
        group.sort(key=lambda task: -len(problems[task[0]].graph.names))
        yield from (group[i : i + at_once] for i in range(0, len(group), at_once))


def _fit_group(
    kind: str,
    policies: Sequence[AnyPolicy],
    problems: Sequence[Problem],
    stages: Sequence[Stage],
    rng: np.random.Generator,
) -> Iterator[Fitted]:
    """Train each policy on its problem and yield the results."""
    stack: Any = make_stack(kind, policies) if len(policies) > 1 else None
    if stack is None:
        for policy, problem in zip(policies, problems, strict=True):
            single = [_with_problems(stage, 1) for stage in stages]
            yield fit(policy, [problem], single, rng)
        return
    encoded = [
        replace(one, member=k)  # type: ignore[type-var]  # stackable ones have a member
        for k, one in enumerate(encoded_by(stack, problems))
    ]
    joint = [_with_problems(stage, len(problems)) for stage in stages]
    fitted = run_loop(stack, encoded, joint, rng)
    for k, policy in enumerate(stack.unstacked()):
        yield Fitted(
            policy,
            fitted.records,
            fitted.best[k : k + 1],
            fitted.best_rewards[:, k : k + 1],
            fitted.evaluations[k : k + 1],
        )


def _with_problems(stage: Stage, count: int) -> Stage:
    """Return a copy of a stage in which every step has `count` problems, without other limits."""
    return stage.model_copy(update={"problems_per_step": count, "scores_per_step": 0})
