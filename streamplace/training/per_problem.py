"""Training of a separate policy for each problem, for studies of per-graph learning."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from streamplace.errors import UsageError
from streamplace.policy.base import AnyPolicy, refiner
from streamplace.policy.fresh import new_policy
from streamplace.policy.registry import PolicySection, make_stack
from streamplace.problem.problem import Problem
from streamplace.training.in_memory import Fitted, check_arguments, fit, run_loop
from streamplace.training.problems import encoded_by, refuse_makespans
from streamplace.training.stages import LARGEST_SEED, Stage, StepReinforceStage, measured_stages
from streamplace.util.checks import check_type


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
        refuse_makespans(policy, problem)
    if any(isinstance(stage, StepReinforceStage) for stage in stages):
        refiner(policy)


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
