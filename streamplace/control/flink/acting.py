"""Actions on a running job: what a backend offers, and how an action ended."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from streamplace.control.plans import Deployment

Record = Callable[[str, dict[str, Any]], object]
"""Writes a step and its JSON values into the journal, before the step is taken."""


@dataclass(frozen=True)
class Acted:
    """How an action ended.

    Parameters
    ----------
    job
        The job that runs, or that is stopped last.
    succeeded
        Whether it runs as planned.
    runs
        Whether a job runs.
    changed
        Whether anything was changed; a refusal changes nothing.
    downtime_s
        Seconds between the last moment when the former job ran and the first when a job ran again;
        None if they were not measured.
    reason
        Why it failed, and what runs; empty if it did not.
    savepoint
        The savepoint or checkpoint that has all state, if no job runs.
    stops
        Whether a stop is still in progress, so that the job ends later.
    lost
        Whether the job has ended without this controller stopping it, so that nothing is done.
    """

    job: str
    succeeded: bool
    runs: bool = True
    changed: bool = True
    downtime_s: float | None = None
    reason: str = ""
    savepoint: str = ""
    stops: bool = False
    lost: bool = False

    @property
    def refused(self) -> bool:
        """Whether nothing was changed, and the job goes on as it was."""
        return not (self.succeeded or self.changed or self.lost or self.pending)

    @property
    def pending(self) -> bool:
        """Whether the action must be gone on with, because no job runs, or one is being stopped."""
        return self.stops or not self.runs


class Backend(Protocol):
    """A way to change a running job."""

    def act(
        self, job: str, deployment: Deployment, record: Record, savepoint: str | None = None
    ) -> Acted:
        """Change a job, verify it, and take the change back once if that fails.

        Parameters
        ----------
        savepoint
            The savepoint or checkpoint to start from if the job has ended, as after an
            interruption; None: that with which it was stopped.
        """
        ...

    def resume(self, job: str, deployment: Deployment, steps: Any, record: Record) -> Acted | None:
        """Go on with an action that was interrupted; None if it had changed nothing.

        Parameters
        ----------
        steps
            The entries of the journal since the action began.
        """
        ...
