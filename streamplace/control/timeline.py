"""The timeline of a controller: what was measured and decided, window by window."""

from collections import deque
from collections.abc import Iterator, Mapping
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
        Operator -> number of its running instances, before any action of the decision.
    """

    decision: Decision
    offered_s: float | None
    read_s: float | None
    waiting: float | None
    busiest: float | None
    instances: Mapping[str, int]

    @classmethod
    def of(cls, observation: Observation, decision: Decision) -> "Point":
        """Return the point of a window."""
        return cls(
            decision,
            observation.offered_s,
            observation.read_s,
            observation.waiting,
            observation.busiest if observation.readings else None,
            observation.parallelism,
        )


@dataclass
class Timeline:
    """The latest windows, and the actions and plans of older ones."""

    points: deque[Point] = field(default_factory=lambda: deque(maxlen=WINDOWS))
    earlier: deque[Point] = field(default_factory=lambda: deque(maxlen=ACTIONS))

    def add(self, point: Point) -> None:
        """Add the latest window, again if its action was refused; the oldest ones are dropped."""
        if self.points and self.points[-1].decision.at_s == point.decision.at_s:
            self.points.pop()
        if len(self.points) == WINDOWS and self.points[0].decision.action != Action.NOTHING:
            self.earlier.append(self.points[0])
        self.points.append(point)

    def decided(self) -> Iterator[Point]:
        """Yield the windows, the latest first; one stands for those in a row with equal decisions.

        Decisions are equal here if their state, their action and their plan are.
        """
        before: Decision | None = None
        for point in chain(reversed(self.points), reversed(self.earlier)):
            if before is None or _differ(point.decision, before):
                yield point
            before = point.decision


def _differ(one: Decision, other: Decision) -> bool:
    return (one.state, one.action, one.plan) != (other.state, other.action, other.plan)
