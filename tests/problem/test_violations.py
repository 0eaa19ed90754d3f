"""Violated rules, compared with the check that finds the first of them."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from streamplace import Cluster, Constraints, Device, Operator, StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.violations import violations
from tests.support.strategies import constrained_problems


@given(constrained_problems(), st.data())
def test_a_placement_is_feasible_if_it_violates_no_rule(
    problem: Problem | None, data: st.DataObject
) -> None:
    assume(problem is not None)
    assert problem is not None
    count = len(problem.graph.names)
    devices = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    placement = Placement(problem, devices)
    first = problem.feasibility.violation(np.array(devices, np.int32))
    assert (first is None) == (not [*violations(placement)])


def test_every_violated_rule_is_listed() -> None:
    graph = StreamGraph(
        [
            Operator("a", 1, 1, memory_bytes=4e9),
            Operator("b", 1, 1, memory_bytes=3e9),
            Operator("c", 1, 1, requires=("gpu", "ssd")),
            Operator("d", 1, 1),
        ],
        source_rate=1,
    )
    cluster = Cluster(
        [
            Device("x", 1, memory_bytes=5e9, group="rack"),
            Device("y", 1, labels=("ssd",), group="rack"),
            Device("z", 1, labels=("ssd", "gpu")),
        ]
    )
    rules = Constraints(
        pins={"a": "x", "d": "z"},
        colocate=[["c", "d"]],
        exlocate=[["a", "b", "d"]],
        allowed={"b": ["y", "z"], "c": ["y", "z"]},
        apart_groups=[["b", "d"], ["a", "c"]],
    )
    problem = Problem(graph, cluster, constraints=rules)
    assert [*violations(Placement(problem, [0, 1, 2, 2]))] == []
    broken = Placement(problem, [0, 0, 1, 0])
    assert {str(each.rule): each.why for each in violations(broken)} == {
        "constraints.pins['d']": "'d' is on 'x' instead of 'z'",
        "constraints.allowed['b']": "'b' is on 'x', allowed are 'y', 'z'",
        "constraints.colocate[0]": "'c', 'd' are on 'y', 'x'",
        "constraints.exlocate[0]": "'a', 'b', 'd' share 'x'",
        "constraints.apart_groups[0]": "'b', 'd' share 'rack'",
        "constraints.apart_groups[1]": "'a', 'c' share 'rack'",
        "requires of c": "'c' is on 'y', which lacks 'gpu'",
        "memory of x": "it needs 7 GB but has 5 GB",
    }
