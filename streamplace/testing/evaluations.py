"""Checks that all evaluations of placements are counted."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from streamplace.learning.policy.base import Constructive, Refiner
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.training.in_memory import fit
from streamplace.learning.training.stages import Stage
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.scoring.evaluator import OtherLoss, Placements
from streamplace.scoring.registry import evaluator
from streamplace.scoring.throughput_evaluator import ThroughputEvaluator
from streamplace.testing.case import PolicyCase, batch_of, generator, rolled_out
from streamplace.util.arrays import Floats

SAMPLES = 3
OF_PLACEMENTS = ("makespans", "throughput", "quality", "loss", "trace", "score", "worst_case")
OF_A_PROBLEM = ("throughput_at",)  # the first argument is the problem at one source rate


@dataclass
class Count:
    """A number of placements that were scored."""

    placements: int = 0


def check_evaluations(case: PolicyCase) -> None:
    """Check that rollouts score no placements, and that training counts all that it scores."""
    policy, problems = Constructive.of(case.policy()), case.problems()
    batch = batch_of(policy, *problems)
    with counted_evaluations() as count:
        policy.rollout(batch, SAMPLES, Sampler(generator()))
        policy.sample(batch, SAMPLES, Sampler(generator()))
    fault = f"rollouts score placements that are not counted ({count.placements})"
    case.require(count.placements == 0, "evaluations", fault)
    keys = {"algorithm": "reinforce", "epochs": 1, "problems_per_step": 2, "samples": SAMPLES}
    stage = Stage.of(keys)
    with counted_evaluations() as count:
        fitted = fit(policy, problems, [stage], np.random.default_rng(0))
    total = sum(fitted.evaluations)
    fault = f"training counts {total} evaluations but makes {count.placements}"
    case.require(total == count.placements, "evaluations", fault)


def check_refiner_evaluations(case: PolicyCase) -> None:
    """Check that rollouts score no more than one placement per step, and that training counts."""
    policy, problems = Refiner.of(case.policy()), case.problems()
    counting = [_Counting(evaluator(problem)) for problem in problems]
    with torch.no_grad():
        made = rolled_out(policy, problems, SAMPLES, Sampler(generator()), counting)
    for p, counted in enumerate(counting):
        most = SAMPLES * (int(made.mask[p, 0].sum()) + 1)
        scored = sum(counted.counts)
        fault = f"a rollout scores {scored} placements in {most} steps and starts"
        case.require(0 < scored <= most, "evaluations", fault)
    keys = {"algorithm": "reinforce-steps", "epochs": 2, "evaluate_every": 2, "samples": SAMPLES}
    fitted = fit(policy, problems, [Stage.of(keys)], np.random.default_rng(0))
    batch = batch_of(policy, *problems)
    episodes = 2 * SAMPLES
    expected = [episodes * (policy.episode(one) + 1) for one in batch.encoded]
    found = list(fitted.evaluations)
    fault = f"training counts {found} evaluations in {expected} steps and starts"
    case.require(found == expected, "evaluations", fault)


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
                    counting = _count_calls(method, count, first=int(name in OF_A_PROBLEM))
                    patches.enter_context(patch.object(cls, name, counting))
        yield count


def _with_subclasses(cls: type) -> set[type]:
    """Return a class and all its subclasses."""
    return {cls}.union(*map(_with_subclasses, cls.__subclasses__()))


def _count_calls(method: Callable[..., Any], count: Count, first: int) -> Callable[..., Any]:
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


@dataclass(frozen=True)
class _Counting(OtherLoss):
    """An evaluator with the same loss, which counts the placements of each call for it."""

    counts: list[int] = field(default_factory=list)

    def loss(self, devices: Placements) -> Floats:
        self.counts.append(len(np.atleast_2d(devices)))
        return self.of.loss(devices)
