"""Resources: amounts of operators and devices, and the limits that follow from them."""

import pickle
from collections.abc import Mapping
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest

from streamplace import Cluster, Constraints, Device, Operator, Problem, StreamGraph
from streamplace.errors import ClusterError, GraphError, InfeasibleError
from streamplace.placers.repair import feasible
from streamplace.problem.expansion import to_instances, to_operators
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.networkx_interop import from_networkx, to_networkx
from streamplace.problem.resources import NO_RESOURCES, Resources
from streamplace.problem.symmetry import interchangeable

Amounts = Mapping[str, float]


def graph(*taken: Amounts, memory: float = 0.0) -> StreamGraph:
    """Return operators o0, o1, … that take resources, without streams."""
    operators = [
        Operator(f"o{v}", 1e5, 0.0, memory, resources=each) for v, each in enumerate(taken)
    ]
    return StreamGraph(operators, source_rate=10.0)


def cluster(*offered: Amounts) -> Cluster:
    """Return devices d0, d1, … that offer resources."""
    return Cluster([Device(f"d{d}", 1000.0, resources=each) for d, each in enumerate(offered)])


def test_resources_are_immutable_sorted_and_without_zeros() -> None:
    resources = Resources({"tpu": 2, "gpu": 0.5, "fpga": 0})
    assert dict(resources) == {"gpu": 0.5, "tpu": 2.0}
    assert repr(resources) == "{'gpu': 0.5, 'tpu': 2}"
    assert resources == {"tpu": 2, "gpu": 0.5}
    assert hash(resources) == hash(Resources({"gpu": 0.5, "tpu": 2}))
    assert pickle.loads(pickle.dumps(resources)) == resources
    with pytest.raises(TypeError):
        resources["gpu"] = 1.0  # type: ignore[index]
    changed = {"gpu": 1.0}
    device = Device("a", 1.0, resources=changed)
    changed["gpu"] = 2.0
    assert device.resources == {"gpu": 1.0}


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        (["gpu"], "resources: must be Mapping, not list; for example"),
        ({"gpu": -1}, r"resources\['gpu'\] must be 0 to 1e\+15 \(got -1\)"),
        ({"gpu": float("nan")}, r"resources\['gpu'\] must be 0 to 1e\+15 \(got nan\)"),
        ({"gpu": 2e15}, r"resources\['gpu'\] must be 0 to 1e\+15"),
        ({"gpu": 4e-7}, r"resources\['gpu'\] must be 0 or at least 1e-06, .* \(got 4e-07\)"),
        ({"gpu": True}, r"resources\['gpu'\] must be a number \(got True\)"),
        ({"gpu": "1"}, r"resources\['gpu'\] must be a number \(got '1'\)"),
        ({"": 1}, "resources: a name is empty"),
        ({"\ud800": 1}, "resources: a name is not valid unicode text"),
        ({3: 1}, r"resources: a name must be a string \(got 3\)"),
    ],
)
def test_invalid_resources(resources: Any, message: str) -> None:
    with pytest.raises(ClusterError, match=rf"^device 'a': {message}"):
        Device("a", 1.0, resources=resources)
    with pytest.raises(GraphError, match=rf"^operator 'a': {message}"):
        Operator("a", 1e5, 0.0, resources=resources)
    with pytest.raises(GraphError, match=rf"^operators\[1\]\.{message}"):
        graph({}, {}).with_numbers(resources={1: resources})


def test_operators_with_resources_are_immutable_and_hashable() -> None:
    taken = {"gpu": 1.0}
    operator = Operator("a", 1e5, 0.0, resources=taken)
    taken["gpu"] = 2.0
    assert operator.resources == {"gpu": 1.0}
    assert hash(operator) == hash(Operator("a", 1e5, 0.0, resources={"gpu": 1}))


def test_only_resources_change_the_hash() -> None:
    plain = StreamGraph([Operator("o0", 1e5, 0.0)], source_rate=10.0)
    assert graph({}).sha256 == graph({"gpu": 0}).sha256 == plain.sha256
    assert plain.sha256 == "05d5e98358d6d97f3f85054a86943c53e53573ec9a8cf398ef54ead1a6583bd3"
    hashes = {graph(taken).sha256 for taken in ({}, {"gpu": 1}, {"gpu": 2}, {"tpu": 1})}
    assert len(hashes) == 4
    assert graph({"a": 1, "b": 2}).sha256 == graph({"b": 2, "a": 1}).sha256
    assert repr(Device("a", 1.0)) == repr(Device("a", 1.0, resources={"gpu": 0}))
    assert "resources" not in repr(Device("a", 1.0)) + repr(Operator("a", 1.0, 0.0))


def test_graphs_keep_resources() -> None:
    made = graph({}, {"gpu": 0.5})
    assert [o.resources for o in made.operators] == [NO_RESOURCES, {"gpu": 0.5}]
    assert StreamGraph(made.operators, source_rate=10.0) == made
    assert pickle.loads(pickle.dumps(made)) == made
    assert pickle.loads(pickle.dumps(made)).resources == made.resources
    back = from_networkx(to_networkx(made))
    assert back.sha256 == made.sha256
    assert made.with_numbers(instructions=[1.0, 2.0])[0].resources == made.resources
    assert made.with_numbers(resources={0: {"gpu": 1}})[0].resources == {0: {"gpu": 1}}
    assert made.resource("gpu").tolist() == [0.0, 0.5]
    assert made.resource_names == ("gpu",)
    assert StreamGraph(
        [{"name": "a", "instructions": 1, "payload_bytes": 0, "resources": {"x": 1}}]
    )


