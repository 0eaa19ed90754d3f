"""Tests for the placer `enumerative` and for CPOP's critical path."""

import numpy as np
import pytest

import streamplace as sp
from streamplace.placers.registry import make_placer
from tests.support.placers import seeded_rng

FREE = sp.Network(kind="free", bandwidth_mbps=8.0)


def placed(graph: sp.StreamGraph, devices: int, name: str = "enumerative") -> list[int]:
    cluster = sp.Cluster([sp.Device(f"d{d}", 1.0) for d in range(devices)], FREE)
    problem = sp.Problem(graph, cluster, objective=sp.Makespan())
    found: list[int] = make_placer(name)(problem, seeded_rng()).devices.tolist()
    return found


def shards(devices: int, pieces: list[float]) -> sp.StreamGraph:
    """Return `devices` shards of one operator, each followed by a shard of another one.

    Shard i of the second operator takes most of its input from shard `devices` - 1 - i.
    """
    first = [
        sp.Operator(f"a{i}", 1e6, 1e3 * p, meta_op="a")
        for i, p in zip(range(devices), pieces, strict=True)
    ]
    second = [sp.Operator(f"b{i}", 2e6, 0.0, meta_op="b") for i in range(devices)]
    streams = [sp.Stream(f"a{i}", f"b{devices - 1 - i}") for i in range(devices)]
    return sp.StreamGraph([*first, *second], streams, firing="all")


@pytest.mark.parametrize("devices", [3, 8, 12])
def test_shards_go_to_different_devices_and_follow_their_inputs(devices: int) -> None:
    graph = shards(devices, [float(i + 1) for i in range(devices)])
    assert placed(graph, devices) == [*range(devices), *range(devices)[::-1]]


def test_the_total_time_of_messages_to_a_group_is_least() -> None:
    """Both operators prefer device 0; the one with the smaller message gives way."""
    graph = sp.StreamGraph(
        [
            sp.Operator("a", 1e6, 0.0),
            sp.Operator("b", 2e6, 0.0, type="x"),
            sp.Operator("c", 2e6, 0.0, type="x"),
        ],
        [sp.Stream("a", "b", payload_bytes=1e6), sp.Stream("a", "c", payload_bytes=3e6)],
        firing="all",
    )
    assert placed(graph, 2) == [0, 1, 0]


def test_a_group_that_is_larger_than_the_cluster_is_split() -> None:
    graph = sp.StreamGraph([sp.Operator(f"a{i}", 1e6, 0.0, meta_op="a") for i in range(5)])
    assert placed(graph, 2) == [0, 1, 0, 1, 0]


def test_colocated_shards_stay_together() -> None:
    graph = shards(3, [1.0, 2.0, 3.0])
    cluster = sp.Cluster([sp.Device(f"d{d}", 1.0) for d in range(3)], FREE)
    rules = sp.Constraints(colocate=[["a0", "a2", "b1"]])
    problem = sp.Problem(graph, cluster, constraints=rules, objective=sp.Makespan())
    found = make_placer("enumerative")(problem, np.random.default_rng(0)).assignment
    assert found["a0"] == found["a2"] == found["b1"]
    assert len({found["a0"], found["a1"]}) == 2


def test_cpop_puts_the_critical_path_on_its_fastest_device() -> None:
    """The chain a, b, d is critical; c is placed elsewhere, since the device is busy."""
    graph = sp.StreamGraph(
        [sp.Operator(n, 1e6 * t, 0.0) for n, t in zip("abcd", (1, 3, 2, 1), strict=True)],
        [sp.Stream(*ends) for ends in ("ab", "ac", "bd", "cd")],
        firing="all",
    )
    cluster = sp.Cluster([sp.Device("x", 1.0), sp.Device("y", 1.5)], FREE)
    problem = sp.Problem(graph, cluster, objective=sp.Makespan())
    found = make_placer("cpop")(problem, seeded_rng()).assignment
    assert found == {"a": "y", "b": "y", "c": "x", "d": "y"}
