"""Key groups: Flink's hashes, and which instance has a key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.problem.logical import (
    default_groups,
    group_of,
    instances_of_groups,
    java_hash,
    most_with,
)


@pytest.mark.parametrize(
    ("text", "code"),
    [("", 0), ("a", 97), ("hello", 99162322), ("polygenelubricants", 2**31), ("😀", 1772899)],
)
def test_hash_codes_are_those_of_java(text: str, code: int) -> None:
    assert java_hash(text) == code


@given(st.integers(1, 300), st.integers(0, 200))
def test_instances_have_consecutive_groups(count: int, more: int) -> None:
    """The ranges of ``KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex``."""
    groups = count + more
    owner = instances_of_groups(groups, count).tolist()
    for i in range(count):
        first = (i * groups + count - 1) // count
        last = ((i + 1) * groups - 1) // count
        assert [g for g, own in enumerate(owner) if own == i] == list(range(first, last + 1))


@pytest.mark.parametrize(("count", "groups"), [(1, 128), (85, 128), (86, 256), (40_000, 32_768)])
def test_default_numbers_of_groups(count: int, groups: int) -> None:
    assert default_groups(count) == groups


@pytest.mark.parametrize("groups", [2**k for k in range(7, 15)])
def test_the_largest_parallelism_with_a_number_of_groups(groups: int) -> None:
    assert default_groups(most_with(groups)) == groups < default_groups(most_with(groups) + 1)
    assert most_with(32_768) == 32_768


@given(st.text(max_size=9), st.integers(1, 4096))
def test_groups_of_keys_are_within_their_number(key: str, groups: int) -> None:
    assert 0 <= group_of(key, groups) < groups
