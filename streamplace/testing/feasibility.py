"""Checks that placements respect constraints, and that all evaluations of them are counted."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from streamplace.policy.base import AnyPolicy, constructive
from streamplace.policy.decoding import Sampler
from streamplace.policy.placer import PolicyPlacer
from streamplace.policy.weights import pack_policy
from streamplace.problem.constraints import Constraints
from streamplace.problem.problem import Problem
from streamplace.scoring.makespan_evaluator import MakespanEvaluator
from streamplace.scoring.throughput_evaluator import ThroughputEvaluator
from streamplace.testing.case import PolicyCase, batch_of, generator, rolled_out
from streamplace.training.in_memory import fit
from streamplace.training.stages import ReinforceStage

SAMPLES = 3
OF_PLACEMENTS = ("makespans", "throughput", "quality", "loss", "trace", "score", "worst_case")
OF_A_PROBLEM = ("throughput_at",)  # the first argument is the problem at one source rate


def check_constraints(case: PolicyCase) -> None:
    """Check the devices of samples, and the placements of the placer `policy:file=…`.

    Samples must respect pins and allowed devices, unless the case is `repaired`. Colocation and
    exlocation may be left to the placer's repair.
    """
    policy = case.policy()
    if not case.repaired:
        for problem in _restricted(case):
            _check_samples(case, policy, problem)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "policy.safetensors"
        file.write_bytes(pack_policy(policy, case.section, {}))
        placer = PolicyPlacer(samples=SAMPLES, file=str(file))
        for problem in (*_restricted(case), *_grouped(case)):
            placed = placer(problem, np.random.default_rng(0))
            broken = problem.feasibility.violation(placed.devices)
            fault = f"a placement violates a constraint: {broken}"
            case.require(broken is None, "constraints", fault)


def _check_samples(case: PolicyCase, policy: AnyPolicy, problem: Problem) -> None:
    """Require samples to use allowed devices before any repair."""
    rules, names = problem.feasibility, problem.graph.names
    with torch.no_grad():
        rows = rolled_out(policy, [problem], SAMPLES, Sampler(generator())).placements[0]
    for sample, operator in np.argwhere(~rules.allowed[rules.unit_of, rows]).tolist():
        device = problem.cluster.names[rows[sample, operator]]
        fault = (
            f"a sample places operator {names[operator]!r} on device {device!r}, which its "
            "constraints forbid; if repair handles them, set PolicyCase(repaired=True)"
        )
        raise AssertionError(f"{case.kind}: constraints: {fault}")


def _restricted(case: PolicyCase) -> Iterator[Problem]:
    """Yield problems with a pin or with allowed devices."""
    for problem in case.problems():
        names, devices = problem.graph.names, problem.cluster.names
        yield problem.with_constraints(Constraints(pins={names[0]: devices[-1]}))
        few = dict.fromkeys(names[1:4], devices[:1])
        yield problem.with_constraints(Constraints(allowed=few))


def _grouped(case: PolicyCase) -> Iterator[Problem]:
    """Yield problems with a colocated or an exlocated group."""
    for problem in case.problems():
        names, devices = problem.graph.names, problem.cluster.names
        yield problem.with_constraints(Constraints(colocate=[names[:3]]))
        apart = names[: min(3, len(devices))]
        yield problem.with_constraints(Constraints(exlocate=[apart]))


@dataclass
class Count:
    """A number of placements that were scored."""

    placements: int = 0


def check_evaluations(case: PolicyCase) -> None:
    """Check that rollouts score no placements, and that training counts all that it scores."""
    policy, problems = constructive(case.policy()), case.problems()
    batch = batch_of(policy, *problems)
    with counted_evaluations() as count:
        policy.rollout(batch, SAMPLES, Sampler(generator()))
        policy.sample(batch, SAMPLES, Sampler(generator()))
    fault = f"rollouts score placements that are not counted ({count.placements})"
    case.require(count.placements == 0, "evaluations", fault)
    stage = ReinforceStage(algorithm="reinforce", epochs=1, problems_per_step=2, samples=SAMPLES)
    with counted_evaluations() as count:
        fitted = fit(policy, problems, [stage], np.random.default_rng(0))
    total = sum(fitted.evaluations)
    fault = f"training counts {total} evaluations but makes {count.placements}"
    case.require(total == count.placements, "evaluations", fault)


@contextmanager
def counted_evaluations() -> Iterator[Count]:
    """Count the placements that any evaluator scores within the context, at every source rate.

    Evaluators of user-defined objectives are included. A placement is counted once when a method
    calls another that also counts.
    """
    count = Count()
    with ExitStack() as patches:
        for cls in _with_subclasses(ThroughputEvaluator) | {MakespanEvaluator}:
            for name in (*OF_A_PROBLEM, *OF_PLACEMENTS):
                method = vars(cls).get(name)
                if method is not None and not getattr(method, "__isabstractmethod__", False):
                    counting = _counting(method, count, first=int(name in OF_A_PROBLEM))
                    patches.enter_context(patch.object(cls, name, counting))
        yield count


def _with_subclasses(cls: type) -> set[type]:
    """Return a class and all its subclasses."""
    return {cls}.union(*map(_with_subclasses, cls.__subclasses__()))


def _counting(method: Callable[..., Any], count: Count, first: int) -> Callable[..., Any]:
    """Wrap a method of an evaluator to count its placements, which are positional argument `first`.

    If the method calls another that counts, the placements are not counted again.
    """

    @wraps(method)
    def counted(self: Any, *arguments: Any, **named: Any) -> Any:
        before = count.placements
        made = method(self, *arguments, **named)
        if count.placements == before:
            devices = named["devices"] if "devices" in named else arguments[first]
            count.placements += len(np.atleast_2d(devices))
        return made

    return counted
