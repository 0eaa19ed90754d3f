"""Speeds that a user states for devices."""

from itertools import permutations

import pytest

from streamplace.errors import UsageError
from streamplace.formats.speeds import with_speeds
from streamplace.problem.cluster import Cluster, Device

CLUSTER = Cluster(
    [
        Device("a", 1.0, labels=("type=m5", "x"), group="left"),
        Device("b", 0.5, 2, labels=("type=m6",), group="left"),
        Device("c", 1.0, memory_bytes=5.0),
    ]
)


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_the_most_specific_speed_counts_in_any_order(order: tuple[int, ...]) -> None:
    stated = [(None, 1000.0), ("left", 2000.0), ("b", 3000.0)]
    found, notes = with_speeds(CLUSTER, [stated[i] for i in order])
    assert [each.mips for each in found.devices] == [2000.0, 1500.0, 1000.0]
    assert not notes


def test_the_last_one_of_equally_specific_speeds_counts() -> None:
    found, _ = with_speeds(CLUSTER, [(None, 1000.0), ("left", 2000.0), ("type=m6", 3000.0)])
    assert [each.mips for each in found.devices] == [2000.0, 1500.0, 1000.0]
    assert found.devices[2].memory_bytes == 5.0
    assert found.network == CLUSTER.network


def test_a_speed_is_assumed_where_none_is_stated() -> None:
    found, notes = with_speeds(CLUSTER, [("a", 100.0)])
    assert [each.mips for each in found.devices] == [100.0, 1250.0, 2500.0]
    assert notes[0].startswith("no speed is stated for 2 devices; assumed: 2500 MIPS a core;")


def test_a_name_that_fits_nothing_is_refused() -> None:
    def refused(name: str) -> str:
        with pytest.raises(UsageError) as caught:
            with_speeds(CLUSTER, [(name, 1.0)])
        return str(caught.value).removeprefix(
            f"--mips: no device, label or group is named {name!r}"
        )

    known = "devices: 'a', 'b', 'c'; groups: 'left'; labels: 'type=m5', 'x', 'type=m6'"
    assert refused("d") == f"; {known}"
    assert refused("tipe=m5") == "; did you mean 'type=m5'?"
