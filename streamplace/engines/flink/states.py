"""States of the instances of a vertex, and which of them let a job be measured and changed."""

from collections.abc import Collection

RUNNING, FINISHED = "RUNNING", "FINISHED"
STATES = (
    *("CREATED", "SCHEDULED", "DEPLOYING", "INITIALIZING", RUNNING, FINISHED),
    *("CANCELING", "CANCELED", "FAILED", "RECONCILING"),
)
"""All states (``ExecutionState``)."""


def not_going(states: Collection[str]) -> str:
    """Return the states in which an instance neither runs nor has finished, in words."""
    return ", ".join(sorted({*states} - {RUNNING, FINISHED}))
