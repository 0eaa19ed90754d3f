"""Seconds by kind of device, and names of slow kinds."""

import pytest

from streamplace.problem.seconds import MAX_SECONDS, Seconds, slow_kind, slowness


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
