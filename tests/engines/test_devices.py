"""Devices from documents: rounded cores, what is left out, and what is assumed."""

import pytest

from streamplace.engines.devices import NETWORK, Devices
from streamplace.errors import FormatError


def test_fractions_of_cores_keep_the_capacity_unless_they_are_small() -> None:
    devices = Devices("file", "node")
    stated = {"a": 3.92, "b": 2.25, "c": 0.5, "d": 4.0, "e": 1.5}
    for name, cores in stated.items():
        devices.add(name, cores, 1e9)
    found, notes = devices.cluster()
    assert [each.cores for each in found.devices] == [4, 2, 1, 4, 2]
    assert [each.mips for each in found.devices] == [0.98, 1.0, 0.5, 1.0, 0.75]
    assert notes[0] == (
        "fractions of cores are rounded: 'a' has 3.92, written as 4, each of 98.0% of the speed; "
        "3 more"
    )


def test_what_is_in_use_leaves_nothing_but_no_less() -> None:
    devices = Devices("file", "node")
    devices.add("full", -1.0, 1e9)
    devices.add("tiny", 0.005, 1e9)
    devices.add("a", 1.0, -5.0, labels=["x", "x"], resources={"gpu": 0.0, "fpga": 2.0, "ib": -1.0})
    found, notes = devices.cluster()
    (only,) = found.devices
    assert (only.name, only.memory_bytes, only.labels) == ("a", 0.0, ("x",))
    assert only.resources == {"fpga": 2.0}
    assert notes[0] == "2 nodes left out, without a free core: 'full', 'tiny'"
    assert found.network == NETWORK
    assert notes[-1] == "no network is stated; assumed: nic links of 1000 Mbit/s and 0.001 s"


def test_no_device_is_an_error_with_the_reasons() -> None:
    devices = Devices("file", "node")
    with pytest.raises(FormatError, match=r"^file: no node can run operators: the list is empty$"):
        devices.cluster()
    devices.leave_out("a", "not ready")
    devices.note("jobs hold the rest")
    with pytest.raises(FormatError, match=r": 1 node left out, not ready: 'a'; jobs hold the rest"):
        devices.cluster()
