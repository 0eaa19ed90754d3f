"""Operators with equal numbers of instances, in sizes."""

from typing import Any

import pytest

import streamplace as sp
from streamplace.errors import GraphError, InfeasibleError
from streamplace.workflows.sizing.tasks import tasks_of

GROUP = ("read", "clean")


def job(read: dict[str, Any], clean: dict[str, Any], kind: str = "forward") -> sp.StreamGraph:
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
    assert numbers(job({}, {})) == (3, 3, 1)
    assert numbers(job({"parallelism": 2}, {"parallelism": 2}), resize=True) == (3, 3, 1)


def test_a_stated_number_holds_for_the_task() -> None:
    assert numbers(job({"parallelism": 4}, {})) == (4, 4, 1)
    assert numbers(job({"min_parallelism": 5}, {"max_parallelism": 5})) == (5, 5, 1)


def test_limits_of_one_operator_limit_its_task() -> None:
    with pytest.raises(InfeasibleError, match=r"clean: max_parallelism 2, 800 tuples/s at most"):
        numbers(job({"partitions": 2}, {}))
    with pytest.raises(GraphError, match="'read', 'clean' are one task, but no number"):
        numbers(job({"max_parallelism": 2}, {"min_parallelism": 3}))


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
    assert numbers(job({}, {}, kind="hash"), "1x1000x4") == (1, 3, 1)
    assert tasks_of(job({}, {}), [("read", "clean[1]")]) == []
    assert tasks_of(job({}, {}), [("read", "out")]) == []
    assert tasks_of(job({}, {}), [GROUP, ("out", "clean")]) == [[0, 1]]


def test_different_stated_numbers_are_kept() -> None:
    """All instances then share one device."""
    assert numbers(job({"parallelism": 1}, {"parallelism": 3}), "1x1000x4") == (1, 3, 1)
