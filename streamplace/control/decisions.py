"""The decisions of a controller, and their timeline, window by window."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from itertools import chain
from typing import Any

from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment, Plan
from streamplace.control.settings import ControllerSettings
from streamplace.util.text import counted

MINUTE_S, HOUR_S = 60.0, 3600.0
# Tuples/s, below which digits after the point are shown, as a rounding would be a percent.
SMALL_RATE = 100.0
SHOWN = 5  # operators that a reason names, so that it stays a line
# A week of windows of five minutes: the page is written anew each time, and must stay small.
WINDOWS = 2016
ACTIONS = 200  # of older windows, the decisions that are kept: half a month at twelve a day


def percent(share: float) -> str:
    """Return a share in percent, without decimals."""
    return f"{share:.0%}"


def rate(tuples_s: float) -> str:
    """Return a rate with its unit."""
    return f"{tuples_s:,.0f} tuples/s" if tuples_s >= SMALL_RATE else f"{tuples_s:.3g} tuples/s"


def tuples(count: float) -> str:
    """Return a number of tuples, to a whole one."""
    return counted(round(count), "tuple")


def lasting(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours, to three significant digits."""
    if seconds < 2 * MINUTE_S:
        return f"{seconds:.3g} s"
    if seconds < 2 * HOUR_S:
        return f"{seconds / MINUTE_S:.3g} min"
    return f"{seconds / HOUR_S:.3g} h"


def clock(at_s: float) -> str:
    """Return a time in UTC, to the second."""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%S")


def change(before: Deployment, after: Deployment) -> str:
    """Return what a plan changes, such as ``decode from 1 to 3 instances, on 2 devices``."""
    old, new = before.parallelism, after.parallelism
    changed = [name for name in sorted(new) if new[name] != old.get(name, 0)]
    parts = [
        f"{name} from {old.get(name, 0)} to {counted(new[name], 'instance')}"
        for name in changed[:SHOWN]
    ]
    if len(changed) > SHOWN:
        parts.append(f"{len(changed) - SHOWN} more operators")
    devices = counted(len(after.devices), "device")
    return f"{', '.join(parts) or 'the same numbers of instances'}, on {devices}"


class Action(StrEnum):
    """What is decided."""

    NOTHING = "nothing"
    ADVISE = "advise"
    ACT = "act"
    REFUSED = "refused"
    """To act, but the action was refused before anything was changed."""


class State(StrEnum):
    """The state of the controller, or of the job as far as it is known."""

    BLIND = "blind"
    """The measurements do not suffice for a decision."""
    STARTING = "starting"
    """An action is under way."""
    RECOVERING = "recovering"
    """A device or an instance is gone, and the job does not run as a whole."""
    STABILISING = "stabilising"
    """The job has started recently, so measurements are ignored."""
    STEADY = "steady"
    LAGGING = "lagging"
    """More and more tuples wait, although no operator is busy."""
    OVERLOADED = "overloaded"
    UNDERUSED = "underused"
    COOLING_DOWN = "cooling down"
    ROLLING_BACK = "rolling back"
    """The last action made the job worse."""


@dataclass(frozen=True)
class Decision:
    """One decision at the end of a window.

    Parameters
    ----------
    at_s
        Seconds since 1970.
    plan
        The plan, whether or not it is carried out; None if there is none.
    gain, price
        What the plan gains and costs within the horizon, in `unit`; None without a plan.
    unit
        ``tuples`` for more capacity, ``money`` for less.
    why
        Why, in words, with the numbers.
    """

    at_s: float
    state: State
    action: Action
    why: str
    plan: Plan | None = None
    gain: float | None = None
    price: float | None = None
    unit: str = ""

    def __str__(self) -> str:
        return f"{self._at}  {self.state}  {self.reason}"

    @property
    def reason(self) -> str:
        """The action, and why."""
        return f"{self.action}: {self.why}"

    @property
    def _at(self) -> str:
        return datetime.fromtimestamp(self.at_s, UTC).isoformat(timespec="seconds")

    def to_dict(self) -> dict[str, Any]:
        """Return the line of JSON that `watch` writes."""
        return {
            "at": self._at,
            "state": str(self.state),
            "plan": None if self.plan is None else self.plan.deployment.to_dict(),
            "gain": self.gain,
            "price": self.price,
            "unit": self.unit,
            "decision": str(self.action),
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Outcome:
    """How an action ended.

    Parameters
    ----------
    at_s
        When it ended, in seconds since 1970.
    succeeded
        Whether the job runs as planned. If not, it runs as before.
    downtime_s
        Seconds without output; None if they were not measured.
    reason
        Why it failed; empty if it did not.
    changed
        Whether anything was changed. If not, the action was refused, or `interrupted`.
    interrupted
        Whether the controller was interrupted before it changed anything.
    """

    at_s: float
    succeeded: bool
    downtime_s: float | None = None
    reason: str = ""
    changed: bool = True
    interrupted: bool = False

    def blocks_s(self, settings: ControllerSettings) -> float:
        """Return the time for which the plan is not tried again."""
        if self.succeeded or self.interrupted:
            return 0.0
        return settings.block_s if self.changed else settings.refused_s


@dataclass(frozen=True)
class Point:
    """One window: what was measured at its end, and the decision.

    Parameters
    ----------
    offered_s, carried_s
        Tuples per second that the sources are offered, and that the job carries: those that they
        read and that do not pile up in buffers. None if unknown.
    busiest
        Share of the time that the busiest instance was busy; None if nothing was measured.
    instances
        Operator -> number of its running instances, before any action of the decision.
    """

    decision: Decision
    offered_s: float | None
    carried_s: float | None
    waiting: float | None
    busiest: float | None
    instances: Mapping[str, int]

    @classmethod
    def of(cls, observation: Observation, decision: Decision) -> "Point":
        """Return the point of a window."""
        read_s = observation.read_s
        return cls(
            decision,
            observation.offered_s,
            None if read_s is None else read_s * observation.processed,
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
