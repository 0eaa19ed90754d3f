"""Sizes of jobs whose instances have names or tasks."""

from dataclasses import replace
from typing import Any

import pytest

import streamplace as sp
from streamplace.capacity.size import size
from streamplace.capacity.sizing.instances import (
    named_instances,
    of_whole_operators,
    tasks_of,
)
from streamplace.capacity.sizing.requirements import Requirement
from streamplace.capacity.sizing.shares import Shares
from streamplace.errors import GraphError, InfeasibleError, ProblemError, UsageError
from streamplace.problem.counts import expanded


@pytest.mark.parametrize("colocate", [(), (("count", "sink"),)])
def test_larger_numbers_are_not_tried_where_the_busiest_instance_has_one_key(
    colocate: tuple[tuple[str, ...], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From some number on, the larger of two keys is alone, and more instances change nothing."""
    tried, busiest = list[int](), Shares.busiest

    def noted(self: Shares, v: int, count: int) -> float:
        tried.append(count)
        return busiest(self, v, count)

    monkeypatch.setattr(Shares, "busiest", noted)
    graph = sp.StreamGraph(
        [
            sp.Operator("read", 1e3, 1.0),
            sp.Operator("count", 1e6, 1.0),
            sp.Operator("sink", 1.0, 0.0),
        ],
        [
            sp.Stream("read", "count", partitioning="hash", key_shares={"a": 0.6, "b": 0.4}),
            sp.Stream("count", "sink", partitioning="forward"),
        ],
        constraints=sp.Constraints(colocate=colocate),
    )
    found = size(graph, "9x1000", source_rate=1500.0, evaluations=100)
    assert found.parallelism["count"] == 2
    assert max(tried) < 20
    with pytest.raises(InfeasibleError, match=r"0\.6 of all tuples are of key 'a', 1,666\.67"):
        size(graph, "9x1000", source_rate=1800.0)
    assert max(tried) < 20


def job(**count: Any) -> sp.StreamGraph:
    return sp.StreamGraph(
        [
            sp.Operator("read", 1e4, 10.0),
            sp.Operator("count", 1e6, **{"payload_bytes": 0.0} | count),
        ],
        [("read", "count")],
        source_rate=1e3,
    )


@pytest.mark.parametrize(
    "rules",
    [
        sp.Constraints(pins={"count[2]": "d1"}),
        sp.Constraints(allowed={"count[2]": ["d1"]}),
        sp.Constraints(colocate=[["read", "count[2]"]]),
        sp.Constraints(exlocate=[["count[0]", "count[2]"]]),
    ],
)
def test_constraints_on_single_instances_need_as_many_instances(rules: sp.Constraints) -> None:
    """One instance would carry the rate."""
    found = size(job(), "2x2500", constraints=rules, minimise="instances", evaluations=1_000)
    assert found.parallelism == {"read": 1, "count": 3}
    assert found.gap == 0.0
    assert found.placement is not None
    assert found.placement.problem.feasibility.violation(found.placement.devices) is None
    if rules.pins or rules.allowed:
        assert found.assignment["count[2]"] == "d1"


def test_a_first_instance_has_its_name_only_beside_a_second_one() -> None:
    rules = sp.Constraints(pins={"count[0]": "d1"})
    found = size(job(), "2x2500", constraints=rules, evaluations=1_000)
    assert found.parallelism["count"] == 2
    assert found.assignment["count[0]"] == "d1"


@pytest.mark.parametrize(
    ("limits", "rules", "message"),
    [
        (
            {"max_parallelism": 3},
            {"count[3]": "d1"},
            r"^constraints: unknown operator 'count\[3\]': 'count' has at most 3 instances",
        ),
        ({"parallelism": 2}, {"count[2]": "d1"}, r"unknown operator 'count\[2\]'"),
        ({}, {"cuont[2]": "d1"}, r"unknown operator 'cuont\[2\]'"),
        ({}, {"count[1]": "d9"}, "unknown device 'd9'"),
    ],
)
def test_instances_that_do_not_exist(
    limits: dict[str, Any], rules: dict[str, str], message: str
) -> None:
    with pytest.raises(ProblemError, match=message):
        size(job(**limits), "2x2500", constraints=sp.Constraints(pins=rules), evaluations=1_000)


def test_a_constraint_may_name_the_last_instance() -> None:
    """As many instances as it names are the least number, also where that is the largest one."""
    rules = sp.Constraints(pins={"count[2]": "d1"})
    found = size(job(max_parallelism=3), "2x2500", constraints=rules, evaluations=1_000)
    assert found.parallelism["count"] == 3


def test_numbers_between_those_tried_are_allowed_where_instances_are_even() -> None:
    some = Requirement("a", (2, 3, 8), (1.0, 0.7, 0.3), "", 1e4, 8, evenly=True, has_all=False)
    assert [some.allows(count) for count in (1, 2, 5, 8, 9)] == [False, True, True, True, False]
    uneven = replace(some, evenly=False)
    assert [uneven.allows(count) for count in (2, 5, 8)] == [True, False, True]
    assert replace(some, counts=(), loads=()).allows(5) is False


def test_thousands_of_instances_have_no_rules_of_their_own() -> None:
    rules = sp.Constraints(pins={"count[1]": "d1"})
    with pytest.raises(UsageError, match="does not support constraints on single instances"):
        size(job(), "400x2500x64", source_rate=3e7, constraints=rules)


def test_names_of_operators_and_of_instances() -> None:
    rules = sp.Constraints(
        pins={"count[4]": "d1", "read": "d0", "x[1]": "d1"},
        colocate=[["read", "count[7]", "count"], ["read", "count[1]"]],
    )
    assert named_instances(job(), rules) == {"count": (8, "count[7]")}
    ones = expanded(job(), {"read": 1, "count": 1})
    whole = sp.Constraints(pins={"read": "d0"}, colocate=[["read", "count"]])
    assert of_whole_operators(rules, ones) == whole


GROUP = ("read", "clean")


def colocated(read: dict[str, Any], clean: dict[str, Any], kind: str = "forward") -> sp.StreamGraph:
    """Return a job whose first two operators are colocated; `clean` needs 3 of 1,000 MIPS."""
    return sp.StreamGraph(
        [
            sp.Operator("read", 1e5, 0.0, **read),
            sp.Operator("clean", 2.5e6, 0.0, **clean),
            sp.Operator("out", 1e5, 0.0),
        ],
        [sp.Stream("read", "clean", partitioning=kind), sp.Stream("clean", "out")],
        source_rate=1000.0,
        constraints=sp.Constraints(colocate=[GROUP]),
    )


def numbers(
    graph: sp.StreamGraph, cluster: str = "6x1000", *, resize: bool = False
) -> tuple[int, ...]:
    found = sp.size(graph, cluster, minimise="instances", resize=resize, evaluations=500)
    return tuple(found.parallelism.values())


def test_the_operators_of_a_task_have_equal_numbers() -> None:
    """One task of Kafka Streams, or one chain of Flink, has one instance of each operator."""
    assert numbers(colocated({}, {})) == (3, 3, 1)
    assert numbers(colocated({"parallelism": 2}, {"parallelism": 2}), resize=True) == (3, 3, 1)


def test_a_stated_number_holds_for_the_task() -> None:
    assert numbers(colocated({"parallelism": 4}, {})) == (4, 4, 1)
    assert numbers(colocated({"min_parallelism": 5}, {"max_parallelism": 5})) == (5, 5, 1)


def test_limits_of_one_operator_limit_its_task() -> None:
    with pytest.raises(InfeasibleError, match=r"clean: max_parallelism 2, 800 tuples/s at most"):
        numbers(colocated({"partitions": 2}, {}))
    with pytest.raises(GraphError, match="'read', 'clean' are one task, but no number"):
        numbers(colocated({"max_parallelism": 2}, {"min_parallelism": 3}))


def test_scaling_may_leave_no_number_for_all() -> None:
    """`clean` needs 3 instances, with which those of `read` disturb each other too much."""
    graph = sp.StreamGraph(
        [
            sp.Operator("read", 9e5, 0.0, scaling={"kappa": 0.9}),
            sp.Operator("clean", 2.5e6, 0.0),
        ],
        [sp.Stream("read", "clean", partitioning="forward")],
        source_rate=1000.0,
        constraints=sp.Constraints(colocate=[GROUP]),
    )
    with pytest.raises(InfeasibleError, match="cannot keep up: "):
        numbers(graph)


def test_what_is_no_task_is_sized_freely() -> None:
    """Instances of operators with unequal numbers share one device, as before."""
    assert numbers(colocated({}, {}, kind="hash"), "1x1000x4") == (1, 3, 1)
    assert tasks_of(colocated({}, {}), [("read", "clean[1]")]) == []
    assert tasks_of(colocated({}, {}), [("read", "out")]) == []
    assert tasks_of(colocated({}, {}), [GROUP, ("out", "clean")]) == [[0, 1]]


def test_different_stated_numbers_are_kept() -> None:
    """All instances then share one device."""
    assert numbers(colocated({"parallelism": 1}, {"parallelism": 3}), "1x1000x4") == (1, 3, 1)
