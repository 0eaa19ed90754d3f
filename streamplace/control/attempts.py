"""Actions from their proposal to the verdict on what they brought."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from streamplace.control.decisions import clock, lasting, percent, rate
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment, Plan
from streamplace.control.settings import ControllerSettings
from streamplace.util.text import counted

HOUR_S, DAY_S = 3600.0, 86_400.0
# The longest, so that a restart is not begun too lightly; few, since state and checkpoints change.
# The number is a guess.
DOWNTIMES = 3  # measured ones, of which the longest is expected
UNKNOWN = "it is unknown what the sources read, so the last action cannot be judged yet"


class PastActions:
    """Actions so far, as far as they limit further ones. All times are seconds since 1970."""

    def __init__(self, settings: ControllerSettings) -> None:
        self._settings = settings
        self._begun: list[float] = []
        self._last_s: float | None = None
        self._downtimes: list[float] = []
        self._blocked: dict[str, float] = {}

    @property
    def downtime_s(self) -> float:
        """The downtime to expect of an action, in seconds: the longest of the last three."""
        return max(self._downtimes, default=self._settings.first_downtime_s)

    @property
    def last_s(self) -> float:
        """When the last action began or ended; 0 before the first."""
        return self._last_s or 0.0

    def begin(self, at_s: float) -> None:
        """Count an action; rollbacks and failed actions count, too."""
        self._begun = [each for each in self._begun if at_s - each < DAY_S] + [at_s]
        self._last_s = at_s

    def end(self, at_s: float, downtime_s: float | None) -> None:
        """Let the cool-down begin, and keep the downtime of the action if it was measured."""
        self._last_s = at_s if self._last_s is None else max(at_s, self._last_s)
        if downtime_s is not None:
            self._downtimes = [*self._downtimes, downtime_s][-DOWNTIMES:]

    def block(self, key: str, at_s: float, seconds: float) -> None:
        """Block the plan with a key, see `Deployment.key`, for some time."""
        self._blocked = {k: until for k, until in self._blocked.items() if until > at_s}
        if seconds > 0.0:
            self._blocked[key] = at_s + seconds

    def blocked(self, key: str, at_s: float) -> str:
        """Return until when a plan is blocked, in words; empty if it is not."""
        until = self._blocked.get(key)
        if until is None or until <= at_s:
            return ""
        return f"this plan was refused or failed, and is not tried again before {clock(until)}"

    def cooling(self, at_s: float) -> str:
        """Return how long the cool-down goes on, in words; empty if there is none."""
        if self._last_s is None or at_s - self._last_s >= self._settings.cool_down_s:
            return ""
        rest, whole = self._last_s + self._settings.cool_down_s - at_s, self._settings.cool_down_s
        return f"{lasting(rest)} of the cool-down of {lasting(whole)} are left"

    def spent(self, at_s: float) -> str:
        """Return which budget is spent, in words; empty if one more action is allowed."""
        budgets = (
            (self._settings.actions_per_hour, HOUR_S, "an hour"),
            (self._settings.actions_per_day, DAY_S, "a day"),
        )
        for most, within_s, name in budgets:
            recent = sum(at_s - each < within_s for each in self._begun)
            if recent >= most:
                return f"the budget of {counted(most, 'action')} {name} is spent"
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return the state as a JSON value."""
        return {
            "begun": list(self._begun),
            "last": self._last_s,
            "downtimes": list(self._downtimes),
            "blocked": dict(self._blocked),
        }

    def restore(self, value: Mapping[str, Any]) -> None:
        """Go on from a state; see `to_dict`."""
        self._begun = [float(each) for each in value["begun"]]
        self._last_s = None if value["last"] is None else float(value["last"])
        self._downtimes = [float(each) for each in value["downtimes"]]
        self._blocked = {str(key): float(until) for key, until in value["blocked"].items()}


@dataclass(frozen=True)
class Attempt:
    """An action, and what the job did before it.

    Parameters
    ----------
    before
        What ran before.
    plan
        What is to run.
    served_s
        Tuples per second that the sources read before; None if unknown.
    is_rollback
        Whether it takes an action back.
    begun_s, ended_s
        When it began and ended, in seconds since 1970; None before.
    worse
        The number of windows in a row, since it ended, in which the job did worse than before.
    """

    before: Deployment
    plan: Plan
    served_s: float | None
    is_rollback: bool = False
    begun_s: float | None = None
    ended_s: float | None = None
    worse: int = 0

    @property
    def is_under_way(self) -> bool:
        """Whether it has begun and not ended."""
        return self.begun_s is not None and self.ended_s is None

    @property
    def is_on_trial(self) -> bool:
        """Whether it has ended, so that the job can be compared with what it did before."""
        return self.ended_s is not None

    def still_runs(self, observation: Observation) -> bool:
        """Return whether a window is of the run that the action started, not of a later one."""
        started_later = observation.started_s > (self.ended_s or 0.0)
        return not started_later and observation.parallelism == self.plan.deployment.parallelism

    def expected_s(self, observation: Observation) -> float:
        """Return what the deployment before would read of the rate offered now, in tuples/s.

        It is at least what it read when it was offered another rate, or all that is offered.
        """
        return min(self.served_s or 0.0, observation.offered_s or 0.0)

    def is_worse(
        self, observation: Observation, served_s: float, settings: ControllerSettings
    ) -> bool:
        """Return whether the job now reads less than `rollback_below` of `expected_s`."""
        return served_s < settings.rollback_below * self.expected_s(observation)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON value."""
        return {
            "before": self.before.to_dict(),
            "plan": self.plan.to_dict(),
            "served": self.served_s,
            "is_rollback": self.is_rollback,
            "begun": self.begun_s,
            "ended": self.ended_s,
            "worse": self.worse,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Self:
        """Return the action of which `value` is the JSON value."""
        times = (value[name] for name in ("served", "begun", "ended"))
        served_s, begun_s, ended_s = (None if each is None else float(each) for each in times)
        return cls(
            Deployment.from_dict(value["before"]),
            Plan.from_dict(value["plan"]),
            served_s,
            bool(value["is_rollback"]),
            begun_s,
            ended_s,
            int(value["worse"]),
        )


class Verdict(NamedTuple):
    """A doubt about the last action.

    Attributes
    ----------
    attempt
        The action, with the number of windows that speak against it.
    reason
        What speaks against it, in words.
    rolls_back
        Whether enough windows in a row agree.
    """

    attempt: Attempt
    reason: str
    rolls_back: bool = False


def verdict_of(
    attempt: Attempt, observation: Observation, served_s: float | None, settings: ControllerSettings
) -> Verdict | None:
    """Return the doubt about an action that has ended; None if there is none, or none any more.

    A window in which the job does as well as before, a recovery of the job, and a change by others
    end the trial.

    Parameters
    ----------
    served_s
        Tuples per second that the sources read; None if unknown.
    """
    # What runs now is not what the action started, so that nothing can be said of it.
    if not attempt.still_runs(observation):
        return None
    if served_s is None:
        return Verdict(attempt, UNKNOWN)
    if not attempt.is_worse(observation, served_s, settings):
        return None
    worse = replace(attempt, worse=attempt.worse + 1)
    reason = (
        f"{rate(served_s)} are carried, less than {percent(settings.rollback_below)} of the "
        f"{rate(attempt.expected_s(observation))} that were carried before the last action"
    )
    if worse.worse < settings.agreeing:
        many = f"in {worse.worse} of the {settings.agreeing} windows in a row that must agree"
        return Verdict(worse, f"{reason}, {many}")
    return Verdict(worse, reason, rolls_back=True)
