"""The timeline of a controller: what was measured and decided, window by window."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from streamplace.control.decisions import Action, Decision
from streamplace.control.observation import Observation

WINDOWS = 2016  # a week of windows of five minutes
ACTIONS = 200  # of older windows, the decisions that are kept


@dataclass(frozen=True)
class Point:
    """One window: what was measured at its end, and the decision.

    Parameters
    ----------
    offered_s, read_s
        Tuples per second that the sources are offered, and that they read; None if unknown.
    busiest
        Share of the time that the busiest instance was busy; None if nothing was measured.
    instances
        Number of running instances of all operators.
    """

    decision: Decision
    offered_s: float | None
    read_s: float | None
    waiting: float | None
    busiest: float | None
    instances: int

    @classmethod
    def of(cls, observation: Observation, decision: Decision) -> "Point":
        """Return the point of a window."""
        return cls(
            decision,
            observation.offered_s,
            observation.read_s,
            observation.waiting,
            observation.busiest if observation.readings else None,
            sum(observation.parallelism.values()),
        )


@dataclass
class Timeline:
    """The latest windows, and the actions and plans of older ones."""

    points: deque[Point] = field(default_factory=lambda: deque(maxlen=WINDOWS))
    earlier: deque[Decision] = field(default_factory=lambda: deque(maxlen=ACTIONS))

    def add(self, point: Point) -> None:
        """Add the latest window, again if its action was refused; the oldest ones are dropped."""
        if self.points and self.points[-1].decision.at_s == point.decision.at_s:
            self.points.pop()
        if len(self.points) == WINDOWS and self.points[0].decision.action != Action.NOTHING:
            self.earlier.append(self.points[0].decision)
        self.points.append(point)

    def decisions(self) -> Iterator[Decision]:
        """Yield the decisions, the latest first; one stands for several equal ones in a row.

        Decisions are equal here if their state, their action and their plan are.
        """
        before: Decision | None = None
        latest = (point.decision for point in reversed(self.points))
        for decision in chain(latest, reversed(self.earlier)):
            if before is None or _differ(decision, before):
                yield decision
            before = decision


def _differ(one: Decision, other: Decision) -> bool:
    return (one.state, one.action, one.plan) != (other.state, other.action, other.plan)
