"""The result types of `explain`: one for streams of tuples, and one for single passes."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from streamplace.display.mixins import Displayable
from streamplace.display.text import number, rounded_down
from streamplace.display.view import Cell, Grid, Line, Names, View
from streamplace.problem.placement import Placement
from streamplace.problem.violations import Violation, violation_grid
from streamplace.scoring.makespan_score import MAKESPAN, STEPS_SHOWN, MakespanScore
from streamplace.scoring.memory import use_entries, use_grids
from streamplace.scoring.score import THROUGHPUT, ThroughputScore
from streamplace.util.finite import finite
from streamplace.workflows.against.comparison import Against
from streamplace.workflows.constraint_costs import ConstraintCosts
from streamplace.workflows.single_moves import MIN_GAIN, ImprovingMove, ShorteningMove, move_grid
from streamplace.workflows.too_heavy import TooHeavy


@dataclass(frozen=True)
class Contribution:
    """The load of one operator or stream on the bottleneck.

    Parameters
    ----------
    names
        The operator's name, or the names of the stream's two ends.
    utilisation
        Utilisation of the bottleneck that this operator or stream causes.
    share
        Share of the bottleneck's utilisation.
    """

    names: tuple[str, ...]
    utilisation: float
    share: float

    def to_dict(self) -> dict[str, Any]:
        """Return the contribution as `explain --json` prints it."""
        keys = ("operator",) if len(self.names) == 1 else ("from", "to")
        names = dict(zip(keys, self.names, strict=True))
        return {**names, "utilisation": self.utilisation, "share": self.share}


@dataclass(frozen=True, repr=False)
class Explanation(Displayable):
    """The bottleneck of a placement, what loads it, and the single moves that would help.

    Parameters
    ----------
    placement
        The explained placement.
    score
        Score under the problem's model, or under `bottleneck` if that model is the engine.
    rate_factor
        The multiple of the source rate at which the bottleneck reaches the target utilisation. If
        it is below 1, the bottleneck limits throughput. None if all devices and links are idle.
    contributions
        Contributions to the bottleneck, the largest first.
    moves
        Moves to feasible placements that raise throughput, the best first, at most 1,000.
    every_move_tried
        Whether all single moves that can help were tried; otherwise only moves of the units that
        load the bottleneck most were tried.
    cause
        The operators that no device can run at the source rate, if that limits the placement.
    violations
        The rules that the placement violates.
    costs
        What each constraint costs; None if that was not examined.
    against
        The comparison with a running job; None if there was none.
    """

    placement: Placement
    score: ThroughputScore
    rate_factor: float | None
    contributions: tuple[Contribution, ...]
    moves: tuple[ImprovingMove, ...]
    every_move_tried: bool
    cause: TooHeavy | None = None
    violations: tuple[Violation, ...] = ()
    costs: ConstraintCosts | None = None
    against: Against | None = None

    @property
    def limited(self) -> bool:
        """Whether the bottleneck keeps the placement below the source rate."""
        return self.rate_factor is not None and self.rate_factor < 1 - MIN_GAIN

    def to_dict(self) -> dict[str, Any]:
        """Return what `explain --json` prints."""
        return {
            "throughput": self.score.throughput,
            "relative_throughput": self.score.relative_throughput,
            "bottleneck": asdict(self.score.bottleneck),
            "rate_factor": self.rate_factor,
            "contributors": [one.to_dict() for one in self.contributions],
            "moves": [move.to_dict() for move in self.moves],
            "every_move_tried": self.every_move_tried,
            "cause": None if self.cause is None else self.cause.to_dict(),
            "violations": [violation.to_dict() for violation in self.violations],
            "constraint_costs": None if self.costs is None else self.costs.to_dict(),
            "against": None if self.against is None else self.against.to_dict(),
            "model": self.score.model,
            **use_entries(self.placement),
            **self.score.objective_entry,
        }

    def _view(self) -> View:
        top = self.score.bottleneck
        title = f"Explanation: {top.headline}, {self.score.headline}"
        broken = [violation_grid(self.violations)] if self.violations else []
        body = (*broken, *self._lines(), *self._objective_lines(), *self._tables())
        body += tuple(use_grids(self.placement))
        more = [line for part in (self.costs, self.against) if part for line in part.body()]
        return View(title, body=(*body, *more))

    def _lines(self) -> Iterator[Line]:
        """Yield the throughput and its limit."""
        top, problem, model = self.score.bottleneck, self.placement.problem, self.score.model
        yield self.score.achieved(problem)
        if problem.model != model:
            yield Line(f"explained by the {model} model, since the engine caps utilisation at 100%")
        if self.rate_factor is None:
            yield Line("nothing limits throughput: all devices and links are idle")
            return
        share = problem.target_utilisation
        limit = f" ({share:.1%} may be used)" if share < 1 else ""
        at = f"at {top.utilisation:.1%}{limit}"
        if self.limited:
            yield Line(f"bottleneck {top.kind} {{}} {at}", (top.name,))
            if self.cause is not None:
                yield Line(*self.cause.text())
        else:
            busiest = f"the busiest {top.kind}, {{}}, is {at}"
            yield Line(f"nothing limits throughput: {busiest}", (top.name,))
            factor = rounded_down(self.rate_factor, 4)
            yield Line(f"the placement sustains up to {factor} times the source rate")

    def _objective_lines(self) -> Iterator[Line]:
        """Yield what a custom objective deducts, if the bottleneck is not the limit."""
        missing = 1 - self.score.relative_throughput
        if self.score.objective != THROUGHPUT and not self.limited and missing > MIN_GAIN:
            text = f"objective {{}} deducts {missing:.1%} of the source rate"
            yield Line(text, (self.score.objective,))

    def _tables(self) -> Iterator[Line | Grid]:
        """Yield the contributions to the bottleneck and the moves that help."""
        if self.rate_factor is None:
            return
        yield self._contribution_grid()
        if not self.limited and self.score.objective == THROUGHPUT:
            return
        if not self.every_move_tried:
            tried = "tried only the operators that load the bottleneck most"
            yield Line(f"too large to try all moves: {tried}")
        yield move_grid(self.moves) if self.moves else Line("no single move helps")

    def _contribution_grid(self) -> Grid:
        def row(i: int) -> tuple[str, ...]:
            one = self.contributions[i]
            return " -> ".join(one.names), f"{one.utilisation:.1%}", f"{one.share:.1%}"

        is_link = self.score.bottleneck.kind in ("link", "uplink")
        kind = "stream" if is_link else "operator"
        return Grid(
            (kind, "utilisation", "share"),
            len(self.contributions),
            row,
            left_out="and {} more with smaller shares",
        )


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
