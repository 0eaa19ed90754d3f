"""The systems of the study: trainings with results at checkpoints, and plain placers."""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite
from typing import Any

import numpy as np

from streamplace.errors import PlacementError
from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.registry import policy_section
from streamplace.learning.policy.weights import new_policy
from streamplace.learning.training.in_memory import fit
from streamplace.learning.training.stages import Stage
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.doppler.study.registered import OF_SEARCH, SIZES, UNIFORM, Registered
from streamplace.papers.doppler.study.stages import (
    TEACHER_EVALUATIONS,
    imitation_of,
    placeto_stage,
    pretraining_of,
    simulation_of,
)
from streamplace.papers.placeto.trials import Trial, run_trial
from streamplace.papers.studies.study import Row
from streamplace.papers.studies.workloads import LONG_SEARCH
from streamplace.placers.repair import feasible
from streamplace.placers.running import run_placer
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints

ONE_DEVICE, CRITICAL_PATH = "one device", "critical path"
BEST_CRITICAL_PATH, BEST_RANDOM = "critical path, best of 50", "random, best of 200"
HEFT, CONTENTION, PEFT = "HEFT", "HEFT with contention", "PEFT"
ENUMERATIVE = "EnumerativeOptimizer"
CLIMB, SEARCH = "climb", "search"

FIXED: Mapping[str, str] = {
    ONE_DEVICE: "single",
    HEFT: "heft",
    CONTENTION: "heft:contention=true",
    PEFT: "peft",
    ENUMERATIVE: "enumerative",
}
"""Placers that choose nothing at random."""
START = "critical-path:samples=1"
DRAWN: Mapping[str, str] = {
    CRITICAL_PATH: START,
    BEST_CRITICAL_PATH: "critical-path:samples=50",
    BEST_RANDOM: "random:evaluations=200",
}
"""Placers with random choices, which run several times."""
PLAIN = (*FIXED, *DRAWN, CLIMB, SEARCH, LONG_SEARCH)
IMITATION, SIMULATION, ZERO_SHOT = "imitation", "simulation", "zero-shot"
SAMPLES = 8  # of a policy on a workload on which it was not trained
MOST_CHECKPOINTS = 8  # of Placeto, about


def plain(problem: Problem, size: Registered, seed: int) -> Iterator[Row]:
    """Yield the result of every placer and repeat.

    Climb improves a placement by the critical path, and search the best of that and of several list
    schedules, whose evaluations do not count.
    """
    evaluations = size.evaluations(len(problem.cluster.devices))
    improved = {
        CLIMB: f"climb:evaluations={evaluations}",
        SEARCH: f"search:evaluations={evaluations}",
        LONG_SEARCH: f"search:evaluations={size.longer * evaluations}",
    }
    for system, placer in FIXED.items():
        yield _row(problem, system, placer, (seed, 0))
    for repeat in range(size.repeats):
        own = (seed, repeat)
        for system, placer in DRAWN.items():
            yield _row(problem, system, placer, own)
        start = run_placer(problem, START, np.random.default_rng(own), None).placement
        for system, placer in improved.items():
            # not the numbers by which the start was drawn
            yield _row(problem, system, placer, (*own, 1), start)


def _row(
    problem: Problem,
    system: str,
    placer: str,
    seed: tuple[int, ...],
    start: Placement | None = None,
) -> Row:
    """Return the result of a placer; without makespans if it finds no feasible placement.

    Parameters
    ----------
    seed
        Its second number is that of the repeat.
    """
    lowest, evaluations, begun = Lowest(problem), None, time.process_time()
    try:
        found = run_placer(problem, placer, np.random.default_rng(seed), start)
    except PlacementError:
        pass  # one device has too little memory for all operators
    else:
        lowest.add(found.placement.devices)
        evaluations = found.evaluations
    return {
        "system": system,
        "repeat": seed[1],
        "best_s": lowest.known_s,
        "barrier_s": lowest.barrier_s,
        "evaluations": evaluations,
        "cpu_s": time.process_time() - begun,
    }


@dataclass(frozen=True)
class Reached:
    """What a policy reaches at a checkpoint: makespans in seconds, evaluations, CPU seconds."""

    episodes: int
    greedy_s: float | None
    evaluations: int
    cpu_s: float


