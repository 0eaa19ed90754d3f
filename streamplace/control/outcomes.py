"""Outcomes of actions."""

from dataclasses import dataclass

from streamplace.control.rules import Rules


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

    def blocks_s(self, rules: Rules) -> float:
        """Return the time for which the plan is not tried again."""
        if self.succeeded or self.interrupted:
            return 0.0
        return rules.block_s if self.changed else rules.refused_s
