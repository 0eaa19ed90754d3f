"""Slot-sharing groups and labels of placements."""

import re

import pytest

from streamplace.engines.flink.groups import (
    COUNTED,
    UNLIMITED,
    device_labels,
    groups_anywhere,
    groups_of,
    groups_on,
    label_names,
)
from streamplace.errors import ProblemError
from streamplace.problem.cluster import Cluster
from tests.support.chain_placement import chain_placement

INSTANCES = {f"{name}[{i}]": name for name in "abc" for i in range(2)}


def test_labels_only_where_devices_differ() -> None:
    equal = chain_placement(["s", "t"], [0, 1], {})
    assert not groups_of(equal).labels
    assert groups_of(equal, labels=True).labels["d1"]["dev_d1"] == 1000
    unequal = chain_placement(["s", "t"], [0, 1], {}, Cluster.parse("4x2000,1x1000"))
    assert groups_of(unequal).labels  # although only equal devices are used


def test_operators_that_are_divided_alike_share_a_group() -> None:
    names = ["s", *INSTANCES]
    placement = chain_placement(names, [0, 0, 1, 0, 1, 1, 0], INSTANCES)
    found = groups_of(placement)
    split = {g.name: (g.operators, dict(g.slots)) for g in found.groups if len(g.slots) > 1}
    both = {"d0": 1, "d1": 1}
    assert split == {"split0": (("a", "b"), both), "split1": (("c",), {"d1": 1, "d0": 1})}
    slots = [group.slot for group in found.groups if len(group.slots) > 1]
    counted = [{label[:8] for label in slot.labels} for slot in slots if slot is not None]
    assert counted == [{"parts_0_"}, {"parts_1_"}]
    assert found.parallelism("a") == 2
    assert found.parallelism("s") == 1


@pytest.mark.parametrize("on", [(0, 0, 1), (1, 1, 1, 0), (4, 2, 2, 2, 2, 0, 0), (1,) * 30 + (3,)])
def test_labels_fit_every_placement_of_the_job(on: tuple[int, ...]) -> None:
    """Exactly the slots of a group fit on each device, by labels that other numbers share."""
    instances = {f"a[{i}]": "a" for i in range(len(on))}
    found = groups_of(chain_placement(["s", *instances], [0, *on], instances), labels=True)
    other = groups_of(
        chain_placement(["s", "a[0]", "a[1]"], [3, 3, 4], {f"a[{i}]": "a" for i in (0, 1)})
    )
    assert found.labels == other.labels
    slot = found.group_of["a"].slot
    assert slot is not None
    fit = {
        device: min(offered[label] // amount for label, amount in slot.labels.items())
        for device, offered in found.labels.items()
        if slot.labels.keys() <= offered.keys()
    }
    assert {device: n for device, n in fit.items() if n} == {f"d{d}": on.count(d) for d in set(on)}


def test_amounts_are_exact_up_to_the_largest_number_of_instances() -> None:
    """Flink adds amounts up as doubles."""
    labels = device_labels(["a", "b"], 1)
    for number in (1, 2, 3, 7, 999, 2**15 - 1):
        amounts = labels.divided(0, {"a": number, "b": 1})
        amount = amounts["parts_0_a"]
        assert number * amount <= COUNTED < (number + 1) * amount
        assert UNLIMITED >= 2**15 * (COUNTED + 1)
        assert UNLIMITED + amount < 2**53


def test_without_instances_the_parallelism_is_the_jobs() -> None:
    assert groups_of(chain_placement(["s", "t"], [0, 1], {})).parallelism("s") is None


def test_slots_are_small_enough_for_the_fullest_device() -> None:
    instances = {f"a[{i}]": "a" for i in range(50)}
    placement = chain_placement(["s", *instances], [1] + [0] * 50, instances)
    slots = {group.name: group.slot for group in groups_of(placement, labels=True).groups}
    assert slots["pe0"] is not None
    assert slots["pe0"].cores * 50 <= 1
    assert slots["pe1"] is not None
    assert slots["pe1"].cores == 0.1


def test_labels_are_distinct_and_fit_into_keys() -> None:
    names = ["rack 1.a", "rack 1/a", "ä"]
    assert list(label_names(names, "dev_").values()) == ["dev_rack_1_a", "dev_rack_1_a_2", "dev__"]


def test_parts_of_a_sink_may_be_divided_alike() -> None:
    instances = {
        f"x: {part}[{i}]": f"x: {part}" for part in ("Writer", "Committer") for i in (0, 1)
    }
    groups = groups_of(chain_placement([*instances], [0, 1, 0, 1], instances))
    assert [group.operators for group in groups.groups] == [("x: Writer", "x: Committer")]
    with pytest.raises(ProblemError, match="parts of one sink"):
        groups_of(chain_placement([*instances], [0, 1, 0, 0], instances))


def test_groups_of_one_of_several_jobs_begin_with_its_name() -> None:
    names = ["s", *INSTANCES]
    placement = chain_placement(names, [0, 0, 1, 0, 1, 1, 0], INSTANCES)
    own = groups_of(placement)
    first, second = (groups_of(placement.of_job(job)) for job in ("orders", "clicks"))
    assert [group.name for group in own.groups] == ["pe0", "split0", "split1"]
    assert [g.name for g in first.groups] == ["orders-pe0", "orders-split0", "orders-split1"]
    assert not {g.name for g in first.groups} & {g.name for g in second.groups}
    offered = [set(groups.labels["d0"]) for groups in (own, first, second)]
    assert set.intersection(*offered) == {"dev_d0"}  # amounts for one job are not another's


@pytest.mark.parametrize("job", ["a, b", "x y=1", "ü", "@#!:", "j" * 100])
def test_names_of_jobs_do_not_break_the_properties(job: str) -> None:
    """The helper splits a value at commas and blanks."""
    placement = chain_placement(["s", "t"], [0, 1], {}).of_job(job)
    names = [group.name for group in groups_of(placement).groups]
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+-pe\d", name) for name in names)


def test_groups_on_devices_are_those_of_a_placement() -> None:
    placement = chain_placement(["s", *INSTANCES], [0, 0, 1, 0, 1, 1, 0], INSTANCES)
    hosts = {"s": ["d0"], "a": ["d0", "d1"], "b": ["d0", "d1"], "c": ["d1", "d0"]}
    assert groups_on(hosts, [f"d{i}" for i in range(5)], labels=True) == groups_of(placement)


def test_numbers_alone_share_one_group() -> None:
    found = groups_anywhere({"a": 2, "b": 3})
    assert [(group.name, group.operators, group.slot) for group in found.groups] == [
        ("pe0", ("a", "b"), None)
    ]
    assert sum(found.groups[0].slots.values()) == 3
    assert (found.parallelism("a"), found.parallelism("b"), found.labels) == (2, 3, {})


def test_flink_runs_up_to_32768_instances() -> None:
    """The largest number of key groups (KeyGroupRangeAssignment), also without keys."""
    groups_on({"a": ["d"] * 2**15}, ["d"], labels=False)
    with pytest.raises(ProblemError, match=r"'a' has 32,769 instances, but Flink runs at most"):
        groups_on({"a": ["d"] * (2**15 + 1)}, ["d"], labels=False)
