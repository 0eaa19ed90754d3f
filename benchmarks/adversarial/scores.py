"""The placers of adversarial search, and the ratio of the makespans of two of them."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import permutations

import numpy as np

import streamplace as sp
from benchmarks.adversarial.problems import Instance
from benchmarks.schedulers.instances import by_start, instance_of
from benchmarks.schedulers.library import FailedError, Library, Made
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.placers.registry import make_placer

EVALUATIONS = 1_000
PLACERS = {
    "auto": f"auto:evaluations={EVALUATIONS}",
    "search": f"search:evaluations={EVALUATIONS}",
    "climb": f"climb:evaluations={EVALUATIONS}",
    "heft": "heft",
    "peft": "peft",
    "cpop": "cpop",
}
MEMBERS = {
    "heft:contention": "heft:contention=true",
    "critical-path": "critical-path:samples=50",
    "random-eft": "random-eft:samples=50",
    "enumerative": "enumerative",
    "metis": "metis",
    "metis-recursive": "metis-recursive",
    "metis-oracle": "metis-oracle",
    "single": "single",
}
"""Further placers that only `auto` is compared with."""
TEXTS = PLACERS | MEMBERS
SAGA, INTERPRETER = "saga", "STREAMPLACE_SAGA_PYTHON"
LIMIT = 1.0  # CPU seconds of a scheduler of SAGA
PAIRS = (
    *permutations(PLACERS, 2),
    *(("auto", rival) for rival in MEMBERS),
    ("auto", SAGA),
    (SAGA, "auto"),
)
"""Each placer, and the rival beside which it is to be worst."""

Score = Callable[[sp.Problem, int], float]
"""Returns the makespan of a placer on a problem with a seed, in seconds."""


def makespan(text: str, problem: sp.Problem, seed: int) -> float:
    """Return the makespan of a placer's placement, in seconds, by the simulator."""
    placement = make_placer(text)(problem, np.random.default_rng(seed))
    return float(MakespanEvaluator(problem).makespans(placement.devices)[0])


def best_of(library: Library) -> Score:
    """Return a score: our makespan of the shortest schedule of all schedulers of a library.

    It raises SystemExit if none of them returns a schedule.
    """

    @lru_cache(maxsize=1)
    def score(problem: sp.Problem) -> float:
        instance = instance_of("adversarial", problem)
        found = list[Made]()
        for name in library.names:
            with suppress(FailedError):
                found.append(library.schedule(name, instance, LIMIT))
        if not found:
            raise SystemExit(f"{library.name}: no scheduler returned a schedule in {LIMIT:g} s")
        best = min(found, key=lambda made: made.makespan)
        return instance.replayed(best.devices, by_start(problem, best.start))

    return lambda problem, _: score(problem)


def pair(placer: str, rival: str, scores: Mapping[str, Score]) -> tuple[Score, Score]:
    """Return the scores of a placer and its rival, which may choose the order beside SAGA."""
    both = scores[placer], scores[rival]
    if placer == SAGA:
        return both[0], in_any_order(both[1])
    return (in_any_order(both[0]), both[1]) if rival == SAGA else both


def in_any_order(score: Score) -> Score:
    """Return a score of the problem in which a placer may choose the order."""
    objective = sp.Makespan(order="any")
    return lambda problem, seed: score(problem.with_objective(objective), seed)


def ratios(
    placer: Score, rival: Score, instance: Instance, seeds: Iterable[int] = (0,)
) -> list[float]:
    """Return the makespan of a placer over that of a rival for every seed; 1 if both are 0."""
    problem = instance.problem()
    pairs = ((placer(problem, seed), rival(problem, seed)) for seed in seeds)
    return [1.0 if ours == theirs else ours / max(theirs, 1e-9) for ours, theirs in pairs]
