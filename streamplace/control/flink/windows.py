"""Windows of measurements of a Flink job, one after another."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from streamplace.control.flink.clock import Clock
from streamplace.control.flink.devices import Devices
from streamplace.control.flink.measuring import observation
from streamplace.control.flink.sampling import LostError, Sample, Sampler
from streamplace.control.observation import Observation
from streamplace.errors import BackendError
from streamplace.integrations.flink.answers import expecting
from streamplace.integrations.flink.applying.documents import job_path, read_cluster


@dataclass
class Windows:
    """Observations, each from where the one before ended.

    Parameters
    ----------
    window_s
        Length of a window in seconds, apart from the time that the server takes.
    weights
        See `observation`.
    before
        The sample with which the next window begins; None: it is taken then.
    skew_s
        What the server's clock is ahead of this machine's, in seconds.
    check
        Called once, with the job's operators when they are known; it may refuse them.
    """

    sampler: Sampler
    devices: Devices
    window_s: float
    clock: Clock
    weights: Mapping[str, float] | None = None
    before: Sample | None = None
    skew_s: float = 0.0
    check: Callable[[Collection[str]], object] | None = None

    @property
    def now_s(self) -> float:
        """The time by the server's clock, in seconds since 1970."""
        return self.clock() + self.skew_s

    def set_clock(self, job: str) -> None:
        """Take the time of the server, if it answers, before the first window."""
        with suppress(BackendError):
            self.skew_s = self.sampler.now_s(job) - self.clock()

    def next(self, job: str) -> Observation:
        """Return the next window; what the server does not answer is missing.

        Raises
        ------
        LostError
            If the job has ended.
        StreamplaceError
            Errors of `check`.
        """
        began_s, fault = self.now_s, ""
        try:
            self.before = self.before or self._sample(job)
        except LostError:
            raise
        except BackendError as error:
            fault = str(error)
        self.clock.sleep(self.window_s)
        before, self.before = self.before, None
        try:
            after = self._sample(job)
            cluster = read_cluster(self.sampler.server, job, self.sampler.answer_s)
        except LostError:
            raise
        except BackendError as error:
            return self._blind(began_s, str(error))
        self.before = after
        if before is None:
            return self._blind(began_s, fault)
        found = observation(before, after, self.devices.update(cluster), self.weights)
        return replace(found, checkpoint_s=self._checkpoint_s(job))

    def _checkpoint_s(self, job: str) -> float | None:
        """Return how long the latest checkpoint took, in seconds; None if that is unknown."""
        server, path = self.sampler.server, f"{job_path(job)}/checkpoints"
        with suppress(BackendError), expecting(server.url + path):
            value = server.get(path, self.sampler.answer_s)
            return float(value["latest"]["completed"]["end_to_end_duration"]) / 1e3
        return None

    def _sample(self, job: str) -> Sample:
        found = self.sampler.fresh(job)
        self.skew_s = found.asked_s - self.clock()
        check, self.check = self.check, None
        if check is not None:
            check(found.plan.vertex_of.keys())
        return found

    def _blind(self, began_s: float, fault: str) -> Observation:
        now_s = self.now_s
        seconds = max(now_s - began_s, self.window_s)
        return Observation(
            *(now_s, seconds, 0.0, {}, None, None, frozenset[str](), {}), missing=(fault,)
        )
