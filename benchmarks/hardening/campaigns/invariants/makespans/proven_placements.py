"""Placers of makespans against all placements of small problems."""

from collections.abc import Iterator

import numpy as np

from benchmarks.hardening.campaigns.invariants.deviations import (
    relative_difference,
    relative_excess,
)
from benchmarks.hardening.campaigns.invariants.placer_invariance import placed
from benchmarks.reference.random_problems import feasible_placements
from benchmarks.reference.rules import obeying
from streamplace import Problem
from streamplace.placers.registry import names_for, ready_placer
from streamplace.scoring.registry import makespan_evaluator

MOST = 4096  # placements of a problem, all of which are tried
BOUND = "makespans: bound within the optimum of all placements"
EXACT_IS_OPTIMAL = "makespans: `exact` against the optimum of all placements"
PLACED = "makespans: placers, feasible and not below the optimum"
LIMITED_BY_COUNT = {
    "auto": "auto:evaluations=200",
    "search": "search:evaluations=200",
    "climb": "climb:evaluations=200",
    "random": "random:evaluations=20",
    "critical-path": "critical-path:samples=20",
    "random-eft": "random-eft:samples=20",
    "rnn": "rnn:steps=2:samples=2",
    "hsdag": "hsdag:episodes=2:steps=2:samples=2",
}
"""Placer -> the same placer with a limit on its work, and less of it than by default."""
# exact is left out, since its time limit makes it depend on the machine
PLACERS = (
    *(LIMITED_BY_COUNT.get(name, name) for name in names_for("makespan") if name != "exact"),
    "heft:contention",
    "peft:links",
)


def is_small(problem: Problem) -> bool:
    """Return whether a problem has few enough placements to try them all."""
    placements: int = len(problem.cluster.devices) ** len(problem.graph.names)
    return placements <= MOST


def checks_of(problem: Problem) -> Iterator[tuple[str, float]]:
    """Yield the name and the deviation of each invariant of a small problem's optimum."""
    feasible = [*feasible_placements(problem)]
    evaluator = makespan_evaluator(problem)
    optimum = min((float(evaluator.makespans(rows).min()) for rows in feasible), default=np.inf)
    yield BOUND, relative_excess(evaluator.compiled.bounds.best, optimum)
    for name in ("exact", *PLACERS):
        found = placed(name, ready_placer(name), problem)
        value = np.inf if found is None else float(evaluator.makespans(found)[0])
        if name == "exact":
            yield EXACT_IS_OPTIMAL, relative_difference(optimum, value)
            yield BOUND, relative_excess(evaluator.bound_s or 0.0, optimum)
        is_feasible = found is None or bool(obeying(problem, found[None])[0])
        yield PLACED, relative_excess(optimum, value) if is_feasible else np.inf
