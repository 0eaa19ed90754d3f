"""Measurements of running jobs beside predictions, which packages add by entry points."""

from typing import NamedTuple, Protocol

from streamplace.errors import UsageError
from streamplace.problem.placement import Placement
from streamplace.util.entry_points import ours
from streamplace.util.plugins import load_ours
from streamplace.workflows.explanation import Against

GROUP = "streamplace.measurements"


class Measured(NamedTuple):
    """What was measured of a running job, and what ended this early.

    Parameters
    ----------
    fault
        The fault that ended it; empty if there was none.
    interrupted
        Whether an interrupt ended it.
    """

    against: Against
    fault: str
    interrupted: bool


class Measure(Protocol):
    """A function that watches a job and compares it with the predictions for a placement."""

    def __call__(
        self,
        placement: Placement,
        url: str,
        job: str | None,
        *,
        seconds: float,
        timeout_s: float,
        seed: int,
    ) -> Measured:
        """Return what was measured.

        Parameters
        ----------
        url
            The address of the engine.
        job
            The job; None: the only one that runs.
        seconds
            For how long to watch.
        timeout_s
            Time limit of an answer in seconds.
        seed
            Seed of the moments at which the job is watched.

        Raises
        ------
        ProblemError
            If the job has none of the placement's operators.
        BackendError
            If the engine does not answer, or too little was measured.
        """
        ...


def measure() -> Measure:
    """Return the function that the first package of the group `GROUP` has.

    Raises
    ------
    UsageError
        If there is none.
    """
    for path in ours(GROUP).values():
        found: Measure = load_ours(path)
        return found
    raise UsageError("no package that measures running jobs is there")
