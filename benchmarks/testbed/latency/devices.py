"""Devices that serve single tuples, which exist within a ``with`` block."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from benchmarks.testbed.devices import TIMEOUT_S, Devices
from benchmarks.testbed.emulator import LEAD_S
from benchmarks.testbed.facilities import TestbedError, hierarchies
from benchmarks.testbed.latency.job import documents
from benchmarks.testbed.latency.simulated import QUANTITIES, values
from benchmarks.testbed.latency.worker.frames import HEADER
from benchmarks.testbed.scaling import Machine, Scaled
from benchmarks.testbed.wiring import Packets
from streamplace.util.arrays import Floats, Ints

PACE = 0.4
"""Speed of operators as a fraction of the share of a core; the rest is for messages."""
PRIORITY = 1  # lowest of the real-time priorities, which are above all ordinary ones
PACKETS = Packets(mtu=1500, burst_bytes=2_000, joined=False)
"""For single tuples: an idle link passes few bytes at once."""
MACHINE = Machine(
    cores=1.5,
    most_cores=0.3,
    mbps=40.0,
    tuples_s=200.0,
    processed_s=2000.0,
    delivered=PACE,
    mtu=PACKETS.mtu,
    least_bytes=HEADER.size,
)
"""The machine before its links' latency is calibrated."""


@dataclass(frozen=True, eq=False)
class TupleLatencies:
    """What a run measured.

    Parameters
    ----------
    latencies_s
        (N,) seconds from the birth of a tuple at its source to the moment at which a sink had
        processed a tuple that descends from it, of those processed after the warm-up.
    overloaded
        Whether too many tuples waited at a device, so that the run ended early.
    late_s
        (D, 3) median, 99th percentile and maximum of the time by which devices ended services late;
        0 without any service.
    busy
        (D,) share of the run that services took.
    """

    latencies_s: Floats
    overloaded: bool
    late_s: Floats
    busy: Floats

    def values(self) -> dict[str, float]:
        """Return mean, p50 and p99 in seconds; all are inf if the run was overloaded.

        Raises
        ------
        TestbedError
            If no tuple arrived.
        """
        if self.overloaded:
            return dict.fromkeys(QUANTITIES, float("inf"))
        if not len(self.latencies_s):
            raise TestbedError("no tuple reached a sink after the warm-up; run for longer")
        return values(self.latencies_s)


class TupleDevices(Devices):
    """Devices, each one slow core, with a link for each ordered pair; used inside `swept`.

    Parameters
    ----------
    shares
        (D,) share of a core of each device. Its operators run at `PACE` times this share.
    mbps
        (D * D,) bandwidth in Mbit/s from each device to each.
    """

    def __init__(self, shares: Sequence[float], mbps: Sequence[float]) -> None:
        super().__init__("pair", shares, mbps, "benchmarks.testbed.latency.worker", PACKETS)
        self._jobs = 0

    def __enter__(self) -> Self:
        """Start the devices, and let them run before all other processes.

        An ordinary process that wakes up waits for milliseconds until the scheduler takes the core
        from another one. Real-time processes need no quota, since their work is paced, and the
        kernel grants them no time in a group with one.
        """
        super().__enter__()
        for worker in self.workers:
            (hierarchies()["cpu"] / "cgroup.procs").write_text(str(worker.pid))
            try:
                os.sched_setscheduler(worker.pid, os.SCHED_FIFO, os.sched_param(PRIORITY))
            except PermissionError:
                self.__exit__()
                raise TestbedError("the kernel refuses real-time scheduling to devices") from None
        return self

    def run(
        self,
        scaled: Scaled,
        devices: Ints,
        *,
        exponential: bool,
        seed: int,
        warm_s: float,
        seconds: float,
    ) -> TupleLatencies:
        """Run a placement of a problem that was scaled for these devices and links.

        Parameters
        ----------
        devices
            (V,) device of each operator.
        exponential
            Whether services are exponential instead of constant.
        seed
            Seed of arrivals and services.
        warm_s, seconds
            Length of the warm-up, and of the measurement after it.

        Raises
        ------
        TestbedError
            If a device fails, or the problem was scaled for other devices or links.
        """
        if (scaled.shares, scaled.mbps) != (self.shares, self.mbps):
            raise TestbedError("the problem was scaled for other devices or links")
        self._jobs += 1
        speeds = [PACE * share for share in self.shares]
        total_s = warm_s + seconds
        self.send(
            documents(
                scaled, devices, speeds, self._jobs, total_s, exponential=exponential, seed=seed
            )
        )
        self.receive()
        self.send([{"start_s": time.monotonic() + LEAD_S}] * len(speeds))
        answers = self.receive(TIMEOUT_S + total_s)
        self.send(["done"] * len(speeds))
        return measured(answers, warm_s)


def measured(answers: Sequence[Any], warm_s: float) -> TupleLatencies:
    """Return the measurements of a run from the answers of the devices."""
    arrived = sorted((at_s, took_s) for answer in answers for at_s, took_s in answer["arrived"])
    return TupleLatencies(
        np.array([took_s for at_s, took_s in arrived if at_s >= warm_s]),
        any(answer["overloaded"] for answer in answers),
        np.array([answer["late_s"] or [0.0] * 3 for answer in answers]),
        np.array([answer["busy"] for answer in answers]),
    )
