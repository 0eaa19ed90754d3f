"""Executors of passes on the testbed's devices, which exist within a ``with`` block."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from benchmarks.testbed.devices import TIMEOUT_S, Devices
from benchmarks.testbed.facilities import TestbedError
from benchmarks.testbed.passes.job import Job, documents
from benchmarks.testbed.scaling import NS
from benchmarks.testbed.wiring import Packets, address
from streamplace.problem.network import NetworkKind
from streamplace.util.arrays import Floats

KINDS: tuple[NetworkKind, ...] = ("pair", "egress")
"""Networks that the testbed realises: a channel per ordered pair of devices, or per sender."""
PACE = 0.6
"""Speed of operators as a fraction of the share of a core; the rest is for messages."""
PACKETS = Packets(mtu=1500, burst_bytes=4_600, joined=False)
"""For single messages: small packets, so that an idle link passes few bytes at once."""
LEAD_S = 0.03  # between the message with the start time and the start


@dataclass(frozen=True, eq=False)
class PassTimes:
    """Times of V operators in one pass, in seconds from its start.

    Parameters
    ----------
    ready, start, end
        (V,) when all inputs had arrived, when it started, and when it ended.
    """

    ready: Floats
    start: Floats
    end: Floats

    @property
    def makespan_s(self) -> float:
        """The end of the last operator."""
        return float(self.end.max())


class Executors(Devices):
    """Devices that run passes; used inside `swept`.

    Parameters
    ----------
    kind
        ``pair`` or ``egress``.
    shares
        (D,) share of a core of each device. Its operators run at `PACE` times this share.
    mbps
        (D * D,) bandwidth in Mbit/s from each device to each; with ``egress``, all links of a
        sender have the same.

    Raises
    ------
    TestbedError
        On another kind of network.
    """

    def __init__(self, kind: NetworkKind, shares: Sequence[float], mbps: Sequence[float]) -> None:
        if kind not in KINDS:
            raise TestbedError(f"the testbed runs passes on networks pair and egress, not {kind}")
        super().__init__(kind, shares, mbps, "benchmarks.testbed.passes.worker", PACKETS)
        self._jobs = 0

    def __enter__(self) -> Self:
        super().__enter__()
        addresses = [address(d) for d in range(len(self.devices))]
        one_channel = self.kind == "egress"
        self.send(
            [
                {"device": d, "speed": speed, "addresses": addresses, "one_channel": one_channel}
                for d, speed in enumerate(self.speeds)
            ]
        )
        self.receive()
        return self

    @property
    def speeds(self) -> list[float]:
        """(D,) CPU seconds per second of the operators of each device."""
        return [PACE * share for share in self.shares]

    def run(self, job: Job) -> PassTimes:
        """Run one pass and return its times.

        Raises
        ------
        TestbedError
            If a device fails, or the job is for another number of devices.
        """
        if len(job.latency_s) != len(self.devices):
            wrong = f"{len(job.latency_s)} devices, but the testbed has {len(self.devices)}"
            raise TestbedError(f"the job is for {wrong}")
        self._jobs += 1
        self.send(documents(job, self._jobs))
        self.receive()
        self.send([{"start_s": time.monotonic() + LEAD_S}] * len(self.devices))
        answers = self.receive(TIMEOUT_S + self._one_by_one_s(job))
        rows = np.array([row for answer in answers for row in answer])
        return PassTimes(*rows[np.argsort(rows[:, 0]), 1:].T)

    def _one_by_one_s(self, job: Job) -> float:
        """Return the seconds of all operators and messages, as if nothing ran beside another."""
        work_s = job.cost_ns / NS / np.array(self.speeds)[job.devices]
        ends = job.devices[job.source], job.devices[job.target]
        mbps = np.reshape(self.mbps, job.latency_s.shape)[ends]
        return float(np.sum(work_s) + np.sum(job.size * 8e-6 / mbps + job.latency_s[ends]))
