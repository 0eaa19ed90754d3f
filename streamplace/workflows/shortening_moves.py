"""Single moves of operators that shorten the makespan of a placement."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from streamplace.display.text import number
from streamplace.display.view import Grid
from streamplace.problem.placement import Placement
from streamplace.scoring.makespan_evaluator import MakespanEvaluator
from streamplace.util.arrays import Ints
from streamplace.workflows.improving_moves import MAX_MOVES, MIN_GAIN, feasible_moves
from streamplace.workflows.move_groups import grid_of_moves, names_of_move

MAX_PARTS = 20_000_000  # operators and streams x placements x passes that take a few seconds


@dataclass(frozen=True)
class ShorteningMove:
    """A move of one operator, or of several colocated ones, and its effect.

    Parameters
    ----------
    source, target
        Names of the devices.
    makespan_s, gain_s
        Makespan after the move, and by how much it is shorter, in seconds.
    """

    operators: tuple[str, ...]
    source: str
    target: str
    makespan_s: float
    gain_s: float

    def to_dict(self) -> dict[str, Any]:
        """Return the move as `explain --json` prints it."""
        return {
            "operators": list(self.operators),
            "from": self.source,
            "to": self.target,
            "makespan_s": self.makespan_s,
            "gain_s": self.gain_s,
        }


def shortening_moves(
    placement: Placement, scored: MakespanEvaluator, makespan_s: float, units: Ints
) -> tuple[ShorteningMove, ...]:
    """Return the moves of these units that shorten the makespan, the best first, at most 1,000.

    Equally good moves are in the order of the units, then of the devices. Only moves to feasible
    placements count.

    Parameters
    ----------
    makespan_s
        Makespan of the placement, in seconds.
    units
        Indices of the units to move.
    """
    shorter: list[tuple[float, int, int]] = []
    for unit, target, rows in feasible_moves(placement, units):
        after = scored.makespans(rows)
        helps = after < makespan_s * (1 - MIN_GAIN)
        columns = (after[helps].tolist(), unit[helps].tolist(), target[helps].tolist())
        shorter += zip(*columns, strict=True)
    shorter.sort(key=lambda move: move[0])
    return tuple(_move(placement, makespan_s, *move) for move in shorter[:MAX_MOVES])


def most_units(scored: MakespanEvaluator) -> int:
    """Return the number of units whose moves can be tried in a few seconds; at least one."""
    parts = scored.tasks.operators + len(scored.tasks.source)
    each = parts * scored.tasks.devices * scored.passes
    return max(1, MAX_PARTS // each)


def move_grid(moves: Sequence[ShorteningMove]) -> Grid:
    """Return a table of moves; equally good target devices share a row."""

    def effect(move: ShorteningMove) -> tuple[str, ...]:
        return number(move.makespan_s), f"-{number(move.gain_s)}"

    return grid_of_moves(moves, ("makespan, s", "change, s"), effect, alike=1)


def _move(
    placement: Placement, before_s: float, makespan_s: float, unit: int, target: int
) -> ShorteningMove:
    names = names_of_move(placement, unit, target)
    return ShorteningMove(*names, makespan_s, before_s - makespan_s)
