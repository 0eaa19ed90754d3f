"""Numbers of instances within slots, compared with all numbers that fit."""

from dataclasses import replace
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from streamplace.control.observation import Observation, limits_by_slots
from tests.support.control import observed

COUNTS = st.lists(st.integers(1, 6), min_size=3, max_size=3)


def window(now: list[int], free: int | None, groups: dict[str, str]) -> Observation:
    hosts = {name: ("a",) * count for name, count in zip("xyz", now, strict=True)}
    return replace(observed(0.9, hosts=hosts), free_slots=free, groups=groups)


def counts(numbers: list[int]) -> dict[str, int]:
    return dict(zip("xyz", numbers, strict=True))


def test_operators_of_a_group_share_slots() -> None:
    found = limits_by_slots(counts([1, 4, 2]), window([1, 1, 1], 2, {}))
    assert found == counts([3, 3, 3])
    assert limits_by_slots(counts([1, 3, 2]), window([1, 1, 1], 2, {})) == {}
    assert limits_by_slots(counts([1, 9, 2]), window([1, 1, 1], None, {})) == {}


def test_the_group_that_is_slowed_least_gives_way() -> None:
    """Of seven slots for 9 and 3, x keeps 5 and z 2, as z has half of what it wants with 1.5."""
    groups = {"x": "one", "y": "one", "z": "two"}
    found = limits_by_slots(counts([9, 1, 3]), window([2, 1, 1], 4, groups))
    assert found == counts([5, 5, 2])


@given(COUNTS, COUNTS, st.integers(0, 9))
def test_no_numbers_that_fit_slow_the_slowest_group_less(
    wanted: list[int], now: list[int], free: int
) -> None:
    groups = dict(zip("xyz", "123", strict=True))
    found = limits_by_slots(counts(wanted), window(now, free, groups))
    slots = free + sum(now)
    if not found:
        assert sum(wanted) <= slots
        return
    assert sum(found.values()) == slots
    assert all(found[name] >= min(a, b) for name, a, b in zip("xyz", wanted, now, strict=True))

    def slowest(numbers: list[int]) -> float:
        return min(a / b for a, b in zip(numbers, wanted, strict=True))

    kept = [range(min(a, b), a + 1) for a, b in zip(wanted, now, strict=True)]
    best = max(slowest([*each]) for each in product(*kept) if sum(each) <= slots)
    assert slowest([found[name] for name in "xyz"]) == best
