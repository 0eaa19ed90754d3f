"""Costs of relocations: bytes over links, start-up times, lost devices, and what is refused."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamplace as sp
from streamplace.errors import ProblemError
from streamplace.problem.relocation import Relocation, RelocationCost

OPERATORS = [
    sp.Operator("a", 1e6, 0, memory_bytes=1e6, type="camera"),
    sp.Operator("b", 1e6, 0, memory_bytes=2e6, type="fusion"),
    sp.Operator("c", 1e6, 0, memory_bytes=4e6),
]
GRAPH = sp.StreamGraph(OPERATORS, [("a", "b"), ("b", "c")], firing="all")
STARTUPS = {"fast": {"camera": 0.25, "fusion": 0.5}, "slow": {"camera": 3.0}}


def problem(kind: str = "free", devices: str = "xyz") -> sp.Problem:
    """Return a problem on some of three devices; the link from x to y is the slow one."""
    kinds = {"x": "slow", "y": "fast", "z": None}
    override = sp.LinkOverride("x", "y" if kind != "nic" else None, 4.0, 0.5)
    overrides = (override,) if {"x", "y"} <= {*devices} else ()
    network = sp.Network(kind, bandwidth_mbps=8, latency_s=0.125, overrides=overrides)  # type: ignore[arg-type]
    cluster = sp.Cluster([sp.Device(name, 1, kind=kinds[name]) for name in devices], network)
    return sp.Problem(GRAPH, cluster, objective=sp.Makespan())


def placement(of: sp.Problem, devices: str) -> sp.Placement:
    """Return a placement from the names of the devices of a, b and c."""
    return sp.Placement.of(of, dict(zip("abc", devices, strict=True)))


@pytest.mark.parametrize("kind", ["free", "pair", "egress", "nic"])
def test_a_move_takes_its_bytes_over_its_link_and_a_start(kind: str) -> None:
    one, cost = problem(kind), RelocationCost(STARTUPS)
    moves = cost.moves(one, placement(one, "xxz"), placement(one, "yzz"))
    to_z = 4.5 if kind == "nic" else 2.125  # with nic, all that x sends is slow
    assert moves == (
        Relocation("a", "x", "y", 2.5, 0.25),
        Relocation("b", "x", "z", to_z, 0.0),
    )
    total = cost.seconds(one, placement(one, "xxz"), placement(one, "yzz"))
    assert total == sum(move.seconds for move in moves)


def test_stated_bytes_replace_memory_and_static_bytes_add_to_it() -> None:
    one = problem()
    cost = RelocationCost(state_bytes={"camera": 5e6}, static_bytes={"fusion": 1e6})
    before, after = placement(one, "zzz"), placement(one, "xxx")
    assert [move.migration_s for move in cost.moves(one, before, after)] == [5.125, 3.125, 4.125]


def test_nothing_is_sent_from_a_device_that_is_gone() -> None:
    old, one = problem(), problem(devices="yz")
    cost = RelocationCost(STARTUPS)
    moves = cost.moves(one, placement(old, "xyz"), placement(one, "yzz"))
    assert moves == (Relocation("a", "x", "y", 0.0, 0.25), Relocation("b", "y", "z", 2.125, 0.0))


def test_operators_that_are_new_cost_nothing() -> None:
    one = problem()
    cost = RelocationCost(STARTUPS)
    assert cost.moves(one, {"b": "x"}, placement(one, "xxx")) == ()
    assert cost.seconds(one, {"b": "x", "other": "y"}, placement(one, "xxx")) == 0


@given(st.text("xyz", min_size=3, max_size=3), st.text("xyz", min_size=3, max_size=3))
def test_equal_placements_cost_nothing_and_others_something(first: str, second: str) -> None:
    one, cost = problem(), RelocationCost()
    moves = cost.moves(one, placement(one, first), placement(one, second))
    assert [m.operator for m in moves] == [
        name for name, a, b in zip("abc", first, second, strict=True) if a != b
    ]
    assert (cost.seconds(one, placement(one, first), placement(one, second)) > 0) == bool(moves)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"state_bytes": {"camera": -1}}, "state_bytes['camera'] must be at least 0 and finite"),
        ({"static_bytes": {"camera": math.inf}}, "static_bytes['camera'] must be at least 0"),
        ({"startup_s": {"A": {"camera": "1"}}}, "startup_s['A']['camera'] must be a number"),
    ],
)
def test_what_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ProblemError) as caught:
        RelocationCost(**arguments)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_a_placement_of_another_cluster_must_have_known_devices() -> None:
    with pytest.raises(ProblemError, match="the cluster has no device 'x'"):
        RelocationCost().seconds(problem(devices="yz"), {}, placement(problem(), "xyz"))
