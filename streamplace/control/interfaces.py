"""What the loop of a controller needs of an engine and of its surroundings.

A clock, windows of measurements, a controller that decides, a realiser that changes the job, a
journal, and events. The loop and what decides import nothing of any engine.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from streamplace.control.decisions import Decision, Outcome
from streamplace.control.journal import Entry
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment
from streamplace.errors import BackendError


class LostError(BackendError):
    """The job has ended, or the server does not know it: it failed, or was stopped from outside."""


class Clock(Protocol):
    """A source of time."""

    def __call__(self) -> float:
        """Return the time in seconds since 1970."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The clock of this machine, without the steps in which it is set later."""

    def __init__(self) -> None:
        self._ahead_s = time.time() - time.monotonic()

    def __call__(self) -> float:
        """Return the time in seconds since 1970."""
        return time.monotonic() + self._ahead_s

    def sleep(self, seconds: float) -> None:
        """Wait; a negative time is no time."""
        time.sleep(max(seconds, 0.0))


class Measures(Protocol):
    """Windows of measurements, each from where the one before ended."""

    clock: Clock

    @property
    def window_s(self) -> float:
        """The length of a window in seconds."""
        ...

    @property
    def now_s(self) -> float:
        """The time by the engine's clock, in seconds since 1970."""
        ...

    def set_clock(self, job: str) -> None:
        """Take the time of the engine, if it answers, before the first window."""
        ...

    def next(self, job: str) -> Observation:
        """Return the next window; what the engine does not answer is missing.

        Raises
        ------
        LostError
            If the job has ended.
        """
        ...

    def forget(self) -> None:
        """Let the next window begin when it is asked for, as after a change of the job."""
        ...


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


class Realiser(Protocol):
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


class Decides(Protocol):
    """What decides; see `Controller`."""

    def step(self, observation: Observation) -> Decision:
        """Return what to do at the end of a window."""
        ...

    def began(self, decision: Decision, at_s: float) -> None:
        """Take note that an action begins."""
        ...

    def ended(self, outcome: Outcome) -> None:
        """Take note of how it ended."""
        ...

    def to_dict(self) -> Mapping[str, Any]:
        """Return the state as a JSON value."""
        ...

    def restore(self, value: Mapping[str, Any]) -> None:
        """Go on from a state."""
        ...


class Steps(Protocol):
    """Where steps are written before they are taken; see `Journal`."""

    @property
    def unfinished(self) -> Sequence[Entry]:
        """The steps of the action that was interrupted."""
        ...

    @property
    def jobs(self) -> Sequence[str]:
        """The ids of the job, the latest last; a restart gives it another one."""
        ...

    def latest(self, name: str) -> Any:
        """Return the last value of a detail; None if there is none."""
        ...

    def write(self, at_s: float, step: str, **details: Any) -> None:
        """Write a step."""
        ...


class NoJournal:
    """A journal that keeps nothing, for controllers that change nothing."""

    unfinished: Sequence[Entry] = ()
    jobs: Sequence[str] = ()

    def latest(self, name: str) -> None:
        """Return None, as there are no details."""

    def write(self, at_s: float, step: str, **details: Any) -> None:
        """Forget a step."""


class Events:
    """What happens while a job is watched; a subclass prints it, or locks the jobs."""

    def decided(self, observation: Observation, decision: Decision) -> None:
        """Take note of a window and its decision, before anything is changed.

        If an action was refused, the same window follows again, with the decision `refused` and
        why.
        """

    def say(self, line: str) -> None:
        """Take note of what happens between decisions, such as the end of each action."""

    def follow(self, job: str) -> None:
        """Take note of the id of a job before it is started or watched, and before each window."""

    def ended(self) -> None:
        """Take note that the job is no longer watched, for whatever reason."""
