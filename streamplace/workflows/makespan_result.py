"""The result type of `place` under the makespan objective."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamplace.display.mixins import Displayable
from streamplace.display.text import number, quoted
from streamplace.display.view import Line, View
from streamplace.files import write_placement
from streamplace.placers.base import Proof
from streamplace.problem.placement import Placement
from streamplace.scoring.makespan import makespan_score
from streamplace.scoring.memory import use_entries
from streamplace.scoring.rounding import without_rounding

if TYPE_CHECKING:
    from streamplace.scoring.makespan_score import MakespanScore

DEVICES_SHOWN, NAMES_SHOWN = 8, 8


@dataclass(frozen=True, repr=False)
class MakespanResult(Displayable):
    """A placement with its schedule and the lower bound on makespans.

    Parameters
    ----------
    placement
        The placement; the objective of its problem has the order that was used, also where the
        order was ``any``.
    score
        Makespan, schedule and bound.
    placer
        Name of the placer.
    seconds
        Wall time of the placer in seconds, excluding the time to load libraries.
    own_schedule_s
        The makespan of a list scheduler's own schedule in seconds; None from other placers.
    status
        ``OPTIMAL`` or ``FEASIBLE`` from a prover; None from other placers.
    """

    placement: Placement
    score: "MakespanScore"
    placer: str
    seconds: float
    own_schedule_s: float | None = None
    status: str | None = None

    @property
    def gap(self) -> float | None:
        """How far the bound is below the makespan, as a share of the makespan; None with noise."""
        return self.score.gap

    def to_dict(self) -> dict[str, Any]:
        """Return what `place --json` prints."""
        document = {
            **self.score.summary(),
            "own_schedule_s": self.own_schedule_s,
            "assignment": self.placement.assignment,
            "placer": self.placer,
            "seconds": self.seconds,
        }
        document |= use_entries(self.placement)
        return document if self.status is None else document | {"status": self.status}

    def save(self, file: str | Path) -> None:
        """Write a placement file: the placement, its whole problem and its score."""
        write_placement(
            file,
            self.placement,
            placer=self.placer,
            score=self.score.to_dict(),
            bound=self.score.bound_s,
            gap=self.gap,
        )

    def _view(self) -> View:
        return View(
            f"MakespanResult: {self.score.headline}, by {quoted(self.placer)} "
            f"in {self.seconds:.3g} s",
            tuple(self.placement.described(DEVICES_SHOWN, NAMES_SHOWN)),
            (*self.score.view_with(self.placement).body, self._line()),
        )

    def _line(self) -> Line:
        """Return the placer, its time, its own schedule, and whether it is proven optimal."""
        text = f"placed by {{}} in {self.seconds:.3g} s"
        if self.own_schedule_s is not None:
            text += f"; the makespan of its own schedule is {number(self.own_schedule_s)} s"
        if self.status is not None:
            text += ": proven optimal" if self.status == "OPTIMAL" else "; not proven in time"
        return Line(text, (self.placer,))


def scheduled(
    placement: Placement, placer: str, seconds: float, proof: Proof | None = None
) -> MakespanResult:
    """Return the result of a placement: its makespan, and its bound, from a proof if there is one.

    The objective of the result's placement has the order that was used.
    """
    problem, scored = placement.problem, makespan_score(placement)
    lower, status = scored.bound_s, None
    if proof is not None and lower is not None:
        lower = without_rounding(max(lower, proof.bound), scored.makespan_s)
        status = "OPTIMAL" if proof.optimal else "FEASIBLE"
    aim = replace(problem.makespan_objective, order=scored.order)
    return MakespanResult(
        Placement(problem.with_objective(aim), placement.devices),
        replace(scored, bound_s=lower),
        placer,
        seconds,
        status=status,
    )
