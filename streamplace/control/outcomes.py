"""Outcomes of actions."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """How an action ended.

    Parameters
    ----------
    at_s
        When it ended, in seconds since 1970.
    succeeded
        Whether the job runs as planned. If not, it runs as before, or the action was refused before
        anything was changed; the plan is then not tried again for `Rules.block_s`.
    downtime_s
        Seconds without output; None if they were not measured.
    reason
        Why it failed; empty if it did not.
    """

    at_s: float
    succeeded: bool
    downtime_s: float | None = None
    reason: str = ""
