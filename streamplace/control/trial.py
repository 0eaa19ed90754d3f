"""Verdicts on the last action, from what the job reads before and after it."""

from dataclasses import replace
from typing import NamedTuple

from streamplace.control.attempts import Attempt
from streamplace.control.observation import Observation
from streamplace.control.phrases import percent, rate
from streamplace.control.rules import Rules

UNKNOWN = "it is unknown what the sources read, so the last action cannot be judged yet"


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
    attempt: Attempt, observation: Observation, served_s: float | None, rules: Rules
) -> Verdict | None:
    """Return the doubt about an action that has ended; None if there is none, or none any more.

    A window in which the job does as well as before, a recovery of the job, and a change by others
    end the trial.

    Parameters
    ----------
    served_s
        Tuples per second that the sources read; None if unknown.
    """
    if not attempt.still_runs(observation):
        return None
    if served_s is None:
        return Verdict(attempt, UNKNOWN)
    if not attempt.is_worse(observation, served_s, rules):
        return None
    worse = replace(attempt, worse=attempt.worse + 1)
    reason = (
        f"{rate(served_s)} are carried, less than {percent(rules.rollback_below)} of the "
        f"{rate(attempt.expected_s(observation))} that were carried before the last action"
    )
    if worse.worse < rules.agreeing:
        many = f"in {worse.worse} of the {rules.agreeing} windows in a row that must agree"
        return Verdict(worse, f"{reason}, {many}")
    return Verdict(worse, reason, rolls_back=True)
