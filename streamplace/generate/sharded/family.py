"""Families with one graph for each number of shards, and checks of their options."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isqrt

from streamplace.errors import UsageError
from streamplace.generate.draw import Draw, check_range
from streamplace.generate.sharded.builder import ShardedGraph
from streamplace.problem.graph import StreamGraph

MAX_SHARDS = 256


@dataclass(frozen=True)
class ShardedFamily(ABC):
    """A family that draws nothing: its options determine the graph.

    Parameters
    ----------
    shards
        Number of shards of an operation, such as the number of devices.

    Raises
    ------
    UsageError
        On an option that is out of range.
    """

    shards: int = 4

    def __post_init__(self) -> None:
        check_range("shards", self.shards, MAX_SHARDS)

    def check(self, count: int, sizes: range | None) -> None:
        """Refuse numbers of operators, and several graphs."""
        if sizes is not None:
            raise UsageError("the number of shards determines the operators; use shards=N")
        if count > 1:
            raise UsageError(f"a sharded family has one graph: count must be 1 (got {count})")

    def graph(self, draw: Draw) -> StreamGraph:
        """Return the graph."""
        builder = ShardedGraph()
        self.build(builder)
        return builder.graph(draw.name)

    @abstractmethod
    def build(self, graph: ShardedGraph) -> None:
        """Add the operations to a graph."""

    def grid(self, most_columns: int) -> tuple[int, int]:
        """Return numbers of rows and columns whose product is the number of shards.

        They are as close to each other as possible; rows are not more than columns, unless there
        would be more than `most_columns` columns.
        """
        for rows in range(isqrt(self.shards), 0, -1):
            if self.shards % rows == 0 and self.shards // rows <= most_columns:
                return rows, self.shards // rows
        return self.shards, 1
