"""Checks whether there can be plans for a job."""

from math import nan
from typing import Any

import pytest

import streamplace as sp
import streamplace.control
from streamplace.control.plannable import check_operators, check_plannable
from streamplace.control.planning import SizePlanner
from streamplace.control.settings import ControllerSettings
from streamplace.errors import ProblemError, StreamplaceError

CLUSTER = sp.Cluster([sp.Device(name, 1000.0, memory_bytes=1e9, slots=4) for name in "xyz"])


NO_RULES = sp.Constraints()


def job(constraints: sp.Constraints = NO_RULES, **of_decode: Any) -> sp.StreamGraph:
    operators = [
        sp.Operator("read", 1e15, 1e12),
        sp.Operator("decode", **{"instructions": nan, "payload_bytes": 10.0} | of_decode),
        sp.Operator("count", 1e5, 0.0),
    ]
    streams = [sp.Stream("read", "decode"), sp.Stream("decode", "count", nan)]
    return sp.StreamGraph(operators, streams, constraints=constraints)


def test_costs_do_not_count_since_they_are_measured() -> None:
    check_plannable(job(), CLUSTER)


def test_standard_errors_do_not_count_either() -> None:
    """Those of every measured graph are far above a thousandth of an instruction."""
    check_plannable(job(instructions=5e7, instructions_se=2e5, payload_bytes_se=1.0), CLUSTER)


def test_what_gets_no_tuples_needs_no_numbers() -> None:
    operators = [sp.Operator("read", 1e5, 10.0), sp.Operator("count", 1e5, 0.0)]
    operators += [sp.Operator("rejected", nan, nan), sp.Operator("audit", nan, nan)]
    streams = [
        sp.Stream("read", "count"),
        sp.Stream("read", "rejected", 0.0),
        sp.Stream("rejected", "audit"),
    ]
    check_plannable(sp.StreamGraph(operators, streams), CLUSTER)


def test_a_graph_whose_paths_are_many_has_plans() -> None:
    names = [f"{kind}{layer}" for layer in range(1100) for kind in "ab"]
    operators = [sp.Operator(name, 1.0, 1.0) for name in names]
    streams = [
        sp.Stream(f"{kind}{layer}", f"{other}{layer + 1}", 0.5)
        for layer in range(1099)
        for kind in "ab"
        for other in "ab"
    ]
    check_plannable(sp.StreamGraph(operators, streams), sp.Cluster.equal(3))


@pytest.mark.parametrize(
    ("graph", "fault"),
    [
        (job(sp.Constraints({"decode": "q"})), "constraints.pins['decode']: unknown device 'q'"),
        (
            job(sp.Constraints({"decod": "x"})),
            "constraints.pins: unknown operator 'decod'; did you",
        ),
        (job(sp.Constraints(allowed={"decode": ["q"]})), "constraints.allowed['decode']: unknown"),
        (job(sp.Constraints({"decode[2]": "x"}), max_parallelism=2), "has at most 2 instances"),
        (job(requires=["gpu"]), "'decode': it requires 'gpu' (on no device)"),
        (job(memory_bytes=2e9), "'decode': it needs 2 GB of memory"),
        (job(min_parallelism=50), "the operators need 52 slots, but the devices have 12 in all"),
        (job(payload_bytes=nan), "unknown: payload_bytes of 'decode'"),
        (
            job(sp.Constraints(colocate=[["read", "decode"]], exlocate=[["read", "decode"]])),
            "'read', 'decode' must be on different devices, but some of them are colocated",
        ),
        (job().with_numbers(firing="all")[0], 'firing: watch does not support "all"'),
    ],
)
def test_graphs_without_any_plan_are_refused(graph: sp.StreamGraph, fault: str) -> None:
    with pytest.raises(StreamplaceError) as caught:
        SizePlanner(graph, CLUSTER, ControllerSettings())
    assert fault in str(caught.value)
    assert caught.value.needs_file
    assert caught.value.exit_code == 2
    assert not str(caught.value).startswith("size: ")


def test_operators_are_those_of_the_job() -> None:
    check_operators(job(), ["count", "decode", "read"])
    with pytest.raises(ProblemError) as caught:
        check_operators(job(), ["Source: read", "decode", "count"])
    assert str(caught.value) == (
        "the graph has operators that the running job lacks: 'read'; name them as the job does "
        "('Source: read', 'count', 'decode'), or leave out --graph, so that the job is measured"
    )
    with pytest.raises(ProblemError, match="lacks operators that the running job has: 'sink';"):
        check_operators(job(), ["read", "decode", "count", "sink"])
