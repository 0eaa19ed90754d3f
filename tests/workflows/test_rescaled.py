"""Differences between placements with other numbers of instances."""

import pytest

import streamplace as sp
from streamplace.errors import ProblemError
from streamplace.workflows.diff import difference

CLUSTER = "3x2500"


def placed(count: int, *devices: int, last: str = "out") -> sp.Placement:
    """Return a placement of `read`, some instances of `count`, and another operator."""
    graph = sp.StreamGraph(
        [
            sp.Operator("read", 1e4, 10.0),
            sp.Operator("count", 1e5, 10.0, memory_bytes=1e6, parallelism=count),
            sp.Operator(last, 1e4, 0.0, memory_bytes=7.0),
        ],
        [("read", "count"), ("count", last)],
        source_rate=1e3,
    )
    return sp.Placement(sp.Problem(graph, CLUSTER), list(devices))


def test_operators_with_other_numbers_of_instances_are_compared_by_device() -> None:
    found = difference(placed(2, 0, 0, 1, 2), placed(3, 0, 1, 2, 1, 0))
    assert [(m.operator, m.source, m.target) for m in found.moves] == [("out", "d2", "d0")]
    assert found.memory_bytes == 7.0
    assert found.to_dict()["rescaled"] == [
        {
            "operator": "count",
            "before": 2,
            "after": 3,
            "started": {"d1": 1, "d2": 1},
            "stopped": {"d0": 1},
        }
    ]
    assert "1 move with 7 B of memory; 1 operator with other numbers of instances" in repr(found)


def test_a_single_instance_has_the_name_of_the_operator() -> None:
    (only,) = difference(placed(1, 0, 0, 0), placed(2, 0, 0, 0, 0)).rescaled
    assert (only.before, only.after) == (1, 2)
    assert (dict(only.started), dict(only.stopped)) == ({"d0": 1}, {})


def test_with_equal_numbers_instances_are_compared_by_name() -> None:
    found = difference(placed(2, 0, 0, 1, 0), placed(2, 0, 1, 0, 0))
    assert found.rescaled == ()
    assert [move.operator for move in found.moves] == ["count[0]", "count[1]"]


def test_other_operators_are_named() -> None:
    message = "different operators: only the first has 'out', only the second has 'store'"
    with pytest.raises(ProblemError, match=message):
        difference(placed(2, 0, 0, 0, 0), placed(3, 0, 0, 0, 0, 0, last="store"))
