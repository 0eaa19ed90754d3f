"""What the loop needs of a controller and of a journal."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from streamplace.control.decisions import Decision
from streamplace.control.entries import Entry
from streamplace.control.observation import Observation
from streamplace.control.outcomes import Outcome


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


class Writes(Protocol):
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
