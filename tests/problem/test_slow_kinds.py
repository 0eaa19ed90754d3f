"""Kinds of devices that are slower than others, and `Losses` that make devices slow."""

import pytest

from streamplace import (
    Cluster,
    Device,
    Makespan,
    Network,
    Operator,
    Placement,
    Problem,
    Stream,
    StreamGraph,
    simulate,
)
from streamplace.problem.losses import Losses
from streamplace.problem.seconds import MAX_SECONDS, Seconds, slow_kind, slowness

GRAPH = StreamGraph(
    [
        Operator("a", 3e6, 0.0, seconds_on={"gpu": 0.5, "tpu": None}),
        Operator("b", 2e6, 0.0),
        Operator("c", float("nan"), 0.0, seconds_on={"gpu": 1.0}),
    ],
    [Stream("a", "b"), Stream("b", "c")],
    firing="all",
)
CLUSTER = Cluster([Device("g", 1.0, kind="gpu"), Device("t", 1.0, kind="tpu")], Network())


def test_names_of_slow_kinds() -> None:
    assert slow_kind("gpu", 0.5) == "gpu at 0.5 of its speed"
    assert slow_kind("gpu", 1.0) == "gpu"
    assert slowness("gpu at 0.5 of its speed") == ("gpu", 0.5)
    for share in (0.1, 1 / 3, 1e-7):
        assert slowness(slow_kind("gpu at home", share)) == ("gpu at home", share)


@pytest.mark.parametrize(
    "kind",
    ["gpu", "gpu at 0 of its speed", "gpu at 2 of its speed", "gpu at . of its speed", "at 0.5"],
)
def test_other_names_are_not_slow(kind: str) -> None:
    assert slowness(kind) is None
    with pytest.raises(KeyError):
        Seconds({"x": 1.0})[kind]


def test_times_of_a_slow_kind_are_longer() -> None:
    seconds = Seconds({"gpu": 0.5, "tpu": None, "npu at 0.5 of its speed": 7.0, "npu": 1.0})
    assert seconds["gpu at 0.5 of its speed"] == 1.0
    assert seconds["gpu at 0.5 of its speed at 0.25 of its speed"] == 4.0
    assert seconds["npu at 0.5 of its speed"] == 7.0  # its own
    assert seconds["npu at 0.5 of its speed at 0.5 of its speed"] == 14.0
    assert seconds["tpu at 0.5 of its speed"] is None
    assert "gpu at 0.5 of its speed" in seconds
    assert "cpu at 0.5 of its speed" not in seconds
    assert not seconds.runs_on("tpu at 0.5 of its speed", with_instructions=True)
    assert len(seconds) == 4


def test_times_of_very_slow_kinds_are_finite() -> None:
    seconds = Seconds({"gpu": 1.0})
    assert seconds["gpu at 1e-300 of its speed at 1e-300 of its speed"] == MAX_SECONDS
    assert seconds["gpu" + " at 0.5 of its speed" * 5000] == MAX_SECONDS


def test_a_slow_device_takes_longer_for_measured_operators_too() -> None:
    placement = Placement.of(
        Problem(GRAPH, CLUSTER, objective=Makespan()), dict.fromkeys("abc", "g")
    )
    assert simulate(placement, objective=Makespan()).makespan_s == 0.5 + 2.0 + 1.0
    slowed = Losses(slow={"g": 0.25}).placement(placement)
    assert simulate(slowed, objective=Makespan()).makespan_s == 4 * (0.5 + 2.0 + 1.0)
    assert slowed.problem.graph.sha256 == GRAPH.sha256
    twice = Losses(slow={"g": 0.5}).placement(slowed)
    assert simulate(twice, objective=Makespan()).makespan_s == 8 * (0.5 + 2.0 + 1.0)


def test_a_slow_device_still_cannot_run_what_its_kind_cannot() -> None:
    losses = Losses(slow={"t": 0.5})
    problem = Problem(GRAPH, losses.cluster(CLUSTER), objective=Makespan())
    assert problem.feasibility.allowed.tolist() == [[True, False], [True, True], [True, False]]


def test_other_devices_keep_their_kind() -> None:
    slowed = Losses(slow={"g": 0.5}).cluster(CLUSTER)
    assert [device.kind for device in slowed.devices] == ["gpu at 0.5 of its speed", "tpu"]
    assert Losses(slow={"g": 1.0}).cluster(CLUSTER).devices == CLUSTER.devices
