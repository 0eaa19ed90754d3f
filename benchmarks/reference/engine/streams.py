"""Streams: what waits at their target, and what is on its way there."""

from collections import deque
from dataclasses import dataclass, field
from math import inf

from benchmarks.reference.engine.sets import EventSet


@dataclass
class PlainStream:
    number: int
    source: int
    target: int
    selectivity: float
    links: list[int]  # that a tuple takes, in order
    seconds: list[float]  # that it takes each
    delay: int
    rate: float = 0.0
    cost: float = 0.0
    most: float = inf
    queue: deque[EventSet] = field(default_factory=deque)
    wire: deque[tuple[int, EventSet]] = field(default_factory=deque)
    left: float = 0.0
    sent_now: float = 0.0
    in_flight: float = 0.0
    sent: float = 0.0
    taken: float = 0.0

    @property
    def waiting(self) -> float:
        return sum(one.size for one in self.queue)

    def take(self, amount: float) -> list[EventSet]:
        """Return the first of the tuples that wait."""
        parts = []
        while self.queue and amount > 0:
            first = self.queue[0]
            if first.size > amount:
                parts.append(first.split(amount / first.size))
                break
            parts.append(self.queue.popleft())
            amount -= first.size
        return parts

    def arrive(self, arriving: EventSet) -> None:
        """Let what was on its way wait at the target."""
        self.in_flight -= arriving.size
        self.queue.append(arriving)
