"""The result type of `explain` under the makespan objective."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from streamplace.display.mixins import Displayable
from streamplace.display.text import number
from streamplace.display.view import Cell, Grid, Line, Names, View
from streamplace.problem.placement import Placement
from streamplace.problem.violations import Violation, violation_grid
from streamplace.scoring.makespan_score import MAKESPAN, STEPS_SHOWN, MakespanScore
from streamplace.scoring.memory import use_entries, use_grids
from streamplace.util.finite import finite
from streamplace.workflows.shortening_moves import ShorteningMove, move_grid

PARTS = {
    "work_s": "work",
    "messages_s": "messages",
    "overheads_s": "sending and receiving on cores",
    "waiting_for_devices_s": "waiting for devices",
    "waiting_for_channels_s": "waiting for channels",
    "waiting_for_levels_s": "waiting for levels",
}


@dataclass(frozen=True)
class MakespanDivision:
    """Parts of the makespan in seconds, along the inputs that the last operator waited for.

    Parameters
    ----------
    chain
        The operators: from a source to the one that ends last, each with the producer of the input
        that arrived last before it.
    work_s
        Execution of these operators.
    messages_s
        Transfer and latency of the messages between them.
    overheads_s
        CPU time to send and receive these messages, and waiting for a core for it.
    waiting_for_devices_s
        Time in which these operators could run but did not.
    waiting_for_channels_s
        Time in which these messages waited for other messages.
    waiting_for_levels_s
        Time in which these operators waited at the barrier.
    """

    chain: tuple[str, ...]
    work_s: float
    messages_s: float
    overheads_s: float
    waiting_for_devices_s: float
    waiting_for_channels_s: float
    waiting_for_levels_s: float

    def to_dict(self) -> dict[str, Any]:
        """Return the entry ``division`` of `explain --json`."""
        return {**asdict(self), "chain": list(self.chain)}

    @property
    def parts(self) -> list[tuple[str, float]]:
        """The parts above 0, in words and in seconds, the largest first."""
        parts = [(text, float(getattr(self, name))) for name, text in PARTS.items()]
        return sorted((part for part in parts if part[1] > 0.0), key=lambda part: -part[1])


@dataclass(frozen=True, repr=False)
class MakespanExplanation(Displayable):
    """What the makespan of a placement consists of, and the single moves that would shorten it.

    Parameters
    ----------
    placement
        The explained placement.
    score
        Makespan, schedule and bound; with noise, the schedule is that of the first pass.
    division
        What the makespan of the schedule consists of.
    moves
        Moves to feasible placements that shorten the makespan, the best first, at most 1,000.
    every_move_tried
        Whether all single moves were tried; otherwise only moves of the operators on the critical
        path, and of as many others as a few seconds allow.
    violations
        The rules that the placement violates.
    """

    placement: Placement
    score: MakespanScore
    division: MakespanDivision
    moves: tuple[ShorteningMove, ...]
    every_move_tried: bool
    violations: tuple[Violation, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what `explain --json` prints."""
        score = self.score
        noise = {} if score.deviation_s is None else {"standard_deviation_s": score.deviation_s}
        return {
            "objective": MAKESPAN,
            "order": score.order,
            "makespan_s": score.makespan_s,
            **noise,
            "bound_s": score.bound_s,
            "gap": score.gap,
            "slr": finite(score.slr),
            "critical_path": list(score.critical_path),
            "steps": score.steps,
            "division": self.division.to_dict(),
            "moves": [move.to_dict() for move in self.moves],
            "every_move_tried": self.every_move_tried,
            "violations": [violation.to_dict() for violation in self.violations],
            **use_entries(self.placement),
        }

    def _view(self) -> View:
        broken = [violation_grid(self.violations)] if self.violations else []
        body = (
            *broken,
            *self.score.lines(),
            *self._division_lines(),
            self._division_grid(),
            replace(self.score.path_grid(), min_rows=STEPS_SHOWN),  # whatever --top says
            *self._move_lines(),
            *use_grids(self.placement),
        )
        return View(f"Explanation: {self._headline()}", body=body)

    def _headline(self) -> str:
        parts = self.division.parts
        most = f", mostly {parts[0][0]}" if parts else ""
        return f"{self.score.headline}{most}"

    def _division_lines(self) -> Iterator[Line]:
        """Yield the chain of operators that the division is about."""
        if self.score.deviation_s is not None:
            yield Line("times below are those of the first pass")
        yield Line("chain of last inputs: {}", (Names.of(self.division.chain, " -> "),))

    def _division_grid(self) -> Grid:
        parts, makespan_s = self.division.parts, self.score.timetable.makespan

        def row(i: int) -> tuple[Cell, ...]:
            text, seconds = parts[i]
            return text, number(seconds), f"{seconds / makespan_s:.1%}"

        return Grid(("part of the makespan", "seconds", "share"), len(parts), row, max_rows=6)

    def _move_lines(self) -> Iterator[Line | Grid]:
        """Yield the moves that help."""
        if not self.every_move_tried:
            tried = "tried the operators on the critical path first, and few others"
            yield Line(f"too large to try all moves: {tried}")
        yield move_grid(self.moves) if self.moves else Line("no single move shortens the makespan")
