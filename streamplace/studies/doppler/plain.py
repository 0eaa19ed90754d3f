"""Placers without training on the workloads of the study."""

import time
from collections.abc import Iterator, Mapping

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.running import run_placer
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.studies.doppler.lowest import Lowest
from streamplace.studies.doppler.registered import Registered
from streamplace.studies.study import Row

ONE_DEVICE, CRITICAL_PATH = "one device", "critical path"
BEST_CRITICAL_PATH, BEST_RANDOM = "critical path, best of 50", "random, best of 200"
HEFT, CONTENTION, PEFT = "HEFT", "HEFT with contention", "PEFT"
ENUMERATIVE = "EnumerativeOptimizer"
CLIMB, SEARCH, LONG_SEARCH = "climb", "search", "long search"

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
