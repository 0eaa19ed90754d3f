"""Plans of the controller, and whether the job can be planned."""

import ast
import json
from math import nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamplace as sp
import streamplace.control
from streamplace.control.decisions import change
from streamplace.control.plannable import check_operators, check_plannable
from streamplace.control.planning import SizePlanner
from streamplace.control.plans import Deployment, Plan
from streamplace.control.rules import Rules
from streamplace.errors import ProblemError, StreamplaceError

NAMES = st.sampled_from(["decode", "count", "sink"])
HOSTS = st.dictionaries(NAMES, st.lists(st.sampled_from("abcd"), min_size=1).map(tuple))
NUMBERS = st.floats(0.0, 1e9)
PLANS = st.builds(Plan, HOSTS.map(Deployment), NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS)


@given(HOSTS)
def test_a_key_depends_on_counts_by_device_only(hosts: dict[str, tuple[str, ...]]) -> None:
    deployment = Deployment(hosts)
    turned = Deployment({name: hosts[name][::-1] for name in reversed(hosts)})
    assert turned.key == deployment.key
    assert turned.numbers_key == deployment.numbers_key
    more = Deployment({**hosts, "decode": (*hosts.get("decode", ()), "a")})
    assert more.key != deployment.key
    assert more.numbers_key != deployment.numbers_key


@given(HOSTS)
def test_other_devices_change_the_key_but_not_the_numbers(
    hosts: dict[str, tuple[str, ...]],
) -> None:
    moved = Deployment({name: ("z", *on[1:]) for name, on in hosts.items()})
    assert (moved.key == Deployment(hosts).key) == (not hosts)
    assert moved.numbers_key == Deployment(hosts).numbers_key


@given(PLANS, HOSTS.map(Deployment))
def test_plans_are_restored_and_undone(plan: Plan, before: Deployment) -> None:
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    undone = plan.undone(before)
    assert undone.deployment == before
    assert undone.undone(plan.deployment) == plan
    assert (undone.carries_s, undone.price_s) == (plan.now_carries_s, plan.now_price_s)


def test_a_change_names_what_changes() -> None:
    before = Deployment({"decode": ("a",), "count": ("b", "b")})
    after = Deployment({"decode": ("a", "b", "c"), "count": ("b",)})
    assert change(before, after) == (
        "count from 2 to 1 instance, decode from 1 to 3 instances, on 3 devices"
    )
    moved = Deployment({"decode": ("c",), "count": ("c", "c")})
    assert change(before, moved) == "the same numbers of instances, on 1 device"
    many = Deployment({f"o{i}": ("a",) for i in range(7)})
    assert change(Deployment({}), many).endswith("2 more operators, on 1 device")


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
        SizePlanner(graph, CLUSTER, Rules())
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


CONTROL = Path(streamplace.control.__file__).parent


def test_control_knows_no_engine() -> None:
    found = [
        f"{path.relative_to(CONTROL)} imports {module}"
        for path in CONTROL.rglob("*.py")
        for module in _imports(path)
        if module.startswith("streamplace.engines")
    ]
    assert found == []


def _imports(path: Path) -> list[str]:
    """Return the modules that a file imports, also inside functions."""
    tree = ast.walk(ast.parse(path.read_text()))
    return [
        name
        for node in tree
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    ]
