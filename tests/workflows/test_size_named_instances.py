"""Sizes under constraints on single instances of operators whose numbers are free."""

from typing import Any

import pytest

import streamplace as sp
from streamplace.errors import ProblemError, UsageError
from streamplace.problem.counts import expanded
from streamplace.workflows.size import size
from streamplace.workflows.sizing.named_instances import named_instances, of_whole_operators


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


def test_thousands_of_instances_have_no_rules_of_their_own() -> None:
    rules = sp.Constraints(pins={"count[1]": "d1"})
    with pytest.raises(UsageError, match="does not support constraints on single instances"):
        size(job(), "400x2500x64", source_rate=6e6, constraints=rules)


def test_names_of_operators_and_of_instances() -> None:
    rules = sp.Constraints(
        pins={"count[4]": "d1", "read": "d0", "x[1]": "d1"},
        colocate=[["read", "count[7]", "count"], ["read", "count[1]"]],
    )
    assert named_instances(job(), rules) == {"count": (8, "count[7]")}
    ones = expanded(job(), {"read": 1, "count": 1})
    whole = sp.Constraints(pins={"read": "d0"}, colocate=[["read", "count"]])
    assert of_whole_operators(rules, ones) == whole
