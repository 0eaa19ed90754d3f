"""Rows of the table of placers, on problems whose makespans are known."""

import pytest

import streamplace as sp
from benchmarks.networks import placing
from benchmarks.networks.placing import PLACERS, row_of
from benchmarks.networks.problems import SETS, own
from tests.support.released_data import SHARED


@pytest.fixture(autouse=True)
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    short = {**PLACERS, "search": "search:evaluations=200"}
    monkeypatch.setattr(placing, "PLACERS", short)


def two(memory_bytes: float | None = None) -> sp.Problem:
    """Return two operators without streams, of 3 s on a and 1 s on b, or of 4 s on both."""
    operators = [
        sp.Operator("first", 1.0, 0.0, 1.0, seconds_on={"a": 3.0, "b": 1.0}),
        sp.Operator("second", 1.0, 0.0, 1.0, seconds_on={"a": 4.0, "b": 4.0}),
    ]
    devices = [sp.Device(k, 1.0, memory_bytes=memory_bytes, kind=k) for k in ("a", "b")]
    cluster = sp.Cluster(devices, sp.Network("free"))
    graph = sp.StreamGraph(operators, firing="all")
    return sp.Problem(graph, cluster, objective=sp.Makespan())


def test_a_row_has_every_device_alone_and_every_placer() -> None:
    row = row_of(two())
    assert row.alone == {"a": 7.0, "b": 5.0}
    assert row.placed == dict.fromkeys(PLACERS, 4.0)
    assert row.gain == pytest.approx(0.2)
    assert (row.operators, row.streams, row.moved) == (2, 0, 1)


def test_a_device_without_room_for_all_has_no_makespan() -> None:
    row = row_of(two(memory_bytes=1.5))
    assert row.alone == {"a": None, "b": None}
    assert row.gain is None
    assert row.placed == dict.fromkeys(PLACERS, 4.0)


def test_problems_of_our_own() -> None:
    found = dict(own())
    assert len(found) == 9
    assert (
        found["resnet50 x2"].graph
        == found["resnet50 x1"].graph.with_numbers(
            seconds_on=found["resnet50 x2"].graph.seconds_on
        )[0]
    )


@pytest.mark.parametrize("name", ["dnn-partitioning", "pipedream"])
def test_released_problems(name: str) -> None:
    if not SHARED.is_dir():
        pytest.skip("the released graphs are not in ../shared")
    for title, problem in SETS[name]():
        kinds = {device.kind for device in problem.cluster.devices}
        assert kinds == ({"gpu"} if name == "pipedream" else {"cpu", "accelerator"}), title
        on = [device.kind for device in problem.cluster.devices]
        assert len(on) - on.count("cpu") in {3, 6}, title
