"""Problems under the makespan objective from the random forms of `schedule_problems`."""

from dataclasses import asdict
from itertools import product
from random import Random

import numpy as np

import streamplace as sp
from benchmarks.reference.schedule_placements import placement_of
from benchmarks.reference.schedule_problems import schedule_problem
from streamplace.errors import InfeasibleError
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.makespan.score import MakespanScore
from streamplace.makespan.total_cost import TotalCost
from streamplace.problem.constraints import Constraints
from streamplace.util.arrays import Ints


def makespan_problem(seed: int, *, large: bool = False) -> sp.Problem:
    """Return a problem without constraints other than labels and kinds of devices."""
    return placement_of(**schedule_problem(seed, large=large)).problem


def constrained_makespan_problem(seed: int) -> sp.Problem | None:
    """Return a problem with random constraints; None if it is proven infeasible."""
    problem, rng = makespan_problem(seed), Random(f"constraints {seed}")
    names, devices = problem.graph.names, problem.cluster.names
    some = [rng.sample(names, min(len(names), rng.choice((2, 2, 3)))) for _ in range(2)]
    rules = Constraints(
        pins={rng.choice(names): rng.choice(devices)} if rng.random() < 0.4 else {},
        colocate=some[:1] if rng.random() < 0.5 else [],
        exlocate=some[1:] if rng.random() < 0.5 else [],
    )
    try:
        return problem.with_constraints(rules)
    except InfeasibleError:
        return None


def of_total_cost(problem: sp.Problem, **changes: object) -> sp.Problem:
    """Return a makespan problem with the objective of the same pass's total cost."""
    settings = asdict(problem.makespan_objective) | changes
    return problem.with_objective(TotalCost(**settings))


def feasible_rows(problem: sp.Problem, most: int) -> Ints | None:
    """Return all feasible placements of a problem, (K, V); None if there are more than `most`."""
    feasibility = problem.feasibility
    choices = [np.flatnonzero(row) for row in feasibility.allowed]
    if np.prod([float(len(each)) for each in choices]) > most:
        return None
    rows = np.array(list(product(*choices)), np.int32)[:, feasibility.unit_of]
    feasible = [row for row in rows if feasibility.violation(row) is None]
    return np.array(feasible, np.int32).reshape(-1, len(feasibility.unit_of))


def makespan_score(placement: sp.Placement) -> MakespanScore:
    """Return the score of a placement whose objective is about one pass."""
    return makespan_evaluator(placement.problem).score(placement.devices)


def makespan_of(placement: sp.Placement) -> float:
    """Return the makespan of a placement in seconds."""
    return float(makespan_evaluator(placement.problem).makespans(placement.devices)[0])
