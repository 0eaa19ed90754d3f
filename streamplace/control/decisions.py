"""Decisions of the controller, as lines of text and of JSON."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from streamplace.control.plans import Plan


class Action(StrEnum):
    """What is decided."""

    NOTHING = "nothing"
    ADVISE = "advise"
    ACT = "act"


@dataclass(frozen=True)
class Decision:
    """One decision at the end of a window.

    Parameters
    ----------
    at_s
        Seconds since 1970.
    state
        The state of the controller: ``starting``, ``stabilising``, ``steady``, ``overloaded``,
        ``underused``, ``recovering``, ``cooling down`` or ``blind``.
    plan
        The plan, whether or not it is carried out; None if there is none.
    gain, price
        What the plan gains and costs within the horizon, in `unit`; None without a plan.
    unit
        ``tuples`` for more capacity, ``money`` for less.
    reason
        Why, in words, with the numbers.
    """

    at_s: float
    state: str
    action: Action
    reason: str
    plan: Plan | None = None
    gain: float | None = None
    price: float | None = None
    unit: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the line of JSON that `watch` writes."""
        at = datetime.fromtimestamp(self.at_s, UTC).isoformat(timespec="seconds")
        return {
            "at": at,
            "state": self.state,
            "plan": None if self.plan is None else self.plan.deployment.to_dict(),
            "gain": self.gain,
            "price": self.price,
            "unit": self.unit,
            "decision": str(self.action),
            "reason": self.reason,
        }