class Training:
    """The training of a policy of the kind ``doppler`` on one problem.

    Parameters
    ----------
    policy
        It is changed in place.
    problem
        The problem, which may differ from the one on which the policy was trained before.
    seed
        Seed of all random choices.
    evaluations
        Evaluations that were made before, such as those of a teacher.
    """

    def __init__(
        self, policy: Constructive[Any, Any], problem: Problem, seed: int, evaluations: int = 0
    ) -> None:
        self._policy, self._problem, self._seed = policy, problem, seed
        self._evaluations = evaluations
        self._begun = time.process_time()
        self._batch = policy.batch([policy.encode(problem)])
        self._lowest = Lowest(problem)

    def imitate(self, stage: Stage) -> Iterator[Row]:
        """Train by imitation, and yield the row of what is reached."""
        fit(self._policy, [self._problem], [stage], np.random.default_rng([self._seed, 1]))
        yield self._row(IMITATION, self._reached(0), self._lowest.known_s)

    def simulate(self, stage: Stage, every: int) -> Iterator[Row]:
        """Train by simulation, and yield a row for each checkpoint.

        Parameters
        ----------
        every
            Episodes between checkpoints, which follow whole updates.
        """
        reached: dict[int, Reached] = {}
        done, samples = 0, int(stage.model_dump()["samples"])

        def watch(_: object) -> None:
            nonlocal done
            done += 1
            passed = done * samples // every > (done - 1) * samples // every
            if passed or done == stage.epochs:
                reached[done] = self._reached(done * samples)

        before, rng = self._lowest.seconds, np.random.default_rng([self._seed, 2])
        fitted = fit(self._policy, [self._problem], [stage], rng, on_step=watch)
        if fitted.best[0] is not None:
            self._lowest.add(fitted.best[0].devices)
        for step, one in reached.items():
            sampled = float(np.exp(-fitted.best_rewards[step - 1, 0]))
            greedy = [r.greedy_s for s, r in reached.items() if s <= step and r.greedy_s]
            best = min(before, sampled, *greedy)
            row = self._row(SIMULATION, one, best if np.isfinite(best) else None)
            # only the last row's placement is known
            yield row if step == stage.epochs else {**row, "barrier_s": None}

    def without_episodes(self) -> Iterator[Row]:
        """Yield the row of the greedy placement, and of the best of that and of some samples."""
        sampler = Sampler.seeded(self._seed)
        for devices in self._policy.sample(self._batch, SAMPLES, sampler)[0]:
            self._add(devices)
        self._evaluations += SAMPLES
        yield self._row(ZERO_SHOT, self._reached(0), self._lowest.known_s)

    def _reached(self, episodes: int) -> Reached:
        """Place greedily after some simulated episodes, which is one more evaluation."""
        greedy = self._add(self._policy.sample(self._batch, 1, Sampler())[0, 0])
        self._evaluations += 1
        spent = time.process_time() - self._begun
        return Reached(episodes, greedy, self._evaluations + episodes, spent)

    def _add(self, devices: Ints) -> float | None:
        """Return the makespan of a placement; None if it has no feasible repair."""
        with suppress(PlacementError):
            return self._lowest.add(feasible(self._problem, devices).devices)
        return None

    def _row(self, stage: str, reached: Reached, best_s: float | None) -> Row:
        return {
            "stage": stage,
            "episodes": reached.episodes,
            "greedy_s": reached.greedy_s,
            "best_s": best_s,
            "barrier_s": self._lowest.barrier_s,
            "evaluations": reached.evaluations,
            "cpu_s": reached.cpu_s,
        }


def trained(
    system: str, problem: Problem, size: Registered, seed: int
) -> tuple[Constructive[Any, Any], list[Row]]:
    """Return a trained policy of the kind ``doppler``, and the rows of its checkpoints."""
    section = policy_section({"kind": "doppler", "sizes": dict(SIZES.get(system, {}))})
    policy = Constructive.of(new_policy(section, seed))
    devices = len(problem.cluster.devices)
    before = TEACHER_EVALUATIONS if system == OF_SEARCH else 0
    training, imitation = Training(policy, problem, seed, before), imitation_of(system, size)
    rows = [] if imitation is None else list(training.imitate(imitation))
    rows += training.simulate(simulation_of(system, size, devices), size.every)
    return policy, rows


def placeto_rows(system: str, problem: Problem, size: Registered, seed: int) -> Iterator[Row]:
    """Yield the lowest makespan of Placeto or its control after each checkpoint, in whole sweeps.

    The sweeps of its imitation are simulated as well, but they find no placements and do not count.
    """
    begun, operators = time.process_time(), len(problem.graph.names)
    stage = placeto_stage(system, problem, size)
    trial = Trial(problem, seed=seed, uniform=system == UNIFORM)
    losses = run_trial(trial, stage, pretraining_of(system, size))
    spent = time.process_time() - begun
    last = stage.epochs * operators
    every = max(size.every, last // MOST_CHECKPOINTS)
    checkpoints = (ceil(n / operators) for n in range(every, last, every))
    for sweeps in sorted({*checkpoints, stage.epochs}):
        yield {
            "stage": SIMULATION,
            "episodes": sweeps * operators,
            "greedy_s": None,
            "best_s": float(losses[sweeps - 1]),
            "barrier_s": None,
            "evaluations": sweeps * operators + 1,
            "cpu_s": spent,
        }


@dataclass
class Lowest:
    """The placement of shortest makespan so far.

    Parameters
    ----------
    problem
        The problem of all placements.
    devices
        (V,) the placement; None before the first one.
    seconds
        Its makespan.
    """

    problem: Problem
    devices: Ints | None = None
    seconds: float = inf

    def add(self, devices: Ints) -> float:
        """Keep a placement, (V,), if it is shorter, and return its makespan in seconds."""
        seconds = float(makespan_evaluator(self.problem).makespans(devices)[0])
        if seconds < self.seconds:
            self.devices, self.seconds = devices, seconds
        return seconds

    @property
    def known_s(self) -> float | None:
        """The makespan as a JSON value, None before the first placement."""
        return self.seconds if isfinite(self.seconds) else None

    @property
    def barrier_s(self) -> float | None:
        """The makespan of the same placement if the operators of a level wait for the level before.

        As in the paper, levels follow each other.
        """
        if self.devices is None:
            return None
        objective = replace(self.problem.makespan_objective, barrier=True)
        waiting = self.problem.with_objective(objective)
        return float(makespan_evaluator(waiting).makespans(self.devices)[0])
