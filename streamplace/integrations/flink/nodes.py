"""Nodes of Flink's plans: unique names, ids, parallelism, and distributions by name."""

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Annotated, Any, Protocol, TypeVar

from pydantic import BeforeValidator, Field

from streamplace.errors import FormatError
from streamplace.problem.logical import BY_KEY, AnyDistribution, Distribution

MAX_PARALLELISM = 1 << 15  # Flink's own limit
Parallelism = Annotated[int, Field(ge=1, le=MAX_PARALLELISM)]
DIGITS = 10  # more than any whole number that Flink accepts here has


def _whole(value: Any) -> Any:
    """Convert a parallelism in quotes; the DataSet API writes ``default`` for none."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < DIGITS:
        return int(value)
    return 1 if value == "default" else value


QuotedParallelism = Annotated[Parallelism, BeforeValidator(_whole)]

DISTRIBUTIONS: dict[str, AnyDistribution] = {
    "FORWARD": Distribution.POINTWISE,
    "RESCALE": Distribution.POINTWISE,
    "KEEP_INPUT_AS_IS": Distribution.POINTWISE,
    "BROADCAST": Distribution.BROADCAST,
    "GLOBAL": Distribution.FIRST,
    "SINGLETON": Distribution.FIRST,
    "HASH": BY_KEY,
}
"""Ship strategy, or distribution of a compiled plan -> distribution; others are `ALL`."""


class Node(Protocol):
    """A node of a plan."""

    @property
    def id(self) -> Any:
        """Its id."""
        ...


AnyNode = TypeVar("AnyNode", bound=Node)


def distribution_of(name: str) -> AnyDistribution:
    """Return the distribution of a ship strategy or of a compiled plan's distribution.

    Batch jobs also name the keys: ``HASH[word]`` in SQL, ``Hash Partition on [0]`` in the DataSet
    API.
    """
    strategy = re.split(r"\[| PARTITION\b", name.upper())[0]
    return DISTRIBUTIONS.get(strategy, Distribution.ALL)


def each_once(nodes: Sequence[AnyNode], where: str) -> tuple[list[AnyNode], dict[Hashable, int]]:
    """Return the nodes without repetitions, and the number of each by its id.

    Raises
    ------
    FormatError
        If two different nodes have the same id.
    """
    found: list[AnyNode] = []
    index: dict[Hashable, int] = {}
    for i, node in enumerate(nodes):
        if node.id not in index:
            index[node.id] = len(found)
            found.append(node)
        elif (first := found[index[node.id]]) != node:
            raise FormatError(
                f"{where}: nodes[{i}].id: {node.id!r:.40} is also the id of "
                f"nodes[{nodes.index(first)}]"
            )
    return found, index


def distinct(names: Iterable[str]) -> list[str]:
    """Return the names with repetitions numbered: ``Map``, ``Map#2``, …"""
    originals = [name or "unnamed" for name in names]
    taken, counts, found = set(originals), dict[str, int](), []
    for name in originals:
        counts[name] = count = counts.get(name, 0) + 1
        unique = name
        while count > 1 and unique in taken:
            unique = f"{name}#{count}"
            count += 1
        counts[name] = max(counts[name], count - 1)
        taken.add(unique)
        found.append(unique)
    return found
