"""A plain simulation of single tuples with objects and a list of events, for comparison.

It draws the same random numbers as `streamplace.sim.tuples` in the same order, so that the
latencies of both are equal to rounding. An idle core looks through all operators of its device for
the tuple that came first.
"""

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from math import log
from typing import Any

import numpy as np

from streamplace.sim.tuples import Arrivals, Deployment

WORD = 2**64 - 1


class Generator:
    """Marsaglia's xorshift64 on Python's integers."""

    def __init__(self, word: int) -> None:
        self.word = word

    def uniform(self) -> float:
        """Return a number from 0 up to 1."""
        self.word ^= self.word << 13 & WORD
        self.word ^= self.word >> 7
        self.word ^= self.word << 17 & WORD
        return float(self.word >> 11) / 2.0**53

    def exponential(self) -> float:
        """Return an exponential number of mean 1."""
        return -log(1.0 - self.uniform())


@dataclass
class Moving:
    """A tuple, the kind of its next service, and the links that it has still to pass."""

    birth_s: float
    kind: int
    links: list[tuple[int, float]] = field(default_factory=list)
    entered: int = 0


class PlainTuples:
    """One run; `latencies_s` has what `streamplace.sim.tuples.TupleRun.latencies_s` has."""

    def __init__(
        self,
        deployed: Deployment,
        arrivals: Arrivals,
        *,
        exponential: bool,
        duration_s: float,
        measured_from_s: float,
        seed: int,
    ) -> None:
        self.deployed, self.exponential = deployed, exponential
        self.duration_s, self.measured_from_s = duration_s, measured_from_s
        rng = np.random.default_rng(seed)
        self.phases = arrivals.phases(duration_s, rng)
        rates = deployed.rate[deployed.streams :]
        sources = np.flatnonzero(rates > 0).tolist()
        words = rng.integers(1, 2**63, len(sources) + 2, dtype=np.uint64).tolist()
        self.services, self.rounding = Generator(words[0]), Generator(words[1])
        self.queues: list[deque[Moving]] = [deque() for _ in range(deployed.operators)]
        self.busy_threads = [0] * deployed.operators
        self.busy_cores = [0] * len(deployed.cores)
        self.on_links: list[deque[Moving]] = [deque() for _ in deployed.link]
        self.latencies_s: list[float] = []
        self.numbers = count()
        self.events: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        for v, word in zip(sources, words[2:], strict=True):
            self._schedule_arrival(v, Generator(word), float(rates[v]), 0.0)
        while self.events:
            now, _, event, arguments = heapq.heappop(self.events)
            event(now, *arguments)

    def _schedule(self, at_s: float, event: Callable[..., None], *arguments: Any) -> None:
        if at_s < self.duration_s:
            heapq.heappush(self.events, (at_s, next(self.numbers), event, arguments))

    def _schedule_arrival(self, v: int, draws: Generator, rate: float, now: float) -> None:
        """Spend an exponential number of expected tuples on the phases."""
        left = draws.exponential() / rate
        ends = [*self.phases.begin_s[1:].tolist(), float("inf")]
        for end, factor in zip(ends, self.phases.factor.tolist(), strict=True):
            if end <= now:
                continue
            if left <= (end - now) * factor:
                self._schedule(now + left / factor, self._arrive, v, draws, rate)
                return
            left -= (end - now) * factor
            now = end

    def _arrive(self, now: float, v: int, draws: Generator, rate: float) -> None:
        self._enter(now, Moving(now, self.deployed.streams + v))
        self._schedule_arrival(v, draws, rate, now)

    def _forward(self, now: float, one: Moving) -> None:
        """Send a tuple to its next link, or over the wire to its operator."""
        if one.links:
            waiting = self.on_links[one.links[0][0]]
            waiting.append(one)
            if len(waiting) == 1:
                self._schedule(now + one.links[0][1], self._leave_link, one.links[0][0])
        elif self.deployed.latency_s[one.kind] > 0:
            self._schedule(now + self.deployed.latency_s[one.kind], self._enter, one)
        else:
            self._enter(now, one)

    def _leave_link(self, now: float, link: int) -> None:
        waiting = self.on_links[link]
        one = waiting.popleft()
        if waiting:
            self._schedule(now + waiting[0].links[0][1], self._leave_link, link)
        del one.links[0]
        self._forward(now, one)

    def _enter(self, now: float, one: Moving) -> None:
        v = int(self.deployed.operator_of[one.kind])
        one.entered = next(self.numbers)
        self.queues[v].append(one)
        self._start(now, int(self.deployed.device[v]))

    def _start(self, now: float, d: int) -> None:
        """Let idle cores take the waiting tuples that came first."""
        while self.busy_cores[d] < self.deployed.cores[d]:
            able = [
                (self.queues[v][0].entered, v)
                for v in np.flatnonzero(self.deployed.device == d).tolist()
                if self.queues[v] and self.busy_threads[v] < self.deployed.threads[v]
            ]
            if not able:
                return
            v = min(able)[1]
            self.busy_cores[d] += 1
            self.busy_threads[v] += 1
            one = self.queues[v].popleft()
            seconds = float(self.deployed.service_s[one.kind])
            seconds *= self.services.exponential() if self.exponential else 1.0
            self._schedule(now + seconds, self._complete, one, v, d)

    def _complete(self, now: float, one: Moving, v: int, d: int) -> None:
        out = self.deployed.out_stream[self.deployed.first_out[v] : self.deployed.first_out[v + 1]]
        if not len(out) and now >= self.measured_from_s:
            self.latencies_s.append(now - one.birth_s)
        for e in out.tolist():
            whole, part = divmod(float(self.deployed.selectivity[e]), 1.0)
            extra = part > 0 and self.rounding.uniform() < part
            for _ in range(int(whole) + extra):
                ways = zip(self.deployed.links[e], self.deployed.link_s[e], strict=True)
                links = [(int(link), float(seconds)) for link, seconds in ways if link >= 0]
                self._forward(now, Moving(one.birth_s, e, links))
        self.busy_threads[v] -= 1
        self.busy_cores[d] -= 1
        self._start(now, d)
