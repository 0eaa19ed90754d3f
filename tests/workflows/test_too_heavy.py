"""Operators that fill a device or core by themselves."""

import pytest

from streamplace import Cluster, Constraints, Device, Operator, Placement, Problem, StreamGraph
from streamplace.capacity.plan.plan import plan
from streamplace.problem.graph_checks import NAMES_SHOWN
from streamplace.workflows.explain import explain_throughput as explain
from streamplace.workflows.too_heavy import TooHeavy, too_heavy
from tests.support.graphs import chain_graph


def problem(cores: int = 1, *, rate: float = 1000.0, target: float = 1.0) -> Problem:
    """Return two operators on devices of 2 x 1000 MIPS; b needs 3 MIPS per 1000 tuples/s."""
    operators = [Operator("a", 1e5, 10.0), Operator("b", 3e6, 10.0, cores=cores)]
    graph = StreamGraph(operators, [("a", "b")], source_rate=rate)
    cluster = Cluster([Device("d0", 1000.0, 2), Device("d1", 1500.0, 2)])
    return Problem(graph, cluster, target_utilisation=target)


def test_an_operator_that_fills_a_core() -> None:
    found = too_heavy(problem())
    assert found is not None
    assert (found.operators, found.device, found.of_core) == (("b",), "d1", True)
    assert (found.needed_mips, found.available_mips) == pytest.approx((3000, 1500))
    assert found.instances == 2
    text, names = found.text()
    assert "run 2 instances of it, or use cores of 3,000 MIPS in sum" in text
    assert names == ("b", "d1")


def test_several_cores_and_headroom() -> None:
    assert too_heavy(problem(cores=2)) is None
    found = too_heavy(problem(cores=2, target=0.5))
    assert found is not None
    assert not found.of_core
    assert found.available_mips == pytest.approx(1500)
    assert found.enough_mips == pytest.approx(6000)


def test_slots_for_more_instances_may_be_missing() -> None:
    """Two instances of an operator take two slots; the cluster has one."""
    graph = StreamGraph([Operator("a", 3e6, 0.0)], source_rate=1000.0)
    found = too_heavy(Problem(graph, Cluster([Device("x", 2000.0, slots=1)])))
    assert found is not None
    assert found.text()[0].endswith("or add devices with enough slots for 2 instances of it")


def test_an_instance_of_a_parallel_operator() -> None:
    """Advice about instances is about the operator, whose number a graph states."""
    graph = StreamGraph([Operator("a", 12e6, 0.0, parallelism=4)], source_rate=1000.0)
    found = too_heavy(Problem(graph, Cluster([Device("x", 2000.0, 8, slots=8)])))
    assert found is not None
    text, names = found.text()
    assert text.endswith("run more instances of {}, or use cores of 3,000 MIPS in sum")
    assert names == ("a[0]", "x", "a")
    full = too_heavy(Problem(graph, Cluster([Device("x", 2000.0, 8, slots=4)])))
    assert full is not None
    text, names = full.text()
    assert text.endswith("or add devices with enough slots for more instances of {}")
    assert text.count("{}") == len(names)


def test_operators_that_are_kept_together() -> None:
    graph = chain_graph(6e5, 6e5, 1e5, payload_bytes=10.0)
    rules = Constraints(colocate=[["a", "b"]])
    loaded = Problem(graph, Cluster.equal(3, mips=1000.0), constraints=rules)
    found = too_heavy(loaded)
    assert found is not None
    assert found.operators == ("a", "b")
    assert "{} and {} are kept together and need 1,200 MIPS" in found.text()[0]
    explanation = explain(Placement(loaded, [0, 0, 1]))
    assert explanation.cause == found
    assert explanation.to_dict()["cause"]["operators"] == ["a", "b"]
    assert "kept together" in str(explanation) or "kept together" in repr(explanation._view())


def test_of_many_operators_that_are_kept_together_the_first_are_named() -> None:
    names = tuple(f"match[{i}]" for i in range(NAMES_SHOWN + 7))
    for timed in (False, True):
        text, shown = TooHeavy(names, 2700.0, 2000.0, 2700.0, False, "d0", timed=timed).text()
        assert shown == (*names[:NAMES_SHOWN], "d0")
        assert text.startswith("{}, {}")
        assert "{} and 7 more are kept together" in text
        assert text.count("{}") == len(shown)


def test_a_pin_leaves_only_a_slow_device() -> None:
    graph = chain_graph(6e5, 1e5, payload_bytes=10.0)
    cluster = Cluster([Device("slow", 500.0), Device("fast", 1000.0)])
    free = Problem(graph, cluster)
    assert too_heavy(free) is None
    pinned = too_heavy(free.with_constraints(Constraints(pins={"a": "slow"})))
    assert pinned is not None
    assert pinned.device == "slow"


def test_a_plan_that_more_devices_do_not_help() -> None:
    graph = chain_graph(15e5, 1e5, payload_bytes=10.0)
    found = plan(graph, Cluster.equal(2, mips=1000.0), source_rate=1000.0, evaluations=500)
    assert found.cause is not None
    assert found.cause.operators == ("a",)
    assert found.to_dict()["cause"]["needed_mips"] == pytest.approx(1500)
    enough = plan(graph, Cluster.equal(2, mips=2000.0), source_rate=1000.0, evaluations=500)
    assert enough.cause is None
    assert enough.to_dict()["cause"] is None


def test_a_placement_that_is_limited_by_something_else() -> None:
    graph = chain_graph(6e5, 6e5, payload_bytes=10.0)
    loaded = Problem(graph, Cluster.equal(2, mips=1000.0))
    assert explain(Placement(loaded, [0, 0])).cause is None


def test_instances_that_would_need_more_resources_are_not_advised() -> None:
    graph = StreamGraph([Operator("a", 3e6, 1, resources={"gpu": 1})], source_rate=1000)
    cluster = Cluster([Device("d0", 2000, resources={"gpu": 1}), Device("d1", 2000)])
    found = too_heavy(Problem(graph, cluster))
    assert found is not None
    assert found.text()[0].endswith(
        "use a device of 3,000 MIPS, or add devices with enough gpu for 2 instances of it"
    )
    two = Cluster([Device(f"d{i}", 2000, resources={"gpu": 1}) for i in range(2)])
    enough = too_heavy(Problem(graph, two))
    assert enough is not None
    assert "run 2 instances of it" in enough.text()[0]


def test_a_measured_operator_on_devices_without_a_kind() -> None:
    graph = StreamGraph([Operator("heavy", 5e6, 0.0, seconds_on={"gpu": 1e-4})])
    found = too_heavy(Problem(graph, Cluster.parse("2x2500"), source_rate=1000.0))
    assert found is not None
    assert (found.operators, found.timed) == (("heavy",), False)
