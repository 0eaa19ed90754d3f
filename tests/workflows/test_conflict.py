"""Rules that cannot hold together, and whether any placement obeys all: against brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import streamplace as sp
from streamplace import Cluster, Constraints, Device, Operator, StreamGraph
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.budget import Budget
from streamplace.placers.repair import feasible
from streamplace.problem.feasibility import Feasibility
from streamplace.problem.problem import Problem
from streamplace.problem.rules import Rule, RuledParts
from streamplace.workflows import conflict as conflicts
from streamplace.workflows.conflict import add_conflict, conflict, satisfiable
from tests.support.strategies import constrained_problems

NAMES, DEVICES = "abcd", ("x", "y", "z")
some = st.lists(st.sampled_from(NAMES), min_size=2, max_size=3, unique=True)
where = st.lists(st.sampled_from(DEVICES), min_size=1, max_size=2, unique=True)


@st.composite
def parts(draw: st.DrawFn) -> RuledParts:
    """Return a graph, a cluster and constraints that often contradict each other."""
    memory = draw(st.lists(st.integers(0, 4), min_size=4, max_size=4))
    taken = draw(st.lists(st.sampled_from([0, 0, 0.5, 1]), min_size=4, max_size=4))
    labelled = draw(st.sampled_from(["", "a", "bc"]))
    rows = [
        Operator(
            name,
            1,
            1,
            memory_bytes=size,
            requires=("gpu",) if name in labelled else (),
            resources={"fpga": amount},
        )
        for name, size, amount in zip(NAMES, memory, taken, strict=True)
    ]
    devices = [
        Device(
            name,
            1,
            memory_bytes=draw(st.sampled_from([None, 3, 6])),
            labels=("gpu",) if draw(st.booleans()) else (),
            group=draw(st.sampled_from([None, "rack"])),
            resources={"fpga": draw(st.sampled_from([0, 1, 1.5, 2]))},
            slots=draw(st.sampled_from([None, None, 0, 1, 2])),
        )
        for name in DEVICES
    ]
    rules = Constraints(
        pins=draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(DEVICES), max_size=3)),
        colocate=draw(st.lists(some, max_size=2)),
        exlocate=draw(st.lists(some, max_size=2)),
        allowed=draw(st.dictionaries(st.sampled_from(NAMES), where, max_size=2)),
        apart_groups=draw(st.lists(some, max_size=1)),
    )
    return RuledParts(StreamGraph(rows, source_rate=1), Cluster(devices), rules)


def obeyed(of: RuledParts, rule: Rule, on: dict[str, str]) -> bool:
    """Return whether a placement obeys one rule, as docs/constraints.md defines it."""
    key, rules = rule.key, of.constraints
    devices = {device.name: device for device in of.cluster.devices}
    if rule.kind in ("pins", "allowed"):
        allowed = {v: [d] for v, d in rules.pins.items()} if rule.kind == "pins" else rules.allowed
        return on[str(key)] in allowed[str(key)]
    if rule.kind == "requires":
        wanted = next(row.requires for row in of.graph.operators if row.name == key)
        return set(wanted) <= set(devices[on[str(key)]].labels)
    if rule.kind in ("memory", "slots", "resources"):
        here, device = [row for row in of.graph.operators if on[row.name] == key], devices[str(key)]
        taken, room = {
            "memory": (sum(row.memory_bytes for row in here), device.memory_bytes),
            "slots": (len(here), device.slots),
            "resources": (sum(row.resources.get("fpga", 0) for row in here), None),
        }[rule.kind]
        return taken <= (device.resources.get("fpga", 0) if room is None else room)
    group = getattr(rules, rule.kind)[int(key)]
    if rule.kind == "colocate":
        return len({on[name] for name in group}) == 1
    places = [on[name] for name in group]
    if rule.kind == "apart_groups":
        places = [devices[name].group or name for name in places]
    return len(set(places)) == len(places)


def can_hold(of: RuledParts, rules: list[Rule]) -> bool:
    """Return whether some placement obeys all of these rules, by trying all placements."""
    return any(
        all(obeyed(of, rule, dict(zip(NAMES, row, strict=True))) for rule in rules)
        for row in product(DEVICES, repeat=len(NAMES))
    )


@given(parts())
def test_conflicts_are_irreducible(of: RuledParts) -> None:
    found = conflict(*of)
    every = [*of.rules()]
    if found is None:
        assert can_hold(of, every)
        return
    assert found.is_minimal
    assert not can_hold(of, list(found.rules))
    for left_out in found.rules:
        assert can_hold(of, [rule for rule in found.rules if rule != left_out]), left_out


GRAPH = StreamGraph(
    [
        Operator("a", 1, 1, memory_bytes=4e9),
        Operator("b", 1, 1, memory_bytes=4e9),
        Operator("c", 1, 1, requires=("gpu",)),
        *(Operator(name, 1, 1) for name in "defgh"),
    ],
    source_rate=1,
)
CLUSTER = Cluster(
    [
        Device("x", 10, memory_bytes=6e9, labels=("gpu",)),
        Device("y", 10, memory_bytes=6e9),
        Device("z", 10, memory_bytes=1e9),
    ]
)


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (
            {"pins": {"a": "x", "b": "x", "d": "y"}, "exlocate": [["e", "f"]]},
            "no placement satisfies memory of x, constraints.pins['a'] and constraints.pins['b'] "
            "together",
        ),
        (
            {"pins": {"c": "y"}},
            "no placement satisfies requires of c and constraints.pins['c'] together",
        ),
        (
            {"exlocate": [["e", "f"], ["d", "e", "f", "g"]]},
            "no placement satisfies constraints.exlocate[1]",
        ),
        (
            {"colocate": [["d", "e"], ["f", "g"], ["e", "f"]], "exlocate": [["d", "g"]]},
            "no placement satisfies constraints.colocate[0], constraints.colocate[1], "
            "constraints.colocate[2] and constraints.exlocate[0] together",
        ),
    ],
)
def test_errors_name_the_rules(rules: dict[str, object], text: str) -> None:
    constraints = Constraints(**rules)  # type: ignore[arg-type]
    assert str(conflict(GRAPH, CLUSTER, constraints)) == text
    with pytest.raises(InfeasibleError) as raised:
        sp.place(GRAPH, CLUSTER, constraints=constraints, placer="greedy")
    assert str(raised.value).endswith(f"; {text}")
    assert len(str(raised.value).splitlines()) == 1


def test_a_resource_is_named_with_its_device() -> None:
    graph = StreamGraph([Operator("a", 1, 1, resources={"gpu": 1})], source_rate=1)
    cluster = Cluster([Device("x", 10), Device("y", 10, resources={"gpu": 1})])
    with pytest.raises(
        InfeasibleError, match=r"resources\['gpu'\] of x and constraints.pins\['a'\]"
    ):
        sp.place(graph, cluster, constraints=Constraints(pins={"a": "x"}))


def test_slots_are_named_with_their_device() -> None:
    """Slots limit the operators on a device as memory does."""
    graph = StreamGraph([Operator(name, 1, 1) for name in "ab"], source_rate=1)
    few = Cluster([Device("x", 10, slots=1), Device("y", 10, slots=2)])
    rules = Constraints(pins={"a": "x"}, colocate=[["a", "b"]])
    assert str(conflict(graph, few, rules)) == (
        "no placement satisfies slots of x, constraints.pins['a'] and constraints.colocate[0] "
        "together"
    )
    none = Cluster([Device("x", 10, slots=1), Device("y", 10, slots=0)])
    assert str(conflict(graph, none)) == (
        "the operators do not fit on the devices: the slots of x and y are too few"
    )
    rows = [Operator(name, 1, 1, memory_bytes=3) for name in "ab"]
    mixed = Cluster([Device("x", 10, slots=1), Device("y", 10, memory_bytes=2)])
    assert str(conflict(StreamGraph(rows, source_rate=1), mixed)) == (
        "the operators do not fit on the devices: the memory and slots of y and x are too small"
    )


def test_standard_errors_do_not_matter() -> None:
    rows = [Operator(name, 1e6, 9.0, instructions_se=2e5, memory_bytes=3) for name in "ab"]
    cluster = Cluster([Device("x", 10, memory_bytes=4), Device("y", 10, memory_bytes=2)])
    found = conflict(StreamGraph(rows, source_rate=1), cluster, Constraints(exlocate=[["a", "b"]]))
    assert str(found) == "no placement satisfies memory of y and constraints.exlocate[0] together"


def test_a_cycle_of_excluded_pairs_that_no_proof_covers() -> None:
    """Four operators that exclude each other by pairs need four devices; other pairs do not."""
    pairs = [["d", "e"], ["d", "f"], ["d", "g"], ["e", "f"], ["e", "g"], ["f", "g"]]
    rules = Constraints(exlocate=[["a", "h"], *pairs, ["b", "h"]])
    Feasibility(GRAPH, CLUSTER, rules)  # the quick proofs do not find it
    found = conflict(GRAPH, CLUSTER, rules)
    assert found is not None
    assert found.is_minimal
    assert found.to_dict()["rules"] == [f"constraints.exlocate[{i}]" for i in range(1, 7)]


def test_a_plan_names_the_rules_that_no_number_of_devices_satisfies() -> None:
    rules = Constraints(colocate=[["d", "e"]], exlocate=[["e", "d"]])
    graph = StreamGraph([Operator(name, 1, 1) for name in "de"], source_rate=1)
    with pytest.raises(InfeasibleError, match=r"^plan: found no placement on up to 3 devices; .*"
                       r"; no placement satisfies constraints.colocate\[0\] and "
                       r"constraints.exlocate\[0\] together$"):  # fmt: skip
        sp.plan(graph, "2x10", constraints=rules, most=3)


def test_many_rules_are_counted() -> None:
    rows = [Operator(f"o{i}", 1, 1, memory_bytes=2) for i in range(9)]
    cluster = Cluster([Device(f"d{i}", 1, memory_bytes=1) for i in range(8)])
    found = conflict(StreamGraph(rows, source_rate=1), cluster)
    assert str(found) == (
        "the operators do not fit on the devices: the memory of all 8 devices is too small"
    )


def test_a_message_that_holds_without_constraints_is_complete() -> None:
    """The conflict of the constraints may be another one, about other operators."""
    graph = StreamGraph([Operator("a", 1, 1, memory_bytes=4e9), Operator("b", 1, 1)], source_rate=1)
    rules = Constraints(colocate=[["a", "b"]], exlocate=[["b", "a"]])
    with pytest.raises(InfeasibleError, match=r"they need 4 GB of memory \('z' has 1 GB\)$"):
        sp.place(graph, Cluster([CLUSTER.devices[2]]), constraints=rules)


def test_what_is_left_when_time_is_up() -> None:
    rules = Constraints(exlocate=[["d", "e", "f", "g"], ["a", "h"]])
    found = conflict(GRAPH, CLUSTER, rules, seconds=0.0)
    assert found is not None
    assert not found.is_minimal
    assert len(found.rules) > 1
    assert str(found).startswith("the conflict is among memory of all 3 devices")


def test_neither_a_placement_nor_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conflicts, "satisfiable", lambda problem, clock: None)
    with pytest.raises(PlacementError, match="neither a placement nor a proof"):
        conflict(GRAPH, CLUSTER)


def test_undecided_rules_stay_and_the_conflict_is_not_minimal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conflicts, "satisfiable", lambda problem, clock: None)
    rules = Constraints(exlocate=[["d", "e", "f", "g"]], pins={"c": "x"})
    error = InfeasibleError("too few devices")
    error.infeasible = GRAPH, CLUSTER, rules
    add_conflict(error)
    assert str(error) == "too few devices; the conflict is among constraints.exlocate[0]"


def test_an_error_names_its_conflict_once() -> None:
    problem = Problem(GRAPH, CLUSTER, constraints=Constraints(pins={"a": "x", "b": "x"}))
    with pytest.raises(InfeasibleError) as raised:
        feasible(problem, np.zeros(8, np.int32))
    for _ in range(2):
        add_conflict(raised.value)
        assert str(raised.value).count("no placement satisfies") == 1


def test_a_conflict_among_many_rules_is_found_by_the_operators_of_the_message() -> None:
    """The rules are named although there is no time to drop the other 2,000 one by one."""
    count = 2000
    graph = StreamGraph([Operator(f"o{i}", 1, 1) for i in range(count)], source_rate=1)
    pins = {f"o{i}": f"d{i % 5}" for i in range(count)}
    rules = Constraints(pins=pins, exlocate=[["o0", "o5"]])
    end = (  # "together" or "the conflict is among", as far as the time lasts on a busy machine
        r"; .*constraints.pins\['o0'\], constraints.pins\['o5'\] and "
        r"constraints.exlocate\[0\]( together)?$"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conflicts, "DEFAULT_SECONDS", 0.5)
        with pytest.raises(InfeasibleError, match=end):
            sp.place(graph, "5x10", constraints=rules)


def test_a_conflict_that_says_little_is_left_out() -> None:
    """A conflict of many rules that is not reduced, and one of other operators."""
    graph = StreamGraph([Operator(name, 1, 1) for name in "abcdefgh"], source_rate=1)
    rules = Constraints(pins=dict.fromkeys("abcdefgh", "d0"), exlocate=[["a", "b"], ["g", "h"]])
    parts = RuledParts(graph, Cluster.parse("3x10"), rules)
    every = tuple(parts.rules())
    assert not conflicts._helps(conflicts.Conflict(every, False), parts, {"a"})
    assert conflicts._helps(conflicts.Conflict(every, True), parts, {"a"})
    other = conflicts.Conflict(tuple(r for r in every if str(r.key) in "gh1"), True)
    assert not conflicts._helps(other, parts, {"a"})
    assert conflicts._helps(other, parts, {"h"})


def test_operators_that_are_kept_together_need_more_than_any_device_offers() -> None:
    rows = [Operator(name, 1, 1, resources={"gpu": 0.6}) for name in "abc"]
    cluster = Cluster([Device(f"d{i}", 1, resources={"gpu": 1}) for i in range(4)])
    rules = Constraints(colocate=[["a", "b"]])
    with pytest.raises(InfeasibleError) as raised:
        sp.place(StreamGraph(rows, source_rate=1), cluster, constraints=rules)
    text = str(raised.value)
    assert "operators 'a', 'b' together: they need 1.2 gpu" in text
    assert text.endswith("resources['gpu'] of all 4 devices and constraints.colocate[0] together")


def test_rules_of_parallel_operators_are_named_as_stated() -> None:
    graph = StreamGraph(
        [Operator("a", 1, 1, parallelism=2), Operator("b", 1, 1, parallelism=3)], source_rate=1
    )
    rules = Constraints(exlocate=[["a"], ["a", "b"]], pins={"a": "d0", "b": "d0"})
    found = conflict(graph, "2x10", rules)
    expected = ["constraints.pins['a']", "constraints.pins['b']", "constraints.exlocate[1]"]
    assert found is not None
    assert found.to_dict() == {"rules": expected, "is_minimal": True}
    with pytest.raises(InfeasibleError) as raised:
        Problem(graph, "2x10", constraints=rules)
    add_conflict(raised.value)
    assert str(raised.value).endswith(
        f"no placement satisfies {expected[0]}, {expected[1]} and {expected[2]} together"
    )
    few = Cluster([Device("x", 1, slots=2), Device("y", 1, slots=2)])
    assert str(conflict(graph, few)) == (
        "the operators do not fit on the devices: the slots of x and y are too few"
    )


@given(constrained_problems())
def test_the_answer_agrees_with_brute_force(problem: Problem | None) -> None:
    assume(problem is not None)
    assert problem is not None
    every = product(range(3), repeat=len(problem.graph.names))
    feasibility = problem.feasibility
    exists = any(feasibility.violation(np.array(row, np.int32)) is None for row in every)
    assert satisfiable(problem, Budget(10.0)) is exists


def packing(sizes: list[int], room: int, devices: int) -> Problem:
    rows = [Operator(f"o{i}", 1, 0, memory_bytes=size) for i, size in enumerate(sizes)]
    cluster = Cluster([Device(f"d{i}", 1, memory_bytes=room) for i in range(devices)])
    return Problem(StreamGraph(rows, source_rate=1), cluster)


HARD = packing([51] * 11 + [3] * 12, 100, 10)  # eleven halves do not fit, whatever the rest does


def test_a_packing_that_plain_backtracking_does_not_refute(monkeypatch: pytest.MonkeyPatch) -> None:
    assert satisfiable(HARD, Budget(60.0)) is False
    monkeypatch.setattr(conflicts, "NODES", 0)
    assert satisfiable(HARD, Budget(60.0)) is False  # by CP-SAT
    assert satisfiable(HARD, Budget(0.0)) is None


def test_a_packing_that_plain_backtracking_does_not_find(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = packing([51] * 10 + [49] * 10, 100, 10)
    monkeypatch.setattr(conflicts, "STEPS", 1)
    assert satisfiable(problem, Budget(60.0)) is True


def test_problems_without_rules_have_placements() -> None:
    assert satisfiable(packing([0, 0], 1, 1), Budget(0.0)) is True
    with pytest.raises(InfeasibleError):
        packing([2], 1, 1)
