"""Trainings of HSDAG and of its variants, with the groups of their best placements."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from math import inf

import numpy as np

from streamplace.policy.fresh import new_policy
from streamplace.policy.hsdag.policy import Hsdag
from streamplace.policy.hsdag.walking import Walk
from streamplace.problem.grouping import Grouping
from streamplace.problem.problem import Problem
from streamplace.studies.hsdag.groups import FIXED, Fixed
from streamplace.studies.hsdag.plain import alone
from streamplace.studies.hsdag.registered import ABLATIONS, FACTOR, LONGER, Registered, Variant
from streamplace.studies.hsdag.workloads import network_problem
from streamplace.studies.study import Row
from streamplace.training.hsdag_placer import HsdagPlacer
from streamplace.training.in_memory import fit


@dataclass
class Made:
    """What a policy has made itself, without the starts of its episodes.

    Attributes
    ----------
    seconds
        The makespan of its shortest placement.
    grouping
        The groups by which that was made; None before the first one.
    means_s
        The geometric mean of the makespans of each update's placements.
    """

    seconds: float = inf
    grouping: Grouping | None = None
    means_s: list[float] = field(default_factory=list)

    def watch(self, walks: Sequence[Walk]) -> None:
        """Add the walks of an update."""
        losses = np.concatenate([walk.losses[1:] for walk in walks])
        self.means_s.append(float(np.exp(np.log(losses).mean())))
        for walk in walks:
            step = int(walk.losses[1:].argmin())
            if walk.losses[step + 1] < self.seconds:
                one, offer = walk.one, walk.steps[step].offer
                of_operators = offer.group_of[one.grouping.group_of]
                self.seconds = float(walk.losses[step + 1])
                self.grouping = Grouping(one.problem.graph, of_operators)


def trained(
    system: str, problem: Problem, size: Registered, seed: int
) -> tuple[Row, Grouping | None]:
    """Train a policy on a problem; return its row, and the groups of its best placement.

    Parameters
    ----------
    system
        HSDAG, one of `FIXED` or one of `ABLATIONS`.
    """
    _warm_up()
    begun = time.process_time()
    variant = ABLATIONS.get(system, Variant())
    episodes = size.episodes * (FACTOR if system == LONGER else 1)
    options = {"episodes": episodes, "samples": size.samples, "steps": size.steps}
    placer = HsdagPlacer(**(options | dict(variant.options)))  # type: ignore[arg-type]  # numbers
    section, stage = placer.section(problem), placer.stage(problem)
    sizes = section.sizes.model_copy(update=dict(variant.sizes))
    start = {"start": "round-robin"} if all(s is None for s in alone(problem).values()) else {}
    stage = stage.model_copy(update=dict(variant.stage) | start)
    policy = new_policy(section.model_copy(update={"sizes": sizes}), seed)
    assert isinstance(policy, Hsdag), "it is of that kind"
    if system in FIXED:
        policy.network.parser = Fixed(FIXED[system](policy.encode(problem)))
    made = Made()
    policy.watch = made.watch
    fitted = fit(policy, [problem], [stage], np.random.default_rng(seed))
    spent = time.process_time() - begun
    lowest = np.exp(-fitted.best_rewards[:, 0])
    row = {
        "system": system,
        "best_s": float(lowest[-1]),
        "own_s": made.seconds,
        "groups": None if made.grouping is None else made.grouping.count,
        "lowest_s": [float(seconds) for seconds in lowest],
        "means_s": made.means_s,
        "evaluations": fitted.evaluations[0],
        "cpu_s": spent,
    }
    return row, made.grouping


@cache
def _warm_up() -> None:
    """Load kernels, so that the first training of a process does not count the seconds of that."""
    problem = network_problem("resnet50")
    placer = HsdagPlacer(episodes=1, samples=2, steps=1)
    stages = [placer.stage(problem)]
    policy = new_policy(placer.section(problem), 0)
    fit(policy, [problem], stages, np.random.default_rng(0))
