"""Instances: problems as local search in `sim` sees them."""

from weakref import WeakKeyDictionary

import numpy as np

from sim.bottleneck import lowest_utilisation
from sim.search import Instance, instance
from streamplace.flows import flow
from streamplace.problem import Problem

_INSTANCES: WeakKeyDictionary[Problem, Instance] = WeakKeyDictionary()


def instance_of(problem: Problem) -> Instance:
    """Return the units of a problem, made once; loads are relative to the least possible one."""
    if problem not in _INSTANCES:
        _INSTANCES[problem] = _make_instance(problem)
    return _INSTANCES[problem]


def _make_instance(problem: Problem) -> Instance:
    arrays, rules = flow(problem), problem.feasibility
    masks, row_of = rules.unit_masks
    return instance(
        arrays,
        rules.unit_of,
        lowest_utilisation(arrays),
        masks,
        row_of,
        rules.unit_memory.astype(np.float64),
        problem.cluster.memory_bytes,
        rules.excluding,
    )
