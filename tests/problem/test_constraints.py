"""Operators that constraints keep on devices of different groups."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamplace import Cluster, Constraints, Device, Placement, Problem, read_graph
from streamplace.errors import InfeasibleError, ProblemError
from streamplace.files import write_json
from streamplace.files.graphs import constraints_to, graph_to
from streamplace.placers.repair import feasible
from streamplace.placers.search.exhaustive import feasible_rows
from tests.support.graphs import chain_graph
from tests.support.placements import every_placement

DEVICES = [
    Device("a0", 1000.0, group="a"),
    Device("a1", 1000.0, group="a"),
    Device("b0", 1000.0, group="b"),
    Device("alone", 1000.0),
]
GRAPH = chain_graph(1.0, 1.0, 1.0)
FIRST, SECOND, THIRD = GRAPH.names


def problem_with(**rules: Any) -> Problem:
    return Problem(GRAPH, Cluster(DEVICES), source_rate=1.0, constraints=Constraints(**rules))


def test_two_devices_of_one_group_violate_it_and_two_without_a_group_do_not() -> None:
    violation = problem_with(apart_groups=[[FIRST, SECOND]]).feasibility.violation
    assert violation(np.array([0, 2, 0], np.int32)) is None
    assert violation(np.array([0, 3, 0], np.int32)) is None
    text = "runs two operators that must be in different groups of devices"
    assert violation(np.array([0, 1, 2], np.int32)) == f"group 'a' {text}"
    assert violation(np.array([3, 3, 2], np.int32)) == f"device 'alone' {text}"


def test_repair_and_enumeration_obey_it() -> None:
    problem = problem_with(apart_groups=[[FIRST, SECOND, THIRD]], exlocate=[[FIRST, THIRD]])
    valid = {
        tuple(row)
        for row in every_placement(problem).tolist()
        if len({DEVICES[d].group or f"device {d}" for d in row}) == 3
    }
    rows = feasible_rows(problem)
    assert rows is not None
    assert {tuple(row) for row in rows.tolist()} == valid
    for draft in every_placement(problem):
        assert tuple(feasible(problem, draft).devices.tolist()) in valid


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            {"apart_groups": [[FIRST, SECOND]], "pins": {FIRST: "a0", SECOND: "a1"}},
            "constraints: too few groups of devices to keep .* apart",
        ),
        (
            {"apart_groups": [[FIRST, SECOND]], "colocate": [[FIRST, SECOND]]},
            "must be in different groups of devices, but some of them are colocated",
        ),
    ],
)
def test_what_cannot_hold_is_named(rules: Any, message: str) -> None:
    with pytest.raises(InfeasibleError, match=message):
        problem_with(**rules)


def test_unknown_operators_are_named() -> None:
    with pytest.raises(ProblemError, match=r"constraints.apart_groups\[0\]: unknown operator 'x'"):
        problem_with(apart_groups=[["x"]])


def test_files_keep_it_and_stay_as_they_were_without(tmp_path: Path) -> None:
    rules = Constraints(apart_groups=[[FIRST, SECOND]])
    assert rules
    write_json(tmp_path / "g.json", graph_to(GRAPH) | {"constraints": constraints_to(rules)})
    assert read_graph(tmp_path / "g.json").constraints == rules
    assert constraints_to(Constraints(pins={"a": "b"})) == {"pins": {"a": "b"}}
    assert "apart" not in repr(Constraints())
    assert Placement(problem_with(apart_groups=[[FIRST, SECOND]]), [0, 2, 3]).assignment[FIRST]
