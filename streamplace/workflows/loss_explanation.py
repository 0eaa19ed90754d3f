"""The result types of `explain_losses`: the effect of one loss, and those of all."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from streamplace.display.mixins import Displayable, RoundedRepr, Tabular
from streamplace.display.text import percent_reached
from streamplace.display.view import TABLE_ROWS, Cell, Grid, Line, Names, View, template
from streamplace.problem.placement import Placement
from streamplace.scoring.score import ThroughputScore
from streamplace.util.text import counted
from streamplace.workflows.diff import OperatorMove

REASONS = 5  # losses that are not survived whose reasons are shown


@dataclass(frozen=True, repr=False)
class LossEffect(RoundedRepr):
    """What the loss of a device, or of all devices of a group, does to a placement.

    Parameters
    ----------
    name
        Name of the device or group.
    devices
        Names of the devices that are lost.
    is_group
        Whether it is a group of devices.
    stopped
        Names of the operators on them.
    left
        Relative throughput (throughput / source rate) without any move.
    moves
        The moves to the best placement found on the devices that are left.
    fewest_moves
        The fewest moves that lead to a feasible placement.
    after
        Relative throughput after the moves; None if there is no placement.
    survived
        Whether as much is carried after the moves as with all devices.
    proven
        If it is not survived: whether it is proven that no placement carries as much.
    confined
        Names of the operators that may run on no other device.
    reason
        Why there is no placement, if no operator is confined; empty if there is one.
    """

    name: str
    devices: tuple[str, ...]
    is_group: bool
    stopped: tuple[str, ...]
    left: float
    moves: tuple[OperatorMove, ...] = ()
    fewest_moves: int = 0
    after: float | None = None
    survived: bool = False
    proven: bool = False
    confined: tuple[str, ...] = ()
    reason: str = ""

    @property
    def rank(self) -> tuple[bool, bool, float, float, int]:
        """A key by which a loss is less severe; devices come before groups."""
        after = -1.0 if self.after is None else self.after
        return self.is_group, self.survived, after, self.left, -len(self.moves)

    def cells(self) -> tuple[Cell, ...]:
        """Return the cells of a table's row."""
        name = f"{self.name} ({counted(len(self.devices), 'device')})"
        stopped = Names.of(self.stopped)
        targets = list(dict.fromkeys(move.target for move in self.moves))
        return (
            name if self.is_group else self.name,
            f"{len(self.stopped):,}",
            stopped,
            percent_reached(self.left),
            "none" if self.after is None else f"{len(self.moves):,}",
            Names.of(targets),
            "" if self.after is None else percent_reached(self.after),
        )

    def why(self) -> Line:
        """Return why the loss is not survived."""
        if self.confined:
            why = "constraints, labels or limits allow no other device"
            text = f"without {{}}, {{}} may run nowhere else: {why}"
            return Line(text, (self.name, Names.of(self.confined)))
        if self.after is None:
            return Line(f"without {{}}, {template(self.reason)}", (self.name,))
        unknown = "a placement that carries as much as now was not found, but may exist"
        what = "no placement carries as much as now" if self.proven else unknown
        after = f"after the moves, {percent_reached(self.after)} of the source rate is carried"
        return Line(f"without {{}}, {what}; {after}", (self.name,))


@dataclass(frozen=True, repr=False)
class LossExplanation(Displayable, Tabular):
    """What the loss of each device, and of each group of devices, does to a placement.

    Parameters
    ----------
    placement
        The placement; under `bottleneck` if its model is the engine.
    score
        Its score with all devices.
    effects
        Of devices with operators, then of groups of several devices; the worst of each first.
    """

    placement: Placement
    score: ThroughputScore
    effects: tuple[LossEffect, ...]

    @property
    def worst(self) -> LossEffect:
        """The effect of the worst loss of a single device."""
        return self.effects[0]

    @property
    def single_points(self) -> tuple[LossEffect, ...]:
        """The effects of losses of single devices that are not survived."""
        return tuple(one for one in self.effects if not (one.is_group or one.survived))

    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows of the table: throughputs in tuples/s, and counts."""
        return [
            {
                "name": one.name,
                "kind": "group" if one.is_group else "device",
                "operators": len(one.stopped),
                "throughput_without_moves": self._rate(one.left),
                "moves": len(one.moves),
                "throughput_after_moves": self._rate(one.after),
                "survived": one.survived,
                "proven": one.proven,
            }
            for one in self.effects
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return what `explain --each-loss --json` prints."""
        losses = [
            {
                **row,
                "devices": list(one.devices),
                "operators": list(one.stopped),
                "moves": [
                    {"operator": move.operator, "from": move.source, "to": move.target}
                    for move in one.moves
                ],
                "fewest_moves": one.fewest_moves,
                "confined": list(one.confined),
                "reason": one.reason,
            }
            for row, one in zip(self.to_records(), self.effects, strict=True)
        ]
        return {
            "throughput": self.score.throughput,
            "source_rate": self.score.source_rate,
            "losses": losses,
            "worst": self.worst.name,
            "single_points_of_failure": [one.name for one in self.single_points],
            "model": self.score.model,
        }

    @property
    def headline(self) -> str:
        """How many devices are single points of failure, in words."""
        devices = sum(not one.is_group for one in self.effects)
        points = len(self.single_points)
        verb = "is a single point" if points == 1 else "are single points"
        return f"{points:,} of {counted(devices, 'device')} {verb} of failure"

    def _rate(self, share: float | None) -> float | None:
        return None if share is None else share * self.score.source_rate

    def _view(self) -> View:
        head = ("lost", "operators", "stopped", "left", "moves", "to", "carried after")
        effects = self.effects
        names = (0, 2, 5)
        table = Grid(head, len(effects), lambda i: effects[i].cells(), names, min_rows=TABLE_ROWS)
        now = self.score.achieved(self.placement.problem)
        title = f"LossExplanation: {self.headline}"
        return View(title, body=(now, table, *self._lines()), rows=TABLE_ROWS)

    def _lines(self) -> Iterator[Line]:
        """Yield why losses are not survived, and the worst one."""
        failing = [one for one in self.effects if not one.survived]
        for one in failing[:REASONS]:
            yield one.why()
        if len(failing) > REASONS:
            yield Line(f"and {len(failing) - REASONS:,} more that are not survived")
        yield self._conclusion()

    def _conclusion(self) -> Line:
        """Return whether a device is a single point of failure, and which loss is worst."""
        worst, points = self.worst, self.single_points
        after = "no placement is left"
        if worst.after is not None:
            moves = counted(len(worst.moves), "move")
            after = f"{percent_reached(worst.after)} of the source rate is carried after {moves}"
        if not points:
            text = "no single point of failure: after the loss of any one device, moves restore "
            text += f"what is carried now; the worst loss is that of {{}}: {after}"
            return Line(text, (worst.name,))
        kind = "single point of failure" if len(points) == 1 else "single points of failure"
        known = "" if all(one.proven for one in points) else "perhaps "
        text = f"{known}{kind}: {{}}; the worst loss is that of {{}}: {after}"
        return Line(text, (Names.of([one.name for one in points]), worst.name))
