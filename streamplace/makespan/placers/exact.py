"""The placer `exact` under the makespan objective."""

from contextlib import suppress

import numpy as np

from streamplace.errors import Fault, ObjectiveError, UsageError
from streamplace.makespan.placers.passes import pass_evaluator
from streamplace.makespan.placers.proof import PassProof
from streamplace.placers.base import Found
from streamplace.placers.budget import Budget
from streamplace.placers.search.search import Search
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem

# Of the initial search, whose placement lets both proofs cut off more; a guess, not tuned.
CHANGES, CHANGES_PER_UNIT = 2_000, 500
MAX_CELLS = 1 << 24  # operators x (operators + devices): larger tables take too much memory
# The enumeration alone knows the order of the objective, and where it ends, CP-SAT is not needed.
# It got .15 until work at prices of devices made it stronger.
FIRST_SHARE = 0.4  # of the time, for the enumeration before CP-SAT
CP_SAT_SHARE = 0.5  # of the time that is then left; the rest is for the enumeration again. A guess


def prove_pass(
    problem: Problem,
    rng: np.random.Generator,
    start: Placement | None,
    seconds: float,
    workers: int,
) -> Found:
    """Return the best placement found, and a lower bound on the makespan of all placements.

    The enumeration follows the engine, so that it proves an optimum under the order of the
    objective. CP-SAT bounds the makespan under any order, and its placements are simulated.
    """
    scored = pass_evaluator(problem, "exact")
    if problem.makespan_objective.noise:
        fault = "placer 'exact' supports makespans without noise only"
        raise ObjectiveError(Fault(fault, remedy="with noise use auto or search"))
    budget = Budget(seconds)
    units = problem.feasibility.unit_count
    search = Search(evaluations=CHANGES + CHANGES_PER_UNIT * units, seconds=seconds)
    found = search(problem, rng, start)
    proof = PassProof(scored, found.devices)
    tasks = scored.tasks
    if proof.closed or tasks.operators * (tasks.operators + tasks.devices) > MAX_CELLS:
        return proof.result()
    proof.report()
    proof.enumerate(Budget(FIRST_SHARE * budget.seconds_left()))
    if not proof.closed:
        proof.report()
        with suppress(UsageError):  # OR-tools is not installed
            limit = CP_SAT_SHARE * budget.seconds_left()
            proof.solve(limit, workers, int(rng.integers(2**31)))
    if not proof.proven:
        proof.report()
        proof.enumerate(budget)
    return proof.result()
