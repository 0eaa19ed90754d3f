"""The work-conserving executor of a device: operators of one pass, in the order of readiness."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import heappop, heappush
from queue import Empty, SimpleQueue
from typing import NamedTuple


class Arrival(NamedTuple):
    """A message whose last byte has arrived.

    Parameters
    ----------
    at_s
        Time of the monotonic clock at which it counts, which includes its latency.
    job
        Number of the job to which it belongs.
    message
        Number of the message.
    """

    at_s: float
    job: int
    message: int


@dataclass
class Task:
    """An operator of this device in one pass.

    Parameters
    ----------
    operator
        Its index in the graph, which breaks ties.
    cost_ns
        CPU time.
    inputs
        Number of streams into it.
    outputs
        Operators on this device that consume its result, one entry per stream.
    messages
        Numbers of the messages that it sends, in order.
    ready_s
        Time of its last input so far, in seconds from the start of the pass.
    """

    operator: int
    cost_ns: float
    inputs: int
    outputs: Sequence[int]
    messages: Sequence[int]
    ready_s: float = field(default=0.0)


Times = tuple[int, float, float, float]
"""Operator, and the seconds from the start of the pass at which it was ready, started and ended."""


class Executor:
    """Runs the operators of a device, one at a time and as soon as one is ready.

    Of the operators that are ready, the one that became ready first is next; ties by index. An
    operator is ready when all of its inputs have arrived. Its messages are handed over when it
    ends.

    Parameters
    ----------
    job
        Number of the job; messages of other jobs are left from one that failed.
    consumers
        Number of a message -> operators on this device that consume it, one entry per stream.
    arrivals
        Messages from other devices, in any order.
    work
        Uses the CPU for an operator's cost.
    send
        Puts a message on its channel, without waiting for it.
    """

    def __init__(
        self,
        job: int,
        tasks: Sequence[Task],
        consumers: dict[int, Sequence[int]],
        arrivals: "SimpleQueue[Arrival]",
        work: Callable[[float], None],
        send: Callable[[int], None],
    ) -> None:
        self._job = job
        self._tasks = {task.operator: task for task in tasks}
        self._consumers = consumers
        self._arrivals = arrivals
        self._work = work
        self._send = send
        self._start_s = 0.0
        self._ready: list[tuple[float, int]] = []
        self._pending: list[Arrival] = []  # those whose latency is not over

    def run(self, start_s: float) -> list[Times]:
        """Run all operators once, from a time of the monotonic clock on; return their times."""
        self._start_s = start_s
        for task in self._tasks.values():
            if not task.inputs:
                heappush(self._ready, (0.0, task.operator))
        time.sleep(max(0.0, start_s - time.monotonic()))
        done: list[Times] = []
        while len(done) < len(self._tasks):
            self._take_arrivals()
            if not self._ready:
                self._wait()
                continue
            ready_s, operator = heappop(self._ready)
            begin_s = time.monotonic() - start_s
            self._work(self._tasks[operator].cost_ns)
            end_s = time.monotonic() - start_s
            for message in self._tasks[operator].messages:
                self._send(message)
            for consumer in self._tasks[operator].outputs:
                self._input(consumer, end_s)
            done.append((operator, ready_s, begin_s, end_s))
        return done

    def _take_arrivals(self) -> None:
        """Count the messages that have arrived until now."""
        while not self._arrivals.empty():
            heappush(self._pending, self._arrivals.get())
        now_s = time.monotonic()
        while self._pending and self._pending[0].at_s <= now_s:
            arrival = heappop(self._pending)
            if arrival.job == self._job:
                for consumer in self._consumers[arrival.message]:
                    self._input(consumer, arrival.at_s - self._start_s)

    def _wait(self) -> None:
        """Wait for the next message to arrive, or for the latency of one to be over."""
        latest_s = max(0.0, self._pending[0].at_s - time.monotonic()) if self._pending else None
        with suppress(Empty):
            heappush(self._pending, self._arrivals.get(timeout=latest_s))

    def _input(self, operator: int, at_s: float) -> None:
        """Count an input of an operator, which may make it ready."""
        task = self._tasks[operator]
        task.ready_s = max(task.ready_s, at_s)
        task.inputs -= 1
        if not task.inputs:
            heappush(self._ready, (task.ready_s, operator))
