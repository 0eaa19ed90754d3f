"""One pass as the testbed runs it, and the part of it that each device gets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamplace.util.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Job:
    """One pass of V operators and E streams on D devices.

    Parameters
    ----------
    devices
        (V,) int32 device of each operator.
    cost_ns
        (V,) CPU time of each operator on its device.
    source, target
        (E,) int32 operator indices.
    size
        (E,) int32 bytes of the message on each stream, without headers.
    latency_s
        (D, D) seconds from the last byte of a message to its arrival.
    shared
        Whether the consumers of an operator on one device share one message, the largest of them.
    """

    devices: Ints
    cost_ns: Floats
    source: Ints
    target: Ints
    size: Ints
    latency_s: Floats
    shared: bool = False


@dataclass
class Message:
    """A message between two devices, and its consumers, one per stream."""

    source: int
    sender: int
    receiver: int
    size: int
    consumers: list[int]


def messages(job: Job) -> list[Message]:
    """Return the messages of a pass; those of an operator are in the order of its streams."""
    made: list[Message] = []
    latest: dict[tuple[int, int], Message] = {}
    ends = zip(job.source.tolist(), job.target.tolist(), job.size.tolist(), strict=True)
    for v, w, size in ends:
        a, b = int(job.devices[v]), int(job.devices[w])
        if a == b:
            continue
        if job.shared and (v, b) in latest:
            latest[v, b].size = max(latest[v, b].size, size)
            latest[v, b].consumers.append(w)
        else:
            latest[v, b] = Message(v, a, b, size, [w])
            made.append(latest[v, b])
    return made


def documents(job: Job, number: int) -> list[dict[str, Any]]:
    """Return what each device gets, (D,).

    Parameters
    ----------
    number
        Number of the job, which distinguishes its messages from those of an earlier, failed job.
    """
    sent = messages(job)
    inputs = np.bincount(job.target, minlength=len(job.devices))
    return [
        {
            "number": number,
            "tasks": [
                (v, float(job.cost_ns[v]), int(inputs[v]), _local(job, v), _sent(sent, v))
                for v in np.flatnonzero(job.devices == d).tolist()
            ],
            "messages": [(i, m.receiver, m.size) for i, m in enumerate(sent) if m.sender == d],
            "consumers": [(i, m.consumers) for i, m in enumerate(sent) if m.receiver == d],
            "latency_s": {
                a: float(job.latency_s[a, d]) for a in range(len(job.latency_s)) if a != d
            },
        }
        for d in range(len(job.latency_s))
    ]


def _local(job: Job, v: int) -> list[int]:
    """Return the consumers of an operator on its own device, one per stream."""
    targets = job.target[job.source == v]
    own: list[int] = targets[job.devices[targets] == job.devices[v]].tolist()
    return own


def _sent(sent: Sequence[Message], v: int) -> list[int]:
    return [i for i, message in enumerate(sent) if message.source == v]
