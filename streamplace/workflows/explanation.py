"""The result types of `explain`: one for streams of tuples, and one for other objectives."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, Self

from streamplace.display.mixins import Displayable
from streamplace.display.text import percent, rounded_down
from streamplace.display.view import Grid, Line, View
from streamplace.problem.placement import Placement
from streamplace.problem.rules import Violation, violation_grid
from streamplace.scoring.loads import use_entries, use_grids
from streamplace.scoring.score import ROUNDING, THROUGHPUT, ThroughputScore
from streamplace.workflows.constraint_costs import ConstraintCosts
from streamplace.workflows.result import CARRIED, bound_in_words
from streamplace.workflows.single_moves import MIN_GAIN, ImprovingMove, ValueMove, move_grid
from streamplace.workflows.too_heavy import TooHeavy
from streamplace.workflows.whole_operators import rule_namer


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


class Against(Protocol):
    """Predictions for a placement beside measurements of a running job.

    Attributes
    ----------
    notes
        What could not be matched or measured.
    """

    @property
    def notes(self) -> Sequence[str]: ...

    def to_dict(self) -> dict[str, Any]:
        """Return the entry ``against`` of `explain --json`."""
        ...

    def body(self) -> list[Line | Grid]:
        """Return the lines and tables of the comparison."""
        ...


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
    bound
        Upper bound on the throughput of any placement in tuples/s, at the source rate of the score;
        None if no bound is known, as under ``engine``.
    bound_is_loose
        Whether it may be far from the optimum; see `ThroughputEvaluator.bound_is_loose`.
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
    bound: float | None = None
    bound_is_loose: bool = False

    @property
    def limited(self) -> bool:
        """Whether the bottleneck keeps the placement below the source rate."""
        return self.rate_factor is not None and self.rate_factor < 1 - MIN_GAIN

    def with_proven(self, bound: float | None) -> Self:
        """Return the explanation with a prover's bound, unless the placement exceeds it."""
        if self.bound is None or bound is None:
            return self
        if bound < self.score.throughput * (1.0 - ROUNDING):
            return self
        return replace(self, bound=min(self.bound, bound))

    def to_dict(self) -> dict[str, Any]:
        """Return what `explain --json` prints."""
        return {
            "throughput": self.score.throughput,
            "relative_throughput": self.score.relative_throughput,
            "bottleneck": asdict(self.score.bottleneck),
            "rate_factor": self.rate_factor,
            "bound": self.bound,
            "gap": None if self.bound is None else self.score.gap_to(self.bound),
            "proven": None if self.bound is None else self.score.reaches(self.bound),
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
        usable = self.placement.problem.target_utilisation
        title = f"Explanation: {top.headline(usable)}, {self.score.headline}"
        name_of = rule_namer(self.placement.problem)
        broken = [violation_grid(self.violations, name_of)] if self.violations else []
        body = (*broken, *self._lines(), *self._objective_lines(), *self._tables())
        body += tuple(use_grids(self.placement))
        shown = [self.score.throughput, *(move.throughput for move in self.moves)]
        shown += [] if self.bound is None else [self.bound]
        more = [] if self.costs is None else self.costs.body(name_of, shown)
        more += [] if self.against is None else self.against.body()
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
        line = top.line(share)
        if self.limited:
            yield Line(line.text + limit, line.names)
            if self.cause is not None:
                yield Line(*self.cause.text())
            if self.bound is not None:
                shown = [move.throughput for move in self.moves]
                shown += [] if self.costs is None else self.costs.rates
                loose = self.bound_is_loose
                yield Line(bound_in_words(self.score, self.bound, is_loose=loose, shown=shown))
        else:
            yield Line(f"{CARRIED}; {line.text}{limit}", line.names)
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
        if self.moves:
            yield move_grid(self.moves, self.score.measured)
        else:
            yield Line("no single move helps")

    def _contribution_grid(self) -> Grid:
        def row(i: int) -> tuple[str, ...]:
            one = self.contributions[i]
            return " -> ".join(one.names), percent(one.utilisation), percent(one.share)

        is_link = self.score.bottleneck.kind in ("link", "uplink")
        kind = "stream" if is_link else "operator"
        return Grid(
            (kind, "utilisation", "share"),
            len(self.contributions),
            row,
            left_out="and {} more with smaller shares",
        )


@dataclass(frozen=True, repr=False)
class ScoreExplanation(Displayable):
    """What a score consists of, and the single moves that would improve it.

    Parameters
    ----------
    placement
        The explained placement.
    score
        The score with its bound; a schedule is that of the first pass, with noise.
    moves
        Moves to feasible placements that improve the score, the best first, at most 1,000.
    every_move_tried
        Whether all single moves were tried; otherwise only moves of the operators that the score
        names first, and of as many others as a few seconds allow.
    violations
        The rules that the placement violates.
    """

    placement: Placement
    score: Any  # a `ValueScore`, or the score of a pass
    moves: tuple[ValueMove, ...]
    every_move_tried: bool
    violations: tuple[Violation, ...] = ()

    def with_proven(self, bound: float | None) -> Self:
        """Return the explanation with a prover's bound; see `Score.with_bound`."""
        return replace(self, score=self.score.with_bound(bound))

    def to_dict(self) -> dict[str, Any]:
        """Return what `explain --json` prints."""
        return {
            **self.score.explanation_entries(),
            "moves": [move.to_dict() for move in self.moves],
            "every_move_tried": self.every_move_tried,
            "violations": [violation.to_dict() for violation in self.violations],
            **use_entries(self.placement),
        }

    def _view(self) -> View:
        name_of = rule_namer(self.placement.problem)
        broken = [violation_grid(self.violations, name_of)] if self.violations else []
        body = (
            *broken,
            *self.score.explanation(),
            *self._move_lines(),
            *use_grids(self.placement),
        )
        largest = self.score.largest_part
        most = f", mostly {largest}" if largest else ""
        return View(f"Explanation: {self.score.headline}{most}", body=body)

    def _move_lines(self) -> Iterator[Line | Grid]:
        """Yield the moves that help."""
        if not self.every_move_tried:
            tried = f"tried {self.score.first_tried} first, and few others"
            yield Line(f"too large to try all moves: {tried}")
        measured = self.score.measured
        if self.moves:
            yield move_grid(self.moves, measured)
        else:
            yield Line(f"no single move {self.score.verb} the {measured}")
