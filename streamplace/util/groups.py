"""Groups of things, joined where they overlap."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


def connected_groups(groups: Iterable[Iterable[Item]]) -> list[list[Item]]:
    """Return the groups of two or more items, those that have items in common as one.

    Items keep the order in which they first appear.
    """
    root: dict[Item, Item] = {}

    def find(item: Item) -> Item:
        while root[item] != item:
            root[item] = item = root[root[item]]
        return item

    for group in groups:
        first: Item | None = None
        for item in group:
            root.setdefault(item, item)
            if first is None:
                first = item
            root[find(item)] = find(first)
    members: dict[Item, list[Item]] = {}
    for item in root:
        members.setdefault(find(item), []).append(item)
    return [group for group in members.values() if len(group) > 1]
