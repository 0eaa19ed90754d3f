"""Streams: tuples that wait at the target, and tuples in flight."""

from collections import deque
from dataclasses import dataclass, field
from math import inf

from benchmarks.reference.engine.sets import EventSet


@dataclass
class PlainStream:
    """A stream with its queue and its wire.

    Parameters
    ----------
    number
        Its index.
    links, seconds
        The links that a tuple crosses, in order, and the seconds that it occupies each.
    delay
        Latency, in ticks.
    rate
        Tuples/s at the offered source rate.
    receive_o, send_o
        CPU seconds of one core per tuple that the target takes to receive it, and its source to
        send it.
    pay_receive_o, pay_send_o
        The same, or 0 if another stream with the same message pays for it.
    latency_s
        Latency of the link.
    cost
        CPU seconds per tuple at the target.
    service_s
        Seconds that the target takes per tuple.
    saved_s
        Seconds in ticks that a tuple travels beyond its exact travel time.
    limit
        Tuples that may wait.
    waited
        Tuples that waited at the end of the last tick.
    sent_now
        Tuples sent in this tick.
    """

    number: int
    source: int
    target: int
    selectivity: float
    links: list[int]
    seconds: list[float]
    delay: int
    rate: float = 0.0
    receive_o: float = 0.0
    send_o: float = 0.0
    pay_receive_o: float = 0.0
    pay_send_o: float = 0.0
    latency_s: float = 0.0
    cost: float = 0.0
    service_s: float = 0.0
    saved_s: float = 0.0
    limit: float = inf
    queue: deque[EventSet] = field(default_factory=deque)
    wire: deque[tuple[int, EventSet]] = field(default_factory=deque)
    waited: float = 0.0
    sent_now: float = 0.0
    in_flight: float = 0.0
    sent: float = 0.0
    taken: float = 0.0

    def seconds_on(self, link: int) -> float:
        """Seconds that a tuple occupies one of its links."""
        return self.seconds[self.links.index(link)]

    @property
    def waiting(self) -> float:
        """Tuples that wait at the target."""
        return sum(one.size for one in self.queue)

    def take(self, amount: float) -> list[EventSet]:
        """Remove the first `amount` of the waiting tuples, and return them."""
        return taken_first(self.queue, amount)

    def arrive(self, arriving: EventSet) -> None:
        """Add tuples that were in flight to the queue."""
        self.in_flight -= arriving.size
        arriving.birth += self.saved_s
        self.queue.append(arriving)


def taken_first(queue: deque[EventSet], amount: float) -> list[EventSet]:
    """Remove the first `amount` tuples of a queue, and return them."""
    parts = []
    while queue and amount > 0:
        first = queue[0]
        if first.size > amount:
            parts.append(first.split(amount / first.size))
            break
        parts.append(queue.popleft())
        amount -= first.size
    return parts
