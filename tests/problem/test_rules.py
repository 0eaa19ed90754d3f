"""Single rules of a problem, by the names that files use."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streamplace import Cluster, Constraints, Device, Operator, Stream, StreamGraph
from streamplace.problem.feasibility import Feasibility
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.rules import Rule, RuledParts, violations
from tests.support.strategies import constrained_problems

GRAPH = StreamGraph(
    [
        Operator("a", 5, 10, memory_bytes=4, requires=("gpu",)),
        Operator("b", 7, 10, memory_bytes=3, cores=2),
        Operator("c", 7, 10),
        Operator("d", 7, 10, requires=("ssd",)),
    ],
    [Stream("a", "b", 0.5), Stream("c", "b")],
    name="job",
    source_rate=10,
    source_shares={"a": 0.5, "c": 0.25, "d": 0.25},
)
CLUSTER = Cluster(
    [
        Device("x", 10, memory_bytes=5, labels=("gpu", "ssd")),
        Device("y", 20, memory_bytes=100, slots=4),
        Device("z", 20, slots=3),
    ]
)
RULES = Constraints(
    pins={"a": "x"},
    colocate=[["a", "b"], ["b", "c"]],
    exlocate=[["c", "d"]],
    allowed={"b": ["x", "y"]},
    apart_groups=[["a", "d"]],
)
PARTS = RuledParts(GRAPH, CLUSTER, RULES)


def test_rules_have_the_names_of_the_files() -> None:
    """The memory and slots of y cannot run out, and the memory of z has no limit."""
    assert [str(rule) for rule in PARTS.rules()] == [
        "memory of x",
        "slots of z",
        "requires of a",
        "requires of d",
        "constraints.pins['a']",
        "constraints.allowed['b']",
        "constraints.colocate[0]",
        "constraints.colocate[1]",
        "constraints.exlocate[0]",
        "constraints.apart_groups[0]",
    ]


def test_only_some_rules() -> None:
    kept = {Rule("memory", "x"), Rule("slots", "z"), Rule("requires", "d"), Rule("colocate", 1)}
    graph, cluster, rules = PARTS.with_only(kept)
    assert graph.names == GRAPH.names
    assert graph.memory_bytes.tolist() == [4, 3, 0, 0]
    assert graph.requires == {3: ("ssd",)}
    assert len(graph.streams) == 0
    assert [device.memory_bytes for device in cluster.devices] == [5, None, None]
    assert [device.slots for device in cluster.devices] == [None, None, 3]
    assert rules == Constraints(colocate=[["b", "c"]])
    nothing = PARTS.with_only(())
    assert Feasibility(*nothing).is_free
    assert [*nothing.rules()] == []


def test_without_one_rule_the_others_and_the_numbers_stay() -> None:
    rules = [*PARTS.rules()]
    for rule in rules:
        left = PARTS.without(rule)
        assert len([*left.rules()]) == len(rules) - 1
        same = left.graph == GRAPH, left.cluster == CLUSTER, left.constraints == RULES
        assert same == (
            rule.kind != "requires",
            rule.kind not in ("memory", "slots"),
            rule.kind in ("requires", "memory", "slots"),
        )
    changed = PARTS.without(Rule("requires", "a")).graph
    assert changed.requires == {3: ("ssd",)}
    assert (changed.name, changed.source_rate, changed.cores.tolist()) == ("job", 10, [1, 2, 1, 1])
    assert changed.source_share.tolist() == GRAPH.source_share.tolist()
    assert changed.selectivity.tolist() == GRAPH.selectivity.tolist()


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


def test_rules_of_parallel_operators_are_as_stated() -> None:
    """The second group of the file stays the second, however many instances the first has."""
    graph = StreamGraph(
        [
            Operator("a", 1, 1, parallelism=3, requires=("ssd",)),
            Operator("b", 1, 1, parallelism=2),
            Operator("c", 1, 1),
        ],
        source_rate=1,
    )
    rules = Constraints(
        pins={"b[1]": "y", "b": "x"}, exlocate=[["a", "b"], ["b", "c"]], colocate=[["a[0]", "c"]]
    )
    ssd = ("ssd",)
    cluster = Cluster([Device("x", 1, labels=ssd), Device("y", 1), Device("z", 1, labels=ssd)])
    problem = Problem(graph, cluster, constraints=rules)
    assert problem.constraints.pins == {"b[0]": "x", "b[1]": "y"}
    assert [str(rule) for rule in RuledParts.of(problem).rules()] == [
        "requires of a",
        "constraints.pins['b[1]']",
        "constraints.pins['b']",
        "constraints.colocate[0]",
        "constraints.exlocate[0]",
        "constraints.exlocate[1]",
    ]
    less = RuledParts.of(problem).without(Rule("exlocate", 0))
    left = Problem(*less[:2], constraints=less.constraints).constraints
    assert left.exlocate == (("b[0]", "c"), ("b[1]", "c"))
    assert not RuledParts.of(problem).without(Rule("requires", "a")).graph.requires
    found = violations(Placement(problem, [0, 1, 1, 1, 0, 1]))
    assert {str(each.rule): each.why for each in found} == {
        "constraints.pins['b[1]']": "'b[1]' is on 'x' instead of 'y'",
        "constraints.pins['b']": "'b[0]' is on 'y' instead of 'x'",
        "constraints.colocate[0]": "'a[0]', 'c' are on 'x', 'y'",
        "constraints.exlocate[0]": "'a[0]', 'b[1]' share 'x'; 'a[1]', 'a[2]', 'b[0]' share 'y'",
        "constraints.exlocate[1]": "'b[0]', 'c' share 'y'",
        "requires of a": (
            "'a[1]' is on 'y', which lacks 'ssd'; 'a[2]' is on 'y', which lacks 'ssd'"
        ),
    }


@pytest.mark.parametrize(
    ("rules", "on", "expected"),
    [
        (
            Constraints(pins={"a": "x"}, allowed={"a[1]": ["x", "y"]}),
            [0, 1],
            {"constraints.pins['a']": "'a[1]' is on 'y' instead of 'x'"},
        ),
        (
            Constraints(pins={"a[1]": "x"}, allowed={"a": ["x", "y"]}),
            [0, 2],
            {
                "constraints.pins['a[1]']": "'a[1]' is on 'z' instead of 'x'",
                "constraints.allowed['a']": "'a[1]' is on 'z', allowed are 'x', 'y'",
            },
        ),
    ],
)
def test_a_pin_of_an_instance_leaves_the_devices_that_its_operator_is_allowed(
    rules: Constraints, on: list[int], expected: dict[str, str]
) -> None:
    graph = StreamGraph([Operator("a", 1, 1, parallelism=2)], source_rate=1)
    cluster = Cluster([Device(name, 1) for name in "xyz"])
    found = violations(Placement(Problem(graph, cluster, constraints=rules), on))
    assert {str(each.rule): each.why for each in found} == expected
