"""The emulator: devices that exist within a ``with`` block, and the jobs that run on them."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from benchmarks.testbed import facilities, leftovers, wiring
from benchmarks.testbed.facilities import TestbedError
from benchmarks.testbed.groups import Group, kill, remove
from benchmarks.testbed.jobs import QUEUE, documents
from benchmarks.testbed.measures import Measured, Moment, measured
from benchmarks.testbed.ownership import own_prefix
from benchmarks.testbed.programs import ip
from benchmarks.testbed.scaling import Scaled
from streamplace.problem.cluster import NetworkKind
from streamplace.util.arrays import Ints

ROOT = Path(__file__).resolve().parents[2]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LEAD_S = 0.05  # between the message with the start time and the start
TIMEOUT_S = 60.0  # more than a job takes, which includes connecting the devices
_made = 0


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


class Emulator:
    """Devices with shares of a core, and links between them; used inside `swept`.

    Parameters
    ----------
    kind
        Kind of the network.
    shares
        (D,) share of a core of each of D devices.
    mbps
        (L,) bandwidth of each of L links in Mbit/s, in the order of `Cluster.link_ends`.
    """

    def __init__(self, kind: NetworkKind, shares: Sequence[float], mbps: Sequence[float]) -> None:
        global _made  # noqa: PLW0603  # makes the names of one process unique
        _made += 1
        self.kind = kind
        prefix = f"{own_prefix()}{_made}"
        self.switch = f"{prefix}s"
        self.devices = [f"{prefix}d{d}" for d in range(len(shares))]
        self.shares = tuple(shares)
        self.mbps = tuple(mbps)
        self._jobs = 0
        self._workers: list[subprocess.Popen[str]] = []
        self._groups: list[Group] = []

    def __enter__(self) -> "Emulator":
        wiring.build(self.switch, self.devices)
        wiring.shape(self.kind, self.switch, self.devices, self.mbps)
        cores = sorted(os.sched_getaffinity(0))
        for d, (device, share) in enumerate(zip(self.devices, self.shares, strict=True)):
            self._groups.append(Group(device, share))
            self._workers.append(_worker(device, cores[d % len(cores)]))
        for worker, group in zip(self._workers, self._groups, strict=True):
            _receive(worker)
            group.add(worker.pid)
        return self

    def __exit__(self, *_: object) -> None:
        """End the devices and remove them; `swept` removes what an interruption leaves."""
        for worker in self._workers:
            kill(worker.pid)
        for worker in self._workers:
            for pipe in (worker.stdin, worker.stdout):
                with suppress(OSError):
                    if pipe is not None:
                        pipe.close()
            worker.wait()
        for group in self._groups:
            for folder in group.folders:
                remove(folder)
        ip(f"netns del {name}" for name in (self.switch, *self.devices))

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
        for worker, document in zip(self._workers, jobs, strict=True):
            _send(worker, document)
        for worker in self._workers:
            _receive(worker)
        start_s = time.monotonic() + LEAD_S
        for worker in self._workers:
            _send(worker, {"start_s": start_s})
        moments = [self._moment_at(start_s + s) for s in (warm_s, warm_s + seconds)]
        answers = [_receive(worker) for worker in self._workers]
        for worker in self._workers:
            _send(worker, "done")
        spans = (moments[0].at_s - start_s, moments[1].at_s - start_s)
        return measured(scaled, placed, answers, spans, moments)

    def _moment_at(self, at_s: float) -> Moment:
        time.sleep(max(0.0, at_s - time.monotonic()))
        pids = [worker.pid for worker in self._workers]
        carried = wiring.carried_bytes(self.kind, self.devices, pids)
        return Moment(time.monotonic(), [group.used_s() for group in self._groups], carried)


def _worker(namespace: str, core: int) -> subprocess.Popen[str]:
    """Start the process of a device, which ends when its stdin closes.

    It has its own session, so that Ctrl-C reaches only the run, which then cleans up.
    """
    return subprocess.Popen(
        ["ip", "netns", "exec", namespace, sys.executable, "-m", "benchmarks.testbed.worker",
         str(core)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )  # fmt: skip


def _send(worker: subprocess.Popen[str], message: object) -> None:
    assert worker.stdin is not None
    try:
        worker.stdin.write(json.dumps(message) + "\n")
        worker.stdin.flush()
    except BrokenPipeError:
        raise TestbedError("the process of a device has ended") from None


def _receive(worker: subprocess.Popen[str]) -> Any:
    assert worker.stdout is not None
    if not select.select([worker.stdout], [], [], TIMEOUT_S)[0]:
        raise TestbedError(f"no answer from a device within {TIMEOUT_S:g} s; is the machine busy?")
    line = worker.stdout.readline()
    if not line:
        raise TestbedError("the process of a device has ended")
    return json.loads(line)
