"""A device as one slow core, which serves the tuples of its operators one at a time."""

import random
import time
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from math import floor
from typing import Any, NamedTuple

from benchmarks.testbed.latency.worker.frames import Incoming, Outgoing
from benchmarks.testbed.latency.worker.wires import Wires
from benchmarks.testbed.passes.worker.pacing import Pacer

MOST_WAITING = 20_000
"""Tuples that may wait at a device; with more, the run is overloaded."""
NS = 1e9


class Output(NamedTuple):
    """A stream out of an operator.

    Parameters
    ----------
    stream
        Its number.
    selectivity
        Mean tuples per tuple that the operator processes.
    device
        Index of the device to which it leads; None: this one.
    """

    stream: int
    selectivity: float
    device: int | None


class Operator(NamedTuple):
    """An operator.

    Parameters
    ----------
    cost_ns
        Mean CPU time of a tuple.
    births_s
        Moments at which tuples arrive from outside, in seconds from the start.
    outputs
        Its streams; an operator without any is a sink.
    """

    cost_ns: float
    births_s: Sequence[float]
    outputs: Sequence[Output]


class Server:
    """Serves tuples in the order in which they entered the device, whatever their operator.

    A service begins when the tuple has entered and the one before it is over, by the clock, and
    takes the CPU time of the tuple divided by the speed. A device that is late, since it woke up
    late or another process had the core, works without rests until it has caught up. So delays of
    the machine do not add up.

    Parameters
    ----------
    operators
        Index in the graph -> operator on this device.
    target
        Number of a stream -> operator on this device to which it leads.
    outgoing
        Index of a device -> connection to it.
    speed
        CPU seconds per second.
    exponential
        Whether services are exponential instead of constant.
    rng
        Draws services, and whether a fraction of a tuple is one.
    """

    def __init__(
        self,
        operators: Mapping[int, Operator],
        target: Mapping[int, int],
        incoming: Sequence[Incoming],
        outgoing: Mapping[int, Outgoing],
        speed: float,
        rng: random.Random,
        *,
        exponential: bool,
    ) -> None:
        self.arrived: list[tuple[float, float]] = []  # at sinks: moment and latency, in seconds
        self.late_s: list[float] = []  # of each tuple: time from the end of its service to now
        self._operators = operators
        self._target = target
        self._outgoing = outgoing
        self._speed = speed
        self._rng = rng
        self._exponential = exponential
        self._wires = Wires(incoming, list(outgoing.values()), self._receive)
        self._pacer = Pacer(speed, self._wires.rest)
        self._waiting: list[tuple[float, int, int, float]] = []
        self._entered = 0
        self._start_s = self._free_s = 0.0
        self._births: list[tuple[float, int]] = []  # latest first
        self._busy_s = 0.0

    def run(self, start_s: float, seconds: float) -> dict[str, Any]:
        """Serve tuples for `seconds`, from a time of the monotonic clock on; return the results."""
        self._start_s = self._free_s = start_s
        births = [(t, v) for v, one in self._operators.items() for t in one.births_s]
        self._births = sorted(births, reverse=True)
        time.sleep(max(0.0, start_s - time.monotonic()))
        overloaded = False
        while not overloaded and (now_s := time.monotonic()) < start_s + seconds:
            self._admit(now_s)
            if self._waiting:
                self._wires.serve(0.0)
                self._serve()
            else:
                next_s = self._births[-1][0] if self._births else seconds
                self._wires.serve(start_s + min(next_s, seconds) - now_s)
            overloaded = len(self._waiting) > MOST_WAITING
        return {
            "overloaded": overloaded,
            "arrived": self.arrived,
            "late_s": _quantiles(self.late_s),
            "busy": self._busy_s / seconds,
        }

    def _admit(self, now_s: float) -> None:
        """Let the tuples enter that have arrived from outside."""
        while self._births and self._start_s + self._births[-1][0] <= now_s:
            born_s, v = self._births.pop()
            self._enter(self._start_s + born_s, v, self._start_s + born_s)

    def _receive(self, stream: int, birth_s: float) -> None:
        self._enter(time.monotonic(), self._target[stream], birth_s)

    def _enter(self, at_s: float, operator: int, birth_s: float) -> None:
        heappush(self._waiting, (at_s, self._entered, operator, birth_s))
        self._entered += 1

    def _serve(self) -> None:
        """Serve the tuple that entered first, and send its output."""
        entered_s, _, v, birth_s = heappop(self._waiting)
        operator = self._operators[v]
        begin_s = max(entered_s, self._free_s)
        drawn = self._rng.expovariate(1.0) if self._exponential else 1.0
        cost_ns = operator.cost_ns * drawn
        self._pacer.work(cost_ns, begin_s)
        self._free_s = begin_s + cost_ns / self._speed / NS
        self._busy_s += self._free_s - begin_s
        now_s = time.monotonic()
        self.late_s.append(now_s - self._free_s)
        if not operator.outputs:
            self.arrived.append((now_s - self._start_s, now_s - birth_s))
        for output in operator.outputs:
            for _ in range(floor(output.selectivity + self._rng.random())):
                if output.device is None:
                    self._enter(self._free_s, self._target[output.stream], birth_s)
                else:
                    self._outgoing[output.device].put(output.stream, birth_s)
        for link in self._outgoing.values():
            if link.is_waiting:
                link.flush()


def _quantiles(values: Sequence[float]) -> list[float]:
    """Return the median, the 99th percentile and the maximum, or nothing of no values."""
    ordered, last = sorted(values), len(values) - 1
    return [ordered[round(share * last)] for share in (0.5, 0.99, 1.0)] if ordered else []