def test_each_instance_takes_the_resources_of_its_operator() -> None:
    logical = LogicalGraph(graph({"gpu": 0.5}, {}), {"o0": 3, "o1": 2})
    expanded = to_instances(logical)
    assert expanded.resource("gpu").tolist() == [0.5, 0.5, 0.5, 0.0, 0.0]
    assert to_operators(logical).resource("gpu").tolist() == [1.5, 0.0]


def test_devices_with_other_resources_are_not_interchangeable() -> None:
    problem = Problem(graph({}), cluster({"gpu": 1}, {}, {"gpu": 1}, {"gpu": 2}))
    assert interchangeable(problem).tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize("amount", [0.1, 0.5, 1 / 3, 1 / 6, 1 / 7, 0.29, 1])
@pytest.mark.parametrize("offered", [1, 3])
def test_fractions_add_up(amount: float, offered: int) -> None:
    count = floor(Fraction(offered) / Fraction(amount).limit_denominator(100))
    full = Problem(graph(*[{"gpu": amount}] * count), cluster({"gpu": offered}, {"gpu": 1}))
    assert full.feasibility.violation(np.zeros(count, np.int32)) is None
    over = Problem(graph(*[{"gpu": amount}] * (count + 1)), cluster({"gpu": offered}, {"gpu": 1}))
    violation = over.feasibility.violation(np.zeros(count + 1, np.int32))
    assert violation is not None
    assert violation.startswith("device 'd0' would need ")
    assert violation.endswith(f" gpu but has {offered}")


@pytest.mark.parametrize(
    ("taken", "offered", "rules", "message"),
    [
        (
            [{"gpu": 1}],
            [{}, {}],
            {},
            r"no device may run operator 'o0': it needs 1 gpu \('d0', 'd1' offer none\)",
        ),
        (
            [{"gpu": 1}],
            [{}],
            {},
            r"no device may run operator 'o0': it needs 1 gpu \('d0' offers none\)",
        ),
        (
            [{"gpu": 2}],
            [{"gpu": 1}, {"gpu": 0.5}],
            {},
            r"no device may run operator 'o0': it needs 2 gpu \('d0', 'd1' offer at most 1\)",
        ),
        (
            [{"gpu": 1}, {"gpu": 1}, {"gpu": 1}],
            [{"gpu": 1}, {"gpu": 1}],
            {},
            "resources: the operators need 3 gpu, but the devices offer 2 in all; "
            "add devices that offer 'gpu'",
        ),
        (
            [{"gpu": 1}, {"tpu": 1}],
            [{"gpu": 1}, {"tpu": 1}],
            {"colocate": [["o0", "o1"]]},
            r"no device may run operators 'o0', 'o1' together: they need 1 gpu \('d1' offers none\)"
            r", they need 1 tpu \('d0' offers none\)",
        ),
        (
            [{"gpu": 1}],
            [{"gpu": 1}, {}],
            {"pins": {"o0": "d1"}},
            r"no device may run operator 'o0': 'o0' is pinned to 'd1', it needs 1 gpu "
            r"\('d1' offers none\)",
        ),
    ],
)
def test_infeasible_problems_name_what_is_needed_and_offered(
    taken: list[Amounts], offered: list[Amounts], rules: dict[str, Any], message: str
) -> None:
    with pytest.raises(InfeasibleError, match=rf"^{message}$"):
        Problem(graph(*taken), cluster(*offered), constraints=Constraints(**rules))


def test_a_violation_names_the_resource() -> None:
    problem = Problem(graph({"gpu": 1}, {"gpu": 0.5}), cluster({"gpu": 1}, {"gpu": 1}))
    violation = problem.feasibility.violation(np.array([0, 0], np.int32))
    assert violation == "device 'd0' would need 1.5 gpu but has 1"


def test_a_search_that_has_tried_everything_names_the_resources() -> None:
    taken = [{"gpu": 2}] * 3
    problem = Problem(graph(*taken), cluster({"gpu": 3}, {"gpu": 3}))
    with pytest.raises(InfeasibleError, match=r"^constraints and gpu: no device is left for"):
        feasible(problem, np.zeros(3, np.int32))


def test_resources_that_cannot_run_out_restrict_nothing() -> None:
    problem = Problem(graph({"gpu": 1}, {"gpu": 1}), cluster({"gpu": 2}, {"gpu": 5}))
    assert problem.feasibility.is_free
    assert problem.feasibility.limits == ()
    offered_only = Problem(graph({}, {}), cluster({"gpu": 2}, {}))
    assert offered_only.feasibility.is_free


def test_memory_and_resources_are_limits_side_by_side() -> None:
    devices = [Device(name, 1e3, memory_bytes=5.0, resources={"gpu": 1}) for name in "ab"]
    problem = Problem(
        graph({"gpu": 1}, {}, {}, memory=3.0),
        Cluster([*devices, Device("c", 1e3)]),
    )
    feasibility = problem.feasibility
    assert [limit.name for limit in feasibility.limits] == ["memory", "gpu"]
    assert feasibility.rules_text == "constraints, memory and gpu"
    assert feasibility.needs.tolist() == [[3.0, 1.0], [3.0, 0.0], [3.0, 0.0]]
    assert feasibility.room.tolist() == [[5.0, 1.0], [5.0, 1.0], [np.inf, 0.0]]
    assert feasibility.allowed.tolist() == [[True, True, False], [True] * 3, [True] * 3]
