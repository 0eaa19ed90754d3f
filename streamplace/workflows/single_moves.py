"""Single moves of operators that improve a placement: their effects, and tables of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from streamplace.display.text import number, percent
from streamplace.display.view import Cell, Grid, Names
from streamplace.problem.objective import Objective
from streamplace.problem.placement import Placement
from streamplace.scoring.evaluator import Evaluator
from streamplace.scoring.loads import Bottleneck
from streamplace.scoring.score import Score, ThroughputScore
from streamplace.scoring.throughput import busiest, throughput_where_scored
from streamplace.util.arrays import Floats, Ints

MIN_GAIN = 1e-9  # relative gain; smaller ones count as rounding
MAX_MOVES = 1000  # maximum number of moves returned
AT_ONCE = 4_000_000  # operators x placements scored in one call
MAX_PARTS = 20_000_000  # operators and streams x placements x passes that take a few seconds


@dataclass(frozen=True)
class SingleMove(ABC):
    """A move of one operator, or of several colocated ones.

    Parameters
    ----------
    source, target
        Names of the devices.
    """

    alike: ClassVar[int]
    names: ClassVar[tuple[int, ...]] = (0, 1, 2)

    operators: tuple[str, ...]
    source: str
    target: str

    @abstractmethod
    def columns(self, measured: str) -> tuple[str, ...]:
        """Return the headings of `effect`; `measured` is what the score measures, in words."""

    @abstractmethod
    def effect(self) -> tuple[str, ...]:
        """Return the cells of `columns`; moves of one row agree in the first `alike` of them."""

    def to_dict(self) -> dict[str, Any]:
        """Return the move as `explain --json` prints it."""
        own = asdict(self)
        del own["operators"], own["source"], own["target"]
        ends = {"from": self.source, "to": self.target}
        return {"operators": list(self.operators), **ends, **own}


@dataclass(frozen=True)
class ImprovingMove(SingleMove):
    """A move and its effect on the throughput.

    Parameters
    ----------
    throughput, gain
        Throughput after the move and its increase in tuples/s, at the source rate of the
        placement's score.
    bottleneck
        The bottleneck after the move.
    """

    alike: ClassVar[int] = 2
    names: ClassVar[tuple[int, ...]] = (0, 1, 2, 5)

    throughput: float
    gain: float
    bottleneck: Bottleneck

    def columns(self, measured: str) -> tuple[str, ...]:
        """Return the headings of `effect`."""
        return measured, "gain", "new bottleneck"

    def effect(self) -> tuple[str, ...]:
        """Return the throughput, its increase, and the bottleneck after the move."""
        then = self.bottleneck
        after = f"{then.kind} {then.name} at {percent(then.utilisation)}"
        return number(self.throughput), f"+{number(self.gain)}", after


@dataclass(frozen=True)
class ValueMove(SingleMove):
    """A move and its effect on a score without source rates.

    Parameters
    ----------
    objective
        The objective.
    value, gain
        The score after the move, and by how much it is better.
    """

    alike: ClassVar[int] = 1

    objective: Objective
    value: float
    gain: float

    def columns(self, measured: str) -> tuple[str, ...]:
        """Return the headings of `effect`."""
        unit = f", {self.objective.unit}" if self.objective.unit else ""
        return f"{measured}{unit}", f"change{unit}"

    def effect(self) -> tuple[str, ...]:
        """Return the score and its change."""
        sign = "+" if self.objective.higher_is_better else "-"
        return number(self.value), f"{sign}{number(self.gain)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the move as `explain --json` prints it."""
        gain = "gain_s" if self.objective.unit == "s" else "gain"
        effect = {self.objective.value_key: self.value, gain: self.gain}
        return {"operators": list(self.operators), "from": self.source, "to": self.target, **effect}


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
    problem, before = placement.problem, score.throughput
    at_rate_of_score = score.source_rate / problem.source_rate

    def reached(rows: Ints) -> Floats:
        return throughput_where_scored(problem, rows) * at_rate_of_score

    made = []
    for after, unit, target in _best_moves(placement, units, reached, before * (1 + MIN_GAIN)):
        moved = problem.feasibility.unit_of == unit
        devices = np.where(moved, np.int32(target), placement.devices)
        then = busiest(Placement(problem, devices))
        names = names_of_move(placement, unit, target)
        made.append(ImprovingMove(*names, after, after - before, then))
    return tuple(made)


