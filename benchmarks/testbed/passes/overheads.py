"""What the testbed adds to the times of a pass, measured."""

from dataclasses import dataclass

import numpy as np

from benchmarks.testbed.passes.executors import PACKETS, Executors
from benchmarks.testbed.passes.job import Job
from benchmarks.testbed.passes.worker.channels import HEADER
from benchmarks.testbed.scaling import HEADERS_BYTES, NS
from streamplace.util.arrays import Floats, Ints

SEGMENT_BYTES = PACKETS.mtu + 14 - HEADERS_BYTES
BURNS_S = (0.005, 0.01, 0.04, 0.005, 0.02, 0.03, 0.01, 0.04)
"""Times of operators that a device runs one after another; the first one is not counted."""
SIZES = (10_000, 40_000, 20_000, 80_000)  # bytes of messages, in turn
PAUSE_S = 0.01  # time of an operator between two messages
REPETITIONS = 4


@dataclass(frozen=True)
class Overheads:
    """Times of operators and messages on the testbed, besides those intended.

    Parameters
    ----------
    slowness
        (D,) time of an operator's work on each device, relative to the intended time.
    dispatch_s
        (D,) seconds per operator besides its work, on each device.
    message_s
        Seconds from the end of an operator to the arrival of its message, besides the time of the
        message's bytes.
    """

    slowness: tuple[float, ...]
    dispatch_s: tuple[float, ...]
    message_s: float

    @classmethod
    def none(cls, devices: int) -> "Overheads":
        """Return those of an ideal testbed."""
        return cls((1.0,) * devices, (0.0,) * devices, 0.0)

    def __str__(self) -> str:
        """Return a line with the ranges over devices."""
        low, high = min(self.slowness), max(self.slowness)
        least, most = min(self.dispatch_s) * 1e6, max(self.dispatch_s) * 1e6
        return (
            f"work takes {low:.4f} to {high:.4f} of the intended time; besides, an operator takes "
            f"{least:.0f} to {most:.0f} us and a message {self.message_s * 1e6:.0f} us"
        )


def on_the_wire(size: Ints) -> Ints:
    """Return the bytes of messages with all headers on the wire."""
    whole = size + HEADER.size
    return (whole + HEADERS_BYTES * -(-whole // SEGMENT_BYTES)).astype(np.int32)


def transfer_s(size: Ints, mbps: Floats) -> Floats:
    """Return the seconds for which an idle link needs to pass messages, less a burst."""
    return np.maximum(on_the_wire(size) - PACKETS.burst_bytes, 0) * 8e-6 / mbps


def calibrate(executors: Executors) -> Overheads:
    """Measure the overheads of devices and links, which takes two seconds."""
    count = len(executors.shares)
    taken = np.median([_work(executors) for _ in range(REPETITIONS)], axis=0)
    fits = [np.polyfit(BURNS_S[1:], each, 1).tolist() for each in taken.T]
    delays = [_messages(executors) for _ in range(REPETITIONS)] if count > 1 else [np.zeros(1)]
    return Overheads(
        tuple(slope for slope, _ in fits),
        tuple(max(0.0, constant) for _, constant in fits),
        max(0.0, float(np.median(np.concatenate(delays)))),
    )


def _work(executors: Executors) -> Floats:
    """Return the seconds from one end to the next of operators on each device, (N, D).

    All devices work at a time.
    """
    count = len(executors.shares)
    devices = np.tile(np.arange(count, dtype=np.int32), len(BURNS_S))
    intended = np.repeat(BURNS_S, count)
    first = np.arange(len(devices) - count, dtype=np.int32)
    job = Job(
        devices,
        intended * np.array(executors.speeds)[devices] * NS,
        first,
        first + np.int32(count),
        np.zeros(len(first), np.int32),
        np.zeros((count, count)),
    )
    ends = executors.run(job).end.reshape(-1, count)
    return np.diff(ends, axis=0)


def _messages(executors: Executors) -> Floats:
    """Return the seconds that messages needed besides those of their bytes, (N,).

    A message goes round all devices, so that no two messages wait for each other.
    """
    count = len(executors.shares)
    hops = len(SIZES) * count
    devices = (np.arange(hops + 1) % count).astype(np.int32)
    source = np.arange(hops, dtype=np.int32)
    size = np.resize(np.array(SIZES, np.int32), hops)
    speeds = np.array(executors.speeds)[devices]
    job = Job(devices, PAUSE_S * speeds * NS, source, source + 1, size, np.zeros((count, count)))
    times = executors.run(job)
    mbps = np.array(executors.mbps)[devices[:-1] * count + devices[1:]]
    return times.ready[1:] - times.end[:-1] - transfer_s(size, mbps)
