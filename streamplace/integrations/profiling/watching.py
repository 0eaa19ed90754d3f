"""Observation of a running job: readings of its counters for some seconds."""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf

from streamplace.errors import BackendError
from streamplace.integrations.profiling.counters import Reading

READING_INTERVAL_S = 1.0


@dataclass(kw_only=True)
class Observed:
    """What was observed of a job.

    Parameters
    ----------
    fault
        The fault that ended the observation early; empty if there was none.
    interrupted
        Whether an interrupt ended the observation.
    """

    readings: list[Reading] = field(default_factory=list)
    fault: str = ""
    interrupted: bool = False

    @contextmanager
    def kept(self, until: float = inf) -> Iterator[None]:
        """Let a fault and an interrupt end the block, and keep the readings so far.

        Parameters
        ----------
        until
            By `time.monotonic`: when the observation is over, so that later faults do not count if
            there are readings.
        """
        try:
            yield
        except BackendError as error:
            if time.monotonic() < until or not self.readings:
                self.fault = str(error)
        except KeyboardInterrupt:
            self.interrupted = True


def moments(until: float, every_s: float, seed: int) -> Iterator[float]:
    """Yield when each reading begins, after pauses; see `jittered_pauses`.

    Parameters
    ----------
    until
        By `time.monotonic`: when the observation is over.
    """
    pauses = jittered_pauses(seed)
    while (began := time.monotonic()) < until:
        yield began
        following = min(began + every_s * next(pauses), until)
        time.sleep(max(following - time.monotonic(), 0.0))


def jittered_pauses(seed: int) -> Iterator[float]:
    """Yield random pauses between readings forever: 0.5 to 1.5, in units of the mean pause.

    Flink counts waiting time as busy until the next tuple arrives, and as idle afterwards. If
    the period of the readings were close to a period of the job, that error would drift, and tuples
    would seem to take more or less time than they do. At random times it averages out.
    """
    rng = random.Random(seed)
    while True:
        yield rng.uniform(0.5, 1.5)