def moves_by_value(
    placement: Placement, scored: Evaluator, score: Score, units: Ints
) -> tuple[ValueMove, ...]:
    """Return the moves of these units that improve a score; see `improving_moves`.

    Parameters
    ----------
    score
        Score of the placement.
    """
    objective, now = placement.problem.objective, score.value
    higher = objective.higher_is_better
    least = now * (1 + MIN_GAIN) if higher else -now * (1 - MIN_GAIN)
    return tuple(
        ValueMove(
            *names_of_move(placement, unit, target),
            objective,
            value if higher else -value,
            value - now if higher else now + value,
        )
        for value, unit, target in _best_moves(
            placement, units, lambda rows: -scored.loss(rows), least
        )
    )


def most_units(parts: int, devices: int) -> int:
    """Return the number of units whose moves can be tried in a few seconds; at least one.

    Parameters
    ----------
    parts
        Operators and streams of all passes that score one placement.
    """
    return max(1, MAX_PARTS // (parts * devices))


def _best_moves(
    placement: Placement, units: Ints, value_of: Callable[[Ints], Floats], least: float
) -> list[tuple[float, int, int]]:
    """Return the value after each move that helps, its unit and its target, the best first.

    Parameters
    ----------
    value_of
        Function from placements, (K, V), to their values, (K,), of which higher ones are better.
    least
        The value that a move has to exceed.
    """
    found: list[tuple[float, int, int]] = []
    for unit, target, rows in feasible_moves(placement, units):
        after = value_of(rows)
        helps = after > least
        columns = (after[helps].tolist(), unit[helps].tolist(), target[helps].tolist())
        found += zip(*columns, strict=True)
    found.sort(key=lambda move: -move[0])
    return found[:MAX_MOVES]


def feasible_moves(placement: Placement, units: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield chunks of moves: units and their targets, (K,), and the placements, (K, V)."""
    feasibility, count = placement.problem.feasibility, len(placement.problem.cluster.devices)
    unit, target = np.repeat(units, count), np.tile(np.arange(count, dtype=np.int32), len(units))
    step = max(1, AT_ONCE // len(placement.devices))
    for first in range(0, len(unit), step):
        chunk = slice(first, first + step)
        moves = (feasibility.unit_of == unit[chunk, None]) & (
            placement.devices != target[chunk, None]
        )
        rows = np.where(moves, target[chunk, None], placement.devices)
        feasible = moves.any(axis=1) & feasibility.allowed[unit[chunk], target[chunk]]
        feasible[feasible] = [feasibility.violation(row) is None for row in rows[feasible]]
        if feasible.any():
            yield unit[chunk][feasible], target[chunk][feasible], rows[feasible]


def names_of_move(placement: Placement, unit: int, target: int) -> tuple[tuple[str, ...], str, str]:
    """Return the operators that a move of a unit to a device moves, and both devices, by names."""
    problem = placement.problem
    moved = (problem.feasibility.unit_of == unit) & (placement.devices != target)
    operators = np.flatnonzero(moved)
    return (
        tuple(problem.graph.names[v] for v in operators),
        problem.cluster.names[placement.devices[operators[0]]],
        problem.cluster.names[target],
    )


def move_grid(moves: Sequence[SingleMove], measured: str) -> Grid:
    """Return a table of moves of one class, at least one; equally good targets share a row."""
    kind = type(moves[0])
    rows: dict[tuple[object, ...], list[SingleMove]] = {}
    for move in moves:
        key = (move.operators, move.source, *move.effect()[: kind.alike])
        rows.setdefault(key, []).append(move)
    groups = list(rows.values())

    def row(i: int) -> tuple[Cell, ...]:
        first = groups[i][0]
        targets = Names.of([move.target for move in groups[i]])
        return Names.of(first.operators), first.source, targets, *first.effect()

    return Grid(
        ("move", "from", "to", *moves[0].columns(measured)), len(groups), row, kind.names,
        left_out="and {} more that help less",
    )  # fmt: skip
