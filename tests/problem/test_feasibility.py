"""Feasibility: each kind of rule, each proof of infeasibility, and a brute-force check."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.errors import InfeasibleError, ProblemError
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.constraints import Constraints
from streamplace.problem.feasibility import Feasibility
from streamplace.problem.graph import Operator, StreamGraph

OPERATORS = [
    Operator("a", 1, 1, memory_bytes=4),
    Operator("b", 1, 1, requires=("gpu",)),
    Operator("c", 1, 1),
    Operator("d", 1, 1, memory_bytes=4),
]
GRAPH = StreamGraph(OPERATORS, [])
CLUSTER = Cluster([Device("x", 1, memory_bytes=6), Device("y", 1, labels=("gpu", "ssd"))])
WIDE = Cluster([*CLUSTER.devices, Device("z", 1, labels=("gpu",))])


def feasibility(cluster: Cluster = CLUSTER, **rules: Any) -> Feasibility:
    return Feasibility(GRAPH, cluster, Constraints(**rules))


@pytest.mark.parametrize(
    ("rules", "devices", "violation"),
    [
        ({}, "xyxy", None),
        ({}, "xxxy", "operator 'b' may not run on device 'x'"),
        ({}, "xyyx", "device 'x' would need 8 B of memory but has 6 B"),
        ({"pins": {"c": "y"}}, "xyxy", "operator 'c' may not run on device 'x'"),
        ({"pins": {"c": "y"}}, "xyyy", None),
        ({"allowed": {"c": ["y", "z"]}}, "xyxy", "operator 'c' may not run on device 'x'"),
        ({"allowed": {"c": ["y", "z"]}}, "xyzy", None),
        (
            {"colocate": [["a", "c"]]},
            "xyyy",
            "is not on the device of the operators that it is colocated with",
        ),
        ({"colocate": [["a", "c"]]}, "xyxy", None),
        (
            {"colocate": [["a", "c"], ["c", "d"]]},
            "yyyz",
            "is not on the device of the operators that it is colocated with",
        ),
        (
            {"colocate": [["c", "d"], ["a", "c"]]},
            "yyyz",
            "is not on the device of the operators that it is colocated with",
        ),
        ({"colocate": [["b", "c"]]}, "xyxy", "operator 'c' may not run on device 'x'"),
        ({"exlocate": [["a", "c", "d"]]}, "xyzx", "device 'x' runs two operators that must"),
        ({"exlocate": [["a", "c", "d"]]}, "xyzy", None),
        ({"exlocate": [["a", "a"]]}, "xyzy", None),
        ({"colocate": [["a", "c"]], "exlocate": [["c", "d"]]}, "yyyy", "device 'y' runs two"),
    ],
)
def test_violations_are_described(
    rules: dict[str, Any], devices: str, violation: str | None
) -> None:
    placement = np.array(["xyz".index(d) for d in devices], np.int32)
    found = feasibility(WIDE, **rules).violation(placement)
    assert (violation or "") in (found or "")
    assert (found is None) == (violation is None)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            {"pins": {"b": "x"}},
            "^no device may run operator 'b': it requires 'gpu' .on 'y'., 'b' is pinned to 'x'$",
        ),
        ({"allowed": {"c": []}}, "^no device may run operator 'c': 'c' is allowed on no device$"),
        ({"allowed": {"c": ["x"]}, "pins": {"c": "y"}}, "^no device may run operator 'c'"),
        (
            {"colocate": [["a", "c"]], "pins": {"a": "x", "c": "y"}},
            "^no device may run operators 'a', 'c' together: 'a' is pinned to 'x', 'c' is pinned",
        ),
        (
            {"colocate": [["a", "d"]], "allowed": {"d": ["x"]}},
            "operators 'a', 'd' together: .*they need 8 B of memory",
        ),
        (
            {"colocate": [["a", "c"], ["c", "d"]], "exlocate": [["b", "a", "d"]]},
            "^constraints: 'b', 'a', 'd' must be on different devices, but some of them are coloc",
        ),
        ({"exlocate": [["a", "c", "d"]]}, "^constraints: too few devices to keep 'a', 'c', 'd'"),
        ({"exlocate": [["b", "c"]], "pins": {"c": "y"}}, "^constraints: too few devices"),
    ],
)
def test_proofs_of_infeasibility(rules: dict[str, Any], message: str) -> None:
    with pytest.raises(InfeasibleError, match=message):
        feasibility(**rules)


def test_too_little_memory_in_total_is_reported() -> None:
    small = Cluster([Device(name, 1, memory_bytes=4, labels=("gpu",)) for name in "xy"])
    feasibility(small)
    rows = [*OPERATORS, Operator("e", 1, 1, memory_bytes=1)]
    with pytest.raises(InfeasibleError, match=r"^memory: .* need 9 B, but .* have 8 B in all"):
        Feasibility(StreamGraph(rows, []), small, Constraints())


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"pins": {"q": "x"}}, r"^constraints\.pins: unknown operator 'q'"),
        ({"pins": {"a": "q"}}, r"^constraints\.pins\['a'\]: unknown device 'q'"),
        ({"allowed": {"q": ["x"]}}, r"^constraints\.allowed: unknown operator 'q'"),
        ({"allowed": {"a": ["x", "q"]}}, r"^constraints\.allowed\['a'\]: unknown device 'q'"),
        ({"colocate": [["a"], ["q"]]}, r"^constraints\.colocate\[1\]: unknown operator 'q'"),
        ({"exlocate": [["a", "q"]]}, r"^constraints\.exlocate\[0\]: unknown operator 'q'"),
    ],
)
def test_unknown_names(rules: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        feasibility(**rules)


def test_long_lists_of_names_are_shortened() -> None:
    graph = StreamGraph([Operator(f"o{v}", 1, 1) for v in range(9)], [])
    with pytest.raises(InfeasibleError, match=r"'o0', .* 'o5' and 3 more apart$"):
        Feasibility(graph, CLUSTER, Constraints(exlocate=[list(graph.names)]))


def test_a_thousand_exlocated_operators() -> None:
    """The augmenting path of the last operator passes through all others."""
    count = 1200
    graph = StreamGraph([Operator(f"o{v}", 1, 1) for v in range(count)], [])
    allowed = {f"o{v}": [f"d{v}", f"d{v + 1}"] for v in range(count - 1)} | {"o1199": ["d0"]}
    rules = Constraints(exlocate=[list(graph.names)], allowed=allowed)
    assert not Feasibility(graph, Cluster.equal(count), rules).is_free


names = st.lists(st.sampled_from("abcd"), max_size=3)
some_devices = st.lists(st.sampled_from("xyz"), min_size=1, max_size=3)
some_rules = st.builds(
    Constraints,
    pins=st.dictionaries(st.sampled_from("abcd"), st.sampled_from("xyz"), max_size=1),
    colocate=st.lists(names, max_size=2),
    exlocate=st.lists(names, max_size=2),
    allowed=st.dictionaries(st.sampled_from("abcd"), some_devices, max_size=2),
)


def obeys(rules: Constraints, on: dict[str, str], memory: dict[str, float | None]) -> bool:
    """Return whether a placement by name obeys the rules (streamplace/problem/README.md)."""
    used = {d: sum(o.memory_bytes for o in OPERATORS if on[o.name] == d) for d in memory}
    return (
        all(on[v] == d for v, d in rules.pins.items())
        and all(on[v] in ds for v, ds in rules.allowed.items())
        and all(len({on[v] for v in group}) <= 1 for group in rules.colocate)
        and all(len({on[v] for v in g}) == len(set(g)) for g in rules.exlocate)
        and on["b"] != "x"
        and all(used[d] <= limit for d, limit in memory.items() if limit is not None)
    )


@given(some_rules, st.sampled_from([None, 2.0, 4.0, 6.0, 100.0]))
def test_feasibility_agrees_with_brute_force(rules: Constraints, limit: float | None) -> None:
    devices = [Device("x", 1, memory_bytes=limit), *WIDE.devices[1:]]
    memory = {device.name: device.memory_bytes for device in devices}
    every = list(product(range(3), repeat=4))
    good = [
        obeys(rules, dict(zip("abcd", ("xyz"[d] for d in p), strict=True)), memory) for p in every
    ]
    try:
        compiled = Feasibility(GRAPH, Cluster(devices), rules)
    except InfeasibleError:
        assert not any(good)
        return
    found = [compiled.violation(np.array(p, np.int32)) is None for p in every]
    assert found == good
    assert compiled.is_free == all(good) or not compiled.is_free
