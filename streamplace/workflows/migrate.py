"""Migration from what runs now to a better placement, with few moves."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamplace.display.mixins import Displayable
from streamplace.display.text import number
from streamplace.display.view import TABLE_ROWS, Grid, Line, View
from streamplace.errors import within
from streamplace.placers.registry import ready_placer
from streamplace.placers.search.migrate import Migrate, stay
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput import simulate
from streamplace.workflows.diff import Move, moves_between, relative_gain
from streamplace.workflows.place import result_of, solve
from streamplace.workflows.result import Result


@dataclass(frozen=True, repr=False)
class Migration(Displayable):
    """A placement, and what has to happen to get there.

    Parameters
    ----------
    forced
        Moves that had to be: their device is gone or not allowed.
    chosen
        Moves that were worth it.
    staying
        Score of the forced moves alone.
    """

    result: Result
    forced: tuple[Move, ...]
    chosen: tuple[Move, ...]
    staying: ThroughputScore

    @property
    def headline(self) -> str:
        """Moves and what they gain, in words."""
        moves = f"{len(self.forced)} moves that had to be, {len(self.chosen)} that were worth it"
        before, after = self.staying.throughput, self.result.score.throughput
        return f"{moves}, throughput {number(before)} -> {number(after)} tuples/s"

    def to_dict(self) -> dict[str, Any]:
        """Return what `place --start --json` prints."""
        moves = [
            {"operator": m.operator, "from": m.source, "to": m.target, "forced": forced}
            for forced, several in ((True, self.forced), (False, self.chosen))
            for m in several
        ]
        return {
            **self.result.to_dict(),
            "moves": moves,
            "throughput_without_moves": self.staying.throughput,
        }

    def _view(self) -> View:
        head, count = ("operator", "from", "to", ""), len(self.forced) + len(self.chosen)
        table = Grid(head, count, self._cells, names=(0, 1, 2, 3))
        return View(
            f"Migration: {self.headline}",
            body=(*((table,) if count else ()), self._line()),
            rows=TABLE_ROWS,
        )

    def _cells(self, i: int) -> tuple[str, ...]:
        forced = i < len(self.forced)
        move = self.forced[i] if forced else self.chosen[i - len(self.forced)]
        return move.operator, move.source, move.target, "has to" if forced else ""

    def _line(self) -> Line:
        before, after = self.staying.throughput, self.result.score.throughput
        counts = f"{len(self.forced)} operators have to move, {len(self.chosen)} more do"
        change = f"throughput {number(before)} -> {number(after)} tuples/s"
        return Line(f"{counts}; {change}{relative_gain(before, after)}")


def migrate(
    problem: Problem,
    old: Placement,
    *,
    max_moves: int | None = None,
    move_cost: float | None = None,
    placer: str = "auto",
    seconds: float | None = None,
    seed: int = 0,
) -> Migration:
    """Place a problem, given what runs now.

    Parameters
    ----------
    old
        May be of another cluster, rate or version of the graph: names are what counts.
    max_moves
        Operators that may move beyond those that have to; None: any number.
    move_cost
        Relative throughput that a second of moving state over the network is worth.
    placer
        Who places where any number may move; it sets out from `old`.
    seconds
        Limit of time where moves are limited.

    Raises
    ------
    StreamplaceError
        Whatever is wrong with the problem or the limits, or if no placement is found.
    """
    if max_moves is None and move_cost is None:
        staying, _ = stay(problem, old)
        result = solve(problem, placer, seed, start=staying)
    else:
        limited = Migrate(old, max_moves, move_cost, seconds)
        staying, _ = stay(problem, old)
        ready_placer("search:evaluations=1", problem.model)
        started = time.perf_counter()
        with within("re-placing"):
            found = limited(problem, np.random.default_rng(seed))
        limit = f"max_moves={max_moves}" if move_cost is None else f"move_cost={move_cost:g}"
        result = result_of(found, f"replace:{limit}", time.perf_counter() - started)
    moves = moves_between(old, result.placement)
    had_to = {move.operator for move in moves_between(old, staying)}
    return Migration(
        result,
        tuple(move for move in moves if move.operator in had_to),
        tuple(move for move in moves if move.operator not in had_to),
        simulate(staying),
    )
