"""The check that evaluations, by which searches and policies are compared, are all counted."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamplace.policy.decoding import Sampler
from streamplace.scoring.registry import THROUGHPUT
from streamplace.testing.case import PolicyCase, batch_of, generator
from streamplace.training.in_memory import fit
from streamplace.training.stages import ReinforceStage

SAMPLES = 3


@dataclass
class Count:
    """A number of placements that were scored."""

    placements: int = 0


def check_evaluations(case: PolicyCase) -> None:
    """Check that rollouts score nothing, and that training counts everything it scores."""
    policy, problems = case.policy(), case.problems()
    batch = batch_of(policy, *problems)
    with counted_evaluations() as count:
        policy.rollout(batch, SAMPLES, Sampler(generator()))
    fault = f"a rollout scores {count.placements} placements, which nobody counts"
    case.require(count.placements == 0, "evaluations", fault)
    stage = ReinforceStage(algorithm="reinforce", epochs=1, problems_per_step=2, samples=SAMPLES)
    with counted_evaluations() as count:
        fitted = fit(policy, problems, [stage], np.random.default_rng(0))
    total = sum(fitted.evaluations)
    fault = f"training counts {total} evaluations and makes {count.placements}"
    case.require(total == count.placements, "evaluations", fault)


@contextmanager
def counted_evaluations() -> Iterator[Count]:
    """Count the placements that any evaluator scores meanwhile, at every source rate."""
    count = Count()
    before = {cls: cls.throughput_at for cls in THROUGHPUT.values()}

    def counting(original: Any) -> Any:
        def throughput_at(self: Any, problem: Any, devices: Any) -> Any:
            count.placements += len(np.atleast_2d(devices))
            return original(self, problem, devices)

        return throughput_at

    for cls, original in before.items():
        setattr(cls, "throughput_at", counting(original))  # noqa: B010 - types of methods are fixed
    try:
        yield count
    finally:
        for cls, original in before.items():
            setattr(cls, "throughput_at", original)  # noqa: B010
