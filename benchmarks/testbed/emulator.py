"""The emulator: devices that exist within a ``with`` block, and the jobs that run on them."""

import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from benchmarks.testbed import facilities, leftovers, wiring
from benchmarks.testbed.devices import Devices
from benchmarks.testbed.facilities import TestbedError
from benchmarks.testbed.jobs import QUEUE, documents
from benchmarks.testbed.measures import Measured, Moment, measured
from benchmarks.testbed.ownership import own_prefix
from benchmarks.testbed.scaling import Scaled
from benchmarks.testbed.wiring import STREAMING
from streamplace.problem.cluster import NetworkKind
from streamplace.util.arrays import Ints

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LEAD_S = 0.05  # between the message with the start time and the start


@contextmanager
def swept() -> Iterator[None]:
    """Remove everything that this process creates, however the block ends.

    Leftovers of processes that have ended are removed first. Use it in the main thread only:
    signals raise an exception in the block, so that its clean-up runs.
    """
    facilities.check()
    for prefix in leftovers.prefixes_of_ended_runs():
        leftovers.remove(prefix)
    before = {number: signal.signal(number, _end) for number in SIGNALS}
    try:
        yield
    finally:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        leftovers.remove(own_prefix())
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: object) -> NoReturn:
    for each in SIGNALS:  # further signals must not interrupt the clean-up
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


class Emulator(Devices):
    """Devices on which operators of streams run as long as they have tuples; see `Devices`."""

    def __init__(self, kind: NetworkKind, shares: Sequence[float], mbps: Sequence[float]) -> None:
        super().__init__(kind, shares, mbps, "benchmarks.testbed.worker", STREAMING)
        self._jobs = 0

    def run(
        self, scaled: Scaled, devices: Ints, warm_s: float, seconds: float, queue: int = QUEUE
    ) -> Measured:
        """Run a placement of a problem that was scaled for these devices and links.

        Parameters
        ----------
        devices
            (V,) device of each operator.
        warm_s, seconds
            Length of the warm-up, and of the measurement after it.
        queue
            Longest queue of a stream, in tuples.

        Raises
        ------
        TestbedError
            If a device fails, or the problem was scaled for other devices or links.
        """
        if (scaled.shares, scaled.mbps) != (self.shares, self.mbps):
            raise TestbedError("the problem was scaled for other devices or links")
        self._jobs += 1
        total = warm_s + seconds + LEAD_S
        jobs, placed = documents(scaled, devices, self._jobs, total, queue)
        self.send(jobs)
        self.receive()
        start_s = time.monotonic() + LEAD_S
        self.send([{"start_s": start_s}] * len(jobs))
        moments = [self._moment_at(start_s + s) for s in (warm_s, warm_s + seconds)]
        answers = self.receive()
        self.send(["done"] * len(jobs))
        spans = (moments[0].at_s - start_s, moments[1].at_s - start_s)
        return measured(scaled, placed, answers, spans, moments)

    def _moment_at(self, at_s: float) -> Moment:
        time.sleep(max(0.0, at_s - time.monotonic()))
        pids = [worker.pid for worker in self.workers]
        carried = wiring.carried_bytes(self.kind, self.devices, pids)
        return Moment(time.monotonic(), [group.used_s() for group in self.groups], carried)
