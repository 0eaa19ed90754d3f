"""Differences between two placements of the same graph."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamplace.display.mixins import Displayable
from streamplace.display.text import number
from streamplace.display.view import TABLE_ROWS, Grid, Line, Names, View
from streamplace.errors import ProblemError
from streamplace.problem.placement import Placement
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput import simulate


@dataclass(frozen=True)
class Move:
    """An operator that moves from one device to another, with its memory in bytes."""

    operator: str
    source: str
    target: str
    memory_bytes: float = 0.0


@dataclass(frozen=True, repr=False)
class Difference(Displayable):
    """The difference between two placements, each scored with its own problem.

    Parameters
    ----------
    moves
        In the graph's order. Devices are matched by name, so operators on a device that is missing
        from the second cluster count as moved.
    scores
        Scores of the first and the second placement.
    gone, new
        Devices only in the first cluster, and only in the second.
    """

    moves: tuple[Move, ...]
    scores: tuple[ThroughputScore, ThroughputScore]
    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    @property
    def throughput(self) -> tuple[float, float]:
        """Throughput of each placement, in tuples/s."""
        before, after = self.scores
        return before.throughput, after.throughput

    @property
    def memory_bytes(self) -> float:
        """Memory of all operators that move, in bytes."""
        return sum((move.memory_bytes for move in self.moves), 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return what `diff --json` prints."""
        moves = [{"operator": m.operator, "from": m.source, "to": m.target} for m in self.moves]
        return {
            "moves": moves,
            "throughput": list(self.throughput),
            "relative_throughput": [score.relative_throughput for score in self.scores],
            "memory_bytes": self.memory_bytes,
            "devices_gone": list(self.gone),
            "devices_new": list(self.new),
        }

    def _view(self) -> View:
        devices = (("removed", self.gone), ("new", self.new))
        lines = [
            Line(f"{what} devices: {{}}", (Names.of(names),)) for what, names in devices if names
        ]
        table = Grid(("operator", "from", "to"), len(self.moves), self._cells, names=(0, 1, 2))
        body = (
            *lines,
            *((table,) if self.moves else ()),
            Line(self.headline),
            *self._objectives(),
        )
        return View(f"Difference: {self.headline}", body=body, rows=TABLE_ROWS)

    @property
    def headline(self) -> str:
        """The number of moves, the memory to move, and the change of throughput, in words."""
        moves = "1 move" if len(self.moves) == 1 else f"{len(self.moves)} moves"
        memory = f" with {self.memory_bytes:,.0f} bytes of memory" if self.memory_bytes else ""
        before, after = self.throughput
        change = f"throughput {number(before)} -> {number(after)} tuples/s, {after - before:+,.6g}"
        return f"{moves}{memory}; {change}{relative_gain(before, after)}"

    def _cells(self, i: int) -> tuple[str, ...]:
        move = self.moves[i]
        return move.operator, move.source, move.target

    def _objectives(self) -> tuple[Line, ...]:
        """Return the source rate, model and objective of each placement's score, if they differ."""
        objectives = [(one.source_rate, one.model, one.objective) for one in self.scores]
        if len(set(objectives)) == 1:
            return ()
        each = [f"{number(rate)} tuples/s ({model})" for rate, model, _ in objectives]
        names = tuple(objective for *_, objective in objectives)
        if len(set(names)) == 1:
            return (Line(f"scored at {' and at '.join(each)}"),)
        return (Line(f"scored at {' by {} and at '.join(each)} by {{}}", names),)


def relative_gain(before: float, after: float) -> str:
    """Return the relative change of throughput, to end a sentence; empty if `before` is 0."""
    return f" ({after / before - 1:+.1%})" if before else ""


def difference(a: Placement, b: Placement) -> Difference:
    """Return the difference from `a` to `b`.

    Raises
    ------
    ProblemError
        If their graphs have different operators.
    """
    if set(a.problem.graph.names) != set(b.problem.graph.names):
        raise ProblemError("the graphs of the placements have different operators")
    before, after = (placement.problem.cluster for placement in (a, b))
    return Difference(
        moves_between(a.assignment, b),
        (simulate(a), simulate(b)),
        gone=tuple(name for name in before.names if name not in after.index),
        new=tuple(name for name in after.names if name not in before.index),
    )


def moves_between(a: Mapping[str, str], b: Placement) -> tuple[Move, ...]:
    """Return the moves from `a` to `b` of operators that are in both, in the order of `a`.

    Parameters
    ----------
    a
        Operator -> device.
    """
    graph, to = b.problem.graph, b.assignment
    return tuple(
        Move(operator, device, to[operator], float(graph.memory_bytes[graph.index[operator]]))
        for operator, device in a.items()
        if operator in to and to[operator] != device
    )
