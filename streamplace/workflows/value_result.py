"""The results of `place` under objectives without source rates, such as the makespan."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from streamplace.display.text import number, quoted
from streamplace.display.view import View
from streamplace.placers.base import Found
from streamplace.problem.placement import Placement
from streamplace.scoring.registry import evaluator, evaluator_of_pass
from streamplace.scoring.values import without_rounding
from streamplace.workflows.result import DEVICES_SHOWN, NAMES_SHOWN, PlacementResult

if TYPE_CHECKING:
    from streamplace.makespan.score import MakespanScore
    from streamplace.scoring.values import ValueScore


@dataclass(frozen=True, repr=False)
class ValueResult(PlacementResult):
    """A placement with its value, and the bound on it, under an objective without source rates."""

    score: "ValueScore | MakespanScore"

    @property
    def gap(self) -> float | None:
        """How far the value is from the bound, as a share of the larger; None without a bound."""
        return self.score.gap

    @property
    def bound(self) -> float | None:
        """The bound on the value of any placement; None if none is known."""
        return self.score.bound

    def to_dict(self) -> dict[str, Any]:
        """Return what `place --json` prints."""
        return {
            **self.score.summary(),
            **self._own_entries(),
            "assignment": dict(self.placement.assignment),
            "placer": self.placer,
            "seconds": self.seconds,
            **self._entries(),
        }

    def _own_entries(self) -> dict[str, Any]:
        return {}

    def _stored(self) -> dict[str, Any]:
        return {"bound": self.bound, "gap": self.gap}

    def _detail(self) -> str:
        """Return what a line about the placer ends with."""
        return ""

    def _view(self) -> View:
        by = f"by {quoted(self.placer)} in {self.seconds:.3g} s"
        return View(
            f"{type(self).__name__}: {self.score.headline}, {by}",
            tuple(self.placement.described(DEVICES_SHOWN, NAMES_SHOWN)),
            (*self.score.view_with(self.placement).body, self._line(self._detail())),
        )


@dataclass(frozen=True, repr=False)
class MakespanResult(ValueResult):
    """A placement with its schedule, and the lower bound on makespans in its score.

    The objective of the placement's problem has the order that was used, also where the order was
    ``any``.

    Parameters
    ----------
    own_schedule_s
        The makespan in seconds if every device starts its operators in the order of a list
        scheduler's own schedule; None from other placers.
    """

    score: "MakespanScore"
    own_schedule_s: float | None = field(default=None, kw_only=True)

    def _own_entries(self) -> dict[str, Any]:
        return {"own_schedule_s": self.own_schedule_s}

    def _detail(self) -> str:
        """Return the makespan in the order of a list scheduler's own schedule."""
        own = self.own_schedule_s
        if own is None:
            return ""
        return f"; in the order of its own schedule, the makespan is {number(own)} s"


def scheduled(
    found: Found, placer: str, seconds: float, _limit: float | None = None
) -> MakespanResult:
    """Return the result of a placement: its makespan, and its bound, a proven one if there is one.

    The objective of the result's placement has the order that was used.
    """
    placement, problem = found.placement, found.placement.problem
    scored = evaluator_of_pass(problem).score(placement.devices)
    lower = scored.bound_s
    if found.bound is not None and lower is not None:
        lower = without_rounding(max(lower, found.bound), scored.value)
    aim = replace(problem.makespan_objective, order=scored.order)
    return MakespanResult(
        Placement(problem.with_objective(aim), placement.devices),
        replace(scored, bound_s=lower),
        placer,
        seconds,
        status=found.status,
        own_schedule_s=own_schedule_s(found),
    )


def own_schedule_s(found: Found) -> float | None:
    """Return the makespan in a list scheduler's own order, see `MakespanResult`."""
    if found.own_order is None:
        return None
    scored = evaluator_of_pass(found.placement.problem)
    return float(scored.in_sequence(found.own_order, found.placement.devices)[0])


def value_result(
    found: Found, placer: str, seconds: float, _limit: float | None = None
) -> ValueResult:
    """Return the result of a placement: its value, and the bound if one is proven."""
    placement = found.placement
    score = evaluator(placement.problem).score(placement.devices).with_bound(found.bound)
    made = cast("ValueScore", score)
    return ValueResult(placement, made, placer, seconds, status=found.status)
