"""Single moves of operators that raise the throughput of a placement."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from streamplace.display.text import number
from streamplace.display.view import Grid
from streamplace.problem.placement import Placement
from streamplace.scoring.loads import Bottleneck
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput import busiest, throughput_where_scored
from streamplace.util.arrays import Ints
from streamplace.workflows.move_groups import grid_of_moves, names_of_move

MIN_GAIN = 1e-9  # relative gain in throughput; smaller ones count as rounding
MAX_MOVES = 1000  # maximum number of moves returned
AT_ONCE = 4_000_000  # operators x placements scored in one call


@dataclass(frozen=True)
class ImprovingMove:
    """A move of one operator, or of several colocated ones, and its effect.

    Parameters
    ----------
    source, target
        Names of the devices.
    throughput, gain
        Throughput after the move and its increase in tuples/s, at the source rate of the
        placement's score.
    bottleneck
        The bottleneck after the move.
    """

    operators: tuple[str, ...]
    source: str
    target: str
    throughput: float
    gain: float
    bottleneck: Bottleneck

    def to_dict(self) -> dict[str, Any]:
        """Return the move as `explain --json` prints it."""
        return {
            "operators": list(self.operators),
            "from": self.source,
            "to": self.target,
            "throughput": self.throughput,
            "gain": self.gain,
            "bottleneck": asdict(self.bottleneck),
        }


def move_grid(moves: Sequence[ImprovingMove]) -> Grid:
    """Return a table of moves; equally good target devices share a row."""

    def effect(move: ImprovingMove) -> tuple[str, ...]:
        then = move.bottleneck
        after = f"{then.kind} {then.name} at {then.utilisation:.1%}"
        return number(move.throughput), f"+{number(move.gain)}", after

    columns = ("throughput", "gain", "new bottleneck")
    return grid_of_moves(moves, columns, effect, alike=2, names=(0, 1, 2, 5))


def improving_moves(
    placement: Placement, score: ThroughputScore, units: Ints
) -> tuple[ImprovingMove, ...]:
    """Return the moves of these units that raise the throughput, the best first, at most 1,000.

    Equally good moves are in the order of the units, then of the devices. Only moves to feasible
    placements count.

    Parameters
    ----------
    score
        Score of the placement.
    units
        Indices of the units to move.
    """
    problem = placement.problem
    at_rate_of_score = score.source_rate / problem.source_rate
    better: list[tuple[float, int, int]] = []
    for unit, target, rows in feasible_moves(placement, units):
        after = throughput_where_scored(problem, rows) * at_rate_of_score
        helps = after > score.throughput * (1 + MIN_GAIN)
        columns = (after[helps].tolist(), unit[helps].tolist(), target[helps].tolist())
        better += zip(*columns, strict=True)
    better.sort(key=lambda move: -move[0])
    return tuple(_improving_move(placement, score, *move) for move in better[:MAX_MOVES])


def _improving_move(
    placement: Placement, score: ThroughputScore, throughput: float, unit: int, target: int
) -> ImprovingMove:
    moved = placement.problem.feasibility.unit_of == unit
    devices = np.where(moved, np.int32(target), placement.devices)
    return ImprovingMove(
        *names_of_move(placement, unit, target),
        throughput,
        throughput - score.throughput,
        busiest(Placement(placement.problem, devices)),
    )


def feasible_moves(placement: Placement, units: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield chunks of moves: units and their targets, (K,), and the placements, (K, V)."""
    rules, count = placement.problem.feasibility, len(placement.problem.cluster.devices)
    unit, target = np.repeat(units, count), np.tile(np.arange(count, dtype=np.int32), len(units))
    step = max(1, AT_ONCE // len(placement.devices))
    for first in range(0, len(unit), step):
        chunk = slice(first, first + step)
        moves = (rules.unit_of == unit[chunk, None]) & (placement.devices != target[chunk, None])
        rows = np.where(moves, target[chunk, None], placement.devices)
        feasible = moves.any(axis=1) & rules.allowed[unit[chunk], target[chunk]]
        feasible[feasible] = [rules.violation(row) is None for row in rows[feasible]]
        if feasible.any():
            yield unit[chunk][feasible], target[chunk][feasible], rows[feasible]
