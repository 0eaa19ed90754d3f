"""Placements moved to a cluster that lacks some of their devices."""

from collections.abc import Mapping

import numpy as np

from streamplace.placers.repair import feasible
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Ints


def moved(problem: Problem, assignment: Mapping[str, str]) -> Ints:
    """Return a feasible placement, (V,), near an assignment that may use other devices.

    Units without a device go to the least loaded one, those with the most work first.

    Parameters
    ----------
    assignment
        Operator -> device, for all operators.

    Raises
    ------
    PlacementError, InfeasibleError
        If no feasible placement is found.
    """
    rules, index, capacity = problem.feasibility, problem.cluster.index, problem.cluster.capacity
    work = np.bincount(rules.unit_of, flow(problem).work)
    first = [problem.graph.names[v] for v in rules.first_of]
    on = np.array([index.get(assignment[name], -1) for name in first], dtype=np.int32)
    placed = on >= 0
    load = np.bincount(on[placed], work[placed], len(capacity)) / capacity
    for u in sorted(np.flatnonzero(~placed).tolist(), key=lambda u: -work[u]):
        choices = np.flatnonzero(rules.allowed[u])
        on[u] = choices[(load[choices] + work[u] / capacity[choices]).argmin()]
        load[on[u]] += work[u] / capacity[on[u]]
    return feasible(problem, on[rules.unit_of]).devices
