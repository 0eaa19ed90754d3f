"""Joined groups."""

from streamplace.util.groups import connected_groups


def test_groups_with_common_items_are_one() -> None:
    groups = [["a", "b"], ["c", "d"], ["e"], ["d", "f"], ["f", "b"], ["g", "h"], []]
    assert connected_groups(groups) == [["a", "b", "c", "d", "f"], ["g", "h"]]


def test_long_chains_of_groups_are_joined() -> None:
    (group,) = connected_groups([(i, i + 1) for i in range(50_000)])
    assert group == [*range(50_001)]
