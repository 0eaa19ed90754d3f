"""Greedy placement in any order, compared with all devices."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reference.strategies import problems
from streamplace import Problem
from streamplace.learning.policy.teachers import LeastUtilisation
from streamplace.problem.objectives import ORDERS
from streamplace.scoring.flow import flow
from streamplace.scoring.orders import traversal_order
from streamplace.sim.greedy import greedy


@given(problems(max_size=9), st.sampled_from(ORDERS))
def test_in_any_order_each_device_is_the_best_one_so_far(problem: Problem, name: str) -> None:
    """The teacher of policies judges every choice; it has its own implementation."""
    order = traversal_order(problem, name, 3)
    placed = greedy(flow(problem), *problem.feasibility.masks, order)
    teacher = LeastUtilisation([problem], 1)
    for v in order:
        best = teacher.judge(np.array([v], np.int32), placed[[v]])
        assert best[0, placed[v]], (name, v)


@settings(max_examples=30)
@given(problems(max_size=9))
def test_the_default_order_is_a_topological_one(problem: Problem) -> None:
    """Operators are sorted by their last incoming stream."""
    arrays, masks = flow(problem), problem.feasibility.masks
    by_default = greedy(arrays, *masks)
    last = [max(np.flatnonzero(arrays.target == v), default=-1) for v in range(arrays.operators)]
    order = np.array(sorted(range(arrays.operators), key=last.__getitem__), np.int32)
    assert by_default.tolist() == greedy(arrays, *masks, order).tolist()
