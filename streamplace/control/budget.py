"""The budget of actions: how many an hour and a day, the pause between them, blocked plans."""

from collections.abc import Mapping
from typing import Any

from streamplace.control.phrases import clock, lasting
from streamplace.control.rules import Rules
from streamplace.util.text import counted

HOUR_S, DAY_S = 3600.0, 86_400.0
DOWNTIMES = 3  # measured ones, of which the longest is expected


class Budget:
    """Actions so far, as far as they limit further ones. All times are seconds since 1970."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._begun: list[float] = []
        self._last_s: float | None = None
        self._downtimes: list[float] = []
        self._blocked: dict[str, float] = {}

    @property
    def downtime_s(self) -> float:
        """The downtime to expect of an action, in seconds: the longest of the last three."""
        return max(self._downtimes, default=self._rules.first_downtime_s)

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
        if self._last_s is None or at_s - self._last_s >= self._rules.cool_down_s:
            return ""
        rest, whole = self._last_s + self._rules.cool_down_s - at_s, self._rules.cool_down_s
        return f"{lasting(rest)} of the cool-down of {lasting(whole)} are left"

    def spent(self, at_s: float) -> str:
        """Return which budget is spent, in words; empty if one more action is allowed."""
        budgets = (
            (self._rules.actions_per_hour, HOUR_S, "an hour"),
            (self._rules.actions_per_day, DAY_S, "a day"),
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
