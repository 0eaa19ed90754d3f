"""Progress of a restart, its time limits, and its failure."""

from dataclasses import dataclass, field

from streamplace.errors import BackendError


@dataclass(frozen=True)
class Limits:
    """Time limits in seconds, and what may be done when they are over.

    Parameters
    ----------
    answer_s, savepoint_s, start_s
        Limits of an answer, of a savepoint, and of a start until all vertices run.
    cancel_age_s
        If a savepoint does not end in time, the job is cancelled where its latest checkpoint is
        kept and is younger than this. None: jobs are not cancelled.
    """

    answer_s: float = 10.0
    savepoint_s: float = 60.0
    start_s: float = 120.0
    cancel_age_s: float | None = None


class FailedError(BackendError):
    """A step failed; the message says why and what runs now."""


class EndedByOthersError(FailedError):
    """Somebody else cancelled the job, or it has finished: nothing must be started."""


@dataclass
class Progress:
    """What has happened so far, from which follows what runs if the restart ends now.

    Parameters
    ----------
    trigger
        Id of the stop in progress; empty before it, and once it has ended.
    savepoint
        The savepoint or checkpoint that has all state; empty while the former job runs.
    job
        The job that runs, or is being started.
    rolling_back, rolled_back
        Whether the former mapping is being started again, and whether it runs.
    cancelling
        Whether the job is being cancelled, or was, until another one is started.
    down_since, down_s
        When the job no longer ran (`time.monotonic`), and the seconds until one ran again; None
        before.
    """

    job: str
    trigger: str = ""
    savepoint: str = ""
    running: bool = True
    rolled_back: bool = False
    rolling_back: bool = False
    cancelling: bool = False
    down_since: float | None = None
    down_s: float | None = None
    hosts: dict[str, list[str]] = field(default_factory=dict)
