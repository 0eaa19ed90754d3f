"""Counters of a running job: readings for some seconds, and the choice of usable ones."""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from math import inf

import numpy as np

from streamplace.errors import BackendError
from streamplace.util.arrays import Floats

TUPLES_AND_BYTES = ("records_in", "records_out", "bytes_in", "bytes_out")
RISING = (*TUPLES_AND_BYTES, "cpu_ms")
"""Counters that fall only if what they count restarts."""
SHORT_BURST = 2  # readings of a burst in which the parts of one update arrive
READING_INTERVAL_S = 1.0


@dataclass(frozen=True)
class Counters:
    """Sums over all instances since the job started; None where a counter is missing.

    Parameters
    ----------
    records_in, records_out
        Tuples.
    bytes_in
        Bytes received; exact.
    bytes_out
        Bytes sent; grows by whole buffers.
    busy_ms, idle_ms, backpressured_ms
        Milliseconds spent in each state.
    cpu_ms
        Milliseconds of CPU time.
    """

    records_in: float | None = None
    records_out: float | None = None
    bytes_in: float | None = None
    bytes_out: float | None = None
    busy_ms: float | None = None
    idle_ms: float | None = None
    backpressured_ms: float | None = None
    cpu_ms: float | None = None


def total(rows: Sequence[Counters]) -> Counters:
    """Return the sums over several instances; a sum is missing if one of its counters is."""

    def sum_of(name: str) -> float | None:
        found = [value for each in rows if (value := getattr(each, name)) is not None]
        return sum(found) if len(found) == len(rows) else None

    return Counters(**{each.name: sum_of(each.name) for each in fields(Counters)})


@dataclass(frozen=True)
class Reading:
    """All counters at one moment.

    Parameters
    ----------
    at_s
        Time by the server's clock, seconds.
    vertices
        Vertex id -> its counters.
    operators
        Operator -> its own counters, for sources and members of chains.
    """

    at_s: float
    vertices: Mapping[str, Counters]
    operators: Mapping[str, Counters] = field(default_factory=dict)

    def of(self, names: Sequence[str]) -> list[float | None]:
        """Return some counters of all vertices and operators."""
        rows = (*self.vertices.values(), *self.operators.values())
        return [getattr(each, name) for each in rows for name in names]


def usable_readings(readings: Sequence[Reading]) -> list[Reading]:
    """Return the readings that belong to a known moment, dated to that moment.

    Flink answers with metrics that it fetched up to ten seconds ago, and a request makes it fetch
    new ones. So a reading that differs from the previous one is dated to the time of the previous
    one. Readings are left out if they repeat the previous one, and so are the first reading, whose
    age is unknown, and all readings before a counter fell (the job restarted). If changes come
    in short bursts with pauses in between, the updates of several TaskManagers arrived one
    after another, and only the last reading of each burst is complete.
    """
    bursts: list[list[Reading]] = []
    quiet = True
    for before, reading in pairwise(readings):
        if _any_fell(before, reading):
            bursts.clear()
            quiet = True
        elif reading.of(TUPLES_AND_BYTES) == before.of(TUPLES_AND_BYTES):
            quiet = True
        else:
            if quiet:
                bursts.append([])
            bursts[-1].append(replace(reading, at_s=before.at_s))
            quiet = False
    several = len(bursts) > 1
    return [
        reading
        for burst in bursts
        for reading in (burst[-1:] if several and len(burst) <= SHORT_BURST else burst)
    ]


def increases(rows: Sequence[Counters | None], counter: str) -> Floats:
    """Return what a counter gained from each row to the next; nan where one of them lacks it."""
    values = [getattr(row or Counters(), counter) for row in rows]
    return np.diff(np.array([np.nan if each is None else each for each in values]))


def _any_fell(before: Reading, after: Reading) -> bool:
    return any(
        a is not None and b is not None and b < a
        for a, b in zip(before.of(RISING), after.of(RISING), strict=True)
    )


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
