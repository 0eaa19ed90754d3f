"""Migration from the current placement to a better one, with few moves."""

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
from streamplace.util import work_clock
from streamplace.workflows.diff import Move, moves_between, relative_gain
from streamplace.workflows.place import result_of, solve
from streamplace.workflows.result import Result

SAME = 1e-6  # relative difference of throughputs that counts as none


@dataclass(frozen=True, repr=False)
class Migration(Displayable):
    """A new placement and the moves that lead to it.

    Parameters
    ----------
    forced
        Necessary moves: the operator's device is gone or no longer allowed.
    chosen
        Further moves, which improve the placement.
    staying
        Score after the forced moves only.
    before
        Throughput of the current placement on its own cluster, at its own source rate, in tuples/s.
    """

    result: Result
    forced: tuple[Move, ...]
    chosen: tuple[Move, ...]
    staying: ThroughputScore
    before: float

    @property
    def headline(self) -> str:
        """The numbers of moves and their gain, in words."""
        before, after = self.staying.throughput, self.result.score.throughput
        return f"{self._counts()}, throughput {number(before)} -> {number(after)} tuples/s"

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
            "throughput_before": self.before,
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
        return move.operator, move.source, move.target, "forced" if forced else ""

    def _counts(self) -> str:
        chosen = len(self.chosen)
        further = f"{chosen} further move{'' if chosen == 1 else 's'}"
        forced = len(self.forced)
        return f"{forced} forced move{'' if forced == 1 else 's'}, {further}"

    def _line(self) -> Line:
        staying, after = self.staying.throughput, self.result.score.throughput
        least = "after the forced moves only" if self.forced else "after moving nothing"
        if abs(self.before - staying) > SAME * self.before:
            rates = f"{number(self.before)} tuples/s before, {number(after)} now, {number(staying)}"
            return Line(f"{self._counts()}; throughput {rates} {least}")
        change = f"throughput {number(staying)} -> {number(after)} tuples/s"
        return Line(f"{self._counts()}; {change}{relative_gain(staying, after)}")


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
    """Place a problem, starting from the current placement.

    Parameters
    ----------
    old
        The current placement. It may belong to another cluster, rate or version of the graph:
        operators and devices are matched by name.
    max_moves
        Number of operators that may move, in addition to those that must; None: any number.
    move_cost
        Relative throughput (throughput / source rate) that a move must gain for each second it
        takes to send the operator's memory_bytes over a mean link.
    placer
        The placer to run if moves are not limited; it starts from `old`.
    seconds
        Time limit in seconds if moves are limited.

    Raises
    ------
    StreamplaceError
        If the problem or a limit is invalid, or no placement is found.
    """
    if max_moves is None and move_cost is None:
        staying, _ = stay(problem, old)
        result = solve(problem, placer, seed, start=staying)
    else:
        limited = Migrate(old, max_moves, move_cost, seconds)
        staying, _ = stay(problem, old)
        ready_placer("search:evaluations=1", problem.model)
        started = work_clock.now()
        with within("re-placing"):
            placement = limited(problem, np.random.default_rng(seed))
        limit = f"max_moves={max_moves}" if move_cost is None else f"move_cost={move_cost:g}"
        result = result_of(placement, f"migrate:{limit}", work_clock.now() - started)
    moves = moves_between(old, result.placement)
    forced = {move.operator for move in moves_between(old, staying)}
    return Migration(
        result,
        tuple(move for move in moves if move.operator in forced),
        tuple(move for move in moves if move.operator not in forced),
        simulate(staying),
        simulate(old).throughput,
    )
