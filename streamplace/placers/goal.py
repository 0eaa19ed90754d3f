"""Goals: what a placement should reach besides a high score."""

from typing import Any, ClassVar, Protocol

from streamplace.display.view import Line
from streamplace.errors import UsageError
from streamplace.placers.base import Placer
from streamplace.placers.registry import NamedPlacer, ready
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.plugins import load_ours

GOALS = {
    "confidence": "streamplace.latency.confidence:ConfidenceGoal",
    "max_latency": "streamplace.latency.within_limit:LatencyGoal",
}
"""The goals by argument of `place`. Each is made from the value of the argument; its module is
loaded once it is asked for."""


class GoalReport(Protocol):
    """How far a placement reaches a goal."""

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON value."""
        ...

    def lines(self) -> tuple[Line, ...]:
        """Return the report in words, for a view."""
        ...


class Goal(Protocol):
    """What a placement should reach besides a high score.

    Attributes
    ----------
    report
        The field of `Result` for the report.
    """

    report: ClassVar[str]

    def check(self, problem: Problem, placer: str | Placer, seed: int) -> None:
        """Refuse a problem for which the goal is not supported, or provably out of reach.

        Parameters
        ----------
        placer
            The placer asked for, whose time limit the search for advice keeps.
        seed
            The seed of the search, with which advice is tried.

        Raises
        ------
        UsageError, ProblemError
            If the goal is not supported.
        InfeasibleError
            If provably no placement reaches it.
        """
        ...

    def placer(self, problem: Problem, placer: str | Placer) -> str | Placer:
        """Return the placer to run first, which may have limits of its own."""
        return placer

    def improve(
        self, problem: Problem, start: Placement, seed: int
    ) -> tuple[Placement, GoalReport | None]:
        """Return the placement that reaches the goal best, and a report.

        Parameters
        ----------
        start
            A placement of the problem, from which the search begins. It is the result if no other
            one is better.
        """
        ...


def time_limit_of(placer: str | Placer) -> float | None:
    """Return the time limit in seconds that the name of a built-in placer sets, if it sets one."""
    chosen = ready(placer) if isinstance(placer, str) else placer
    if not isinstance(chosen, NamedPlacer) or not chosen.is_ours:
        return None
    return chosen.options.get("seconds")


def goal_of(**asked: Any) -> Goal | None:
    """Return the goal of arguments of `place` (see `GOALS`); None if each argument is None.

    Raises
    ------
    UsageError
        If several are set, or if a value does not describe a goal.
    """
    chosen = {name: value for name, value in asked.items() if value is not None}
    if not chosen:
        return None
    if len(chosen) > 1:
        raise UsageError(f"cannot combine {' with '.join(chosen)}")
    [(name, value)] = chosen.items()
    goal: Goal = load_ours(GOALS[name])(value)
    return goal
