"""Makespans of many placements, and the timetable of one."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import kernel
from streamplace.sim.schedule.engine import run_pass
from streamplace.sim.schedule.fifo import FifoMemory, fifo_makespan, fifo_memory, serves
from streamplace.sim.schedule.queues import NOTHING
from streamplace.sim.schedule.ranked import makespan_of
from streamplace.sim.schedule.state import FIFO, Noise, Order, Run, run_state
from streamplace.sim.schedule.task_graph import Columns, TaskGraph

NO_NOISE = Noise(np.zeros(0), np.zeros(0))


class Step(NamedTuple):
    """A part of a critical path: an operator, or the message of a stream."""

    kind: str  # "operator", "message"
    number: int  # index of the operator or stream
    start: float  # seconds
    end: float  # seconds
    waited_for: (
        str  # what delayed its start: "input", "device", "channel", "receiver", "level" or ""
    )


def makespans(
    tasks: TaskGraph,
    order: Order,
    placements: Ints,
    noise: Noise = NO_NOISE,
    limit: float = np.inf,
) -> Floats:
    """Return the makespan of each placement in seconds, (K,).

    Parameters
    ----------
    placements
        (K, V) int32 device of each operator.
    noise
        Factors on execution and transfer times.
    limit
        Seconds beyond which a pass is stopped; its makespan is then infinite.
    """
    columns = tasks.columns
    quick = order.kind == FIFO and serves(columns) and noise.operators.shape[0] == 0
    if quick and noise.streams.shape[0] == 0:
        return _fifo_makespans(columns, placements, fifo_memory(columns), limit)
    return _makespans(columns, order, noise, placements, run_state(columns), limit)


@kernel
def _fifo_makespans(tasks: Columns, placements: Ints, memory: FifoMemory, limit: float) -> Floats:
    seconds = np.empty(placements.shape[0])
    for k in range(placements.shape[0]):
        seconds[k] = fifo_makespan(tasks, placements[k], memory, limit, None)
    return seconds


@kernel
def _makespans(
    tasks: Columns, order: Order, noise: Noise, placements: Ints, run: Run, limit: float
) -> Floats:
    seconds = np.empty(placements.shape[0])
    for k in range(placements.shape[0]):
        seconds[k] = makespan_of(tasks, order, noise, placements[k], run, limit)
    return seconds


@dataclass(frozen=True, eq=False)
class Timetable:
    """What happens when during one pass of a placement.

    Parameters
    ----------
    tasks, devices
        The problem, and the device of each operator, (V,).
    makespan
        Seconds.
    run
        The state of the engine after the pass. Streams that bring no message have the delivery -1.
    """

    tasks: TaskGraph
    devices: Ints
    makespan: float
    run: Run

    @property
    def start(self) -> Floats:
        """(V,) start of each operator in seconds."""
        return self.run.start

    @property
    def end(self) -> Floats:
        """(V,) end of each operator in seconds."""
        return self.run.end

    @cached_property
    def busy(self) -> Floats:
        """(D,) share of the makespan for which the cores of each device run operators."""
        cores = np.minimum(self.tasks.cores, self.tasks.device_cores[self.devices])
        seconds = np.bincount(self.devices, self.run.duration * cores, minlength=self.tasks.devices)
        if self.makespan == 0.0:
            return np.zeros(self.tasks.devices)
        return seconds / (self.tasks.device_cores * self.makespan)

    @cached_property
    def critical_path(self) -> list[Step]:
        """The chain of operators and messages, each of which waited for the one before it."""
        steps: list[Step] = []
        visited: set[int] = set()  # messages of no length can wait for each other at both ends
        item: int | None = int(self.run.last[0])
        while item is not None:
            visited.add(item)
            step, item = self._step(item, visited)
            if step is not None:
                steps.append(step)
        return steps[::-1]

    def _step(self, item: int, visited: set[int]) -> tuple[Step | None, int | None]:
        """Return an item or message of the critical path, and the one before it.

        Items have the numbers of `Run`; delivery k is V + 2 E + k.
        """
        run, operators, streams = self.run, self.tasks.operators, len(self.tasks.source)
        if item >= operators + 2 * streams:
            return self._message(item - operators - 2 * streams, visited)
        cause = int(run.cause[item])
        if item >= operators:  # a job: part of its message
            k = (item - operators) % streams
            if cause != NOTHING:
                return None, cause
            if item >= operators + streams:
                return None, operators + 2 * streams + k
            return None, int(self.tasks.source[k])
        reason, before = "", None
        level = int(self.tasks.level[item])
        if cause != NOTHING:
            reason, before = "device", cause
        elif self.tasks.barrier and level > 0:
            closer = int(run.closer[level - 1])
            reason, before = "level", closer if closer < operators else self._counted(closer)
        elif run.last_input[item] != NOTHING:
            e = int(run.last_input[item])
            k = int(run.delivery[e])
            reason = "input"
            before = int(self.tasks.source[e]) if k == NOTHING else self._counted(operators + k)
        step = Step("operator", item, float(run.start[item]), float(run.end[item]), reason)
        return step, before

    def _counted(self, delivery: int) -> int:
        """Return what let the inputs of a delivery, V + k, count: its receive job, or itself."""
        streams = len(self.tasks.source)
        k = delivery - self.tasks.operators
        has_job = self.run.receiving[k]
        return delivery + (1 if has_job else 2) * streams

    def _message(self, k: int, visited: set[int]) -> tuple[Step, int]:
        run, operators, streams = self.run, self.tasks.operators, len(self.tasks.source)
        m = int(run.message[k])
        first = operators + 2 * streams
        held_in = int(run.held_in[k]) if self.tasks.rate_in.size else NOTHING
        reason, before = "", operators + m if run.sending[m] else int(self.tasks.source[m])
        for why, other in (("receiver", held_in), ("channel", int(run.held[m]))):
            if other != NOTHING and first + other not in visited:
                reason, before = why, first + other
                break
        return Step("message", k, float(run.begin[m]), float(run.arrival[k]), reason), before


def timetable(tasks: TaskGraph, order: Order, devices: Ints, noise: Noise = NO_NOISE) -> Timetable:
    """Return the timetable of one placement.

    Parameters
    ----------
    devices
        (V,) int32 device of each operator.
    """
    run = run_state(tasks.columns)
    makespan = run_pass(tasks.columns, order, noise, devices, run, np.inf)
    return Timetable(tasks, devices, makespan, run)


class Division(NamedTuple):
    """Parts of a makespan in seconds, which add up to it.

    They are those of a chain of operators: the one that ends last, the producer of the input that
    arrived last there, and so on up to a source.
    """

    chain: tuple[int, ...]  # operators, a source first
    work: float  # execution of the chain's operators
    messages: float  # transfer and latency of the messages between them
    overheads: float  # send and receive jobs of these messages, with their waiting for a core
    device: float  # from the moment at which an operator may start to its start
    channel: float  # from the moment at which a message may start to the channel, and at receivers
    level: float  # for the end of the level before, with a barrier


def divide(table: Timetable) -> Division:
    """Return what the makespan of a pass consists of."""
    run, tasks = table.run, table.tasks
    chain = list[int]()
    work = messages = overheads = device = channel = level = 0.0
    v = int(run.last[0])
    while True:
        chain.append(v)
        work += run.end[v] - run.start[v]
        device += run.start[v] - run.joined[v]
        level += run.joined[v] - run.ready[v]
        e = int(run.last_input[v])
        if e == NOTHING:
            break
        u, k = int(tasks.source[e]), int(run.delivery[e])
        if k != NOTHING:
            m = int(run.message[k])
            queued = _queued_at_receiver(table, k, m)
            overheads += (run.ready[v] - run.arrival[k]) + (run.may_start[m] - run.end[u])
            channel += (run.begin[m] - run.may_start[m]) + queued
            messages += run.arrival[k] - run.begin[m] - queued
        v = u
    parts = (work, messages, overheads, device, channel, level)
    return Division(tuple(reversed(chain)), *(float(part) for part in parts))


def _queued_at_receiver(table: Timetable, k: int, m: int) -> float:
    """Return for how long a delivery waited for others at its receiver, in seconds."""
    run, tasks = table.run, table.tasks
    if not tasks.rate_in.size or run.held_in[k] == NOTHING:
        return 0.0
    receiver = int(table.devices[tasks.target[k]])
    transfer = max(float(run.transfer[m]), float(run.size[m] / tasks.rate_in[receiver]))
    return max(0.0, float(run.arrival[k] - run.begin[m] - run.latency[m]) - transfer)
