"""Messages of a plain schedule: when each starts on its channels and arrives at its devices.

Times are whole units. Nothing is predicted: each function looks at the starts so far.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchmarks.reference.schedule_inputs import Message

RECEIVE, SEND = 0, 1  # in the order of jobs of one moment
Key = tuple[Any, ...]


@dataclass(eq=False)
class Task:
    """An operator, or the CPU time of a message at one end (a job)."""

    device: int
    cores: int
    length: int
    rest: int = 0
    operator: int = -1
    message: "SentMessage | None" = None  # of a job
    kind: int = SEND
    start: int | None = None

    @property
    def finish(self) -> int | None:
        """The moment at which it ends, as soon as it has started."""
        return None if self.start is None else self.start + self.length


@dataclass(frozen=True)
class Receiver:
    """What a message needs of one receiving interface under `nic`."""

    transfer: int
    gap: int


@dataclass(eq=False)
class SentMessage:
    """A message on its way; keys are indices of devices."""

    message: Message
    transfer: int
    latency: int
    gap: int
    producer: Task
    receivers: dict[int, Receiver]
    send: Task | None = None
    receive: dict[int, Task] = field(default_factory=dict)
    start: int | None = None
    service: dict[int, int] = field(default_factory=dict)  # start at a receiver, under `nic`

    @property
    def ready(self) -> int | None:
        """The moment at which it may start."""
        return (self.send or self.producer).finish

    @property
    def key(self) -> Key:
        """Its place in the order of messages."""
        end = self.producer.finish
        ready = end if self.ready is None else self.ready
        return ready, end, self.message.source, self.message.stream

    @property
    def channel_free(self) -> int | None:
        """The moment at which it leaves its channels."""
        return None if self.start is None else self.start + self.transfer + self.gap

    @property
    def first_byte(self) -> int | None:
        """The moment at which its first byte arrives."""
        return None if self.start is None else self.start + self.latency

    def receiver_free(self, d: int) -> int | None:
        """Return when a receiver that serves it is free again."""
        receiver = self.receivers[d]
        return self.service[d] + receiver.transfer + receiver.gap if d in self.service else None

    def arrival(self, d: int) -> int | None:
        """Return when it arrives at a device, as soon as that is fixed."""
        if self.start is None:
            return None
        last_byte = self.start + self.transfer + self.latency
        if d not in self.receivers:
            return last_byte
        if d not in self.service:
            return None
        return max(last_byte, self.service[d] + self.receivers[d].transfer)

    def counts_at(self, d: int) -> int | None:
        """Return when it counts as an input on a device, as soon as that is fixed."""
        return self.receive[d].finish if d in self.receive else self.arrival(d)

    def moments(self) -> Iterator[int | None]:
        """Yield the moments at which something changes, as far as they are fixed."""
        yield self.channel_free
        yield self.first_byte
        for d in self.message.to:
            yield self.arrival(d)
            if d in self.receivers:
                yield self.receiver_free(d)


def is_past(moment: int | None, now: int) -> bool:
    """Return whether a moment is fixed and has come."""
    return moment is not None and moment <= now


def start_messages(messages: list[SentMessage], now: int) -> None:
    """Start messages in order; one that waits holds back later ones on all its channels."""
    held = {
        channel
        for one in messages
        if one.channel_free is not None and one.channel_free > now
        for channel in one.message.channels
    }
    waiting = [one for one in messages if one.start is None and is_past(one.ready, now)]
    for one in sorted(waiting, key=lambda one: one.key):
        waits = bool(one.message.channels & held)
        if not waits:
            one.start = now
        if waits or one.transfer + one.gap > 0:
            held |= one.message.channels


def serve_receivers(messages: list[SentMessage], now: int) -> None:
    """Let each receiver of `nic` serve messages in the order of their first bytes."""
    for d in {d for one in messages for d in one.receivers}:
        incoming = [one for one in messages if d in one.receivers]
        waiting = [m for m in incoming if d not in m.service and is_past(m.first_byte, now)]
        for one in sorted(waiting, key=lambda one: (one.first_byte, *one.key[1:])):
            served = (m.receiver_free(d) for m in incoming if d in m.service)
            if all(is_past(moment, now) for moment in served):
                one.service[d] = now
