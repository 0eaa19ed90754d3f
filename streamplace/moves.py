"""What moves between two placements of one graph."""

from dataclasses import dataclass
from typing import Any

from streamplace.errors import ProblemError
from streamplace.placement import Placement
from streamplace.score import simulate


@dataclass(frozen=True)
class Move:
    """An operator that changes its device."""

    operator: str
    source: str
    target: str


@dataclass(frozen=True)
class Difference:
    """Moves in the graph's order, and the throughput of each placement under its own problem."""

    moves: tuple[Move, ...]
    throughput: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Return what `diff --json` prints."""
        moves = [{"operator": m.operator, "from": m.source, "to": m.target} for m in self.moves]
        return {"moves": moves, "throughput": list(self.throughput)}


def difference(a: Placement, b: Placement) -> Difference:
    """Return what moves from `a` to `b`.

    Raises
    ------
    ProblemError
        If they place different graphs.
    """
    if set(a.problem.graph.names) != set(b.problem.graph.names):
        raise ProblemError("the placements are of graphs with different operators")
    to = b.assignment
    moves = tuple(
        Move(operator, device, to[operator])
        for operator, device in a.assignment.items()
        if to[operator] != device
    )
    return Difference(moves, (simulate(a).throughput, simulate(b).throughput))
