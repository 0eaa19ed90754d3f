"""What the makespan consists of, along the inputs that the last operator waited for."""

from typing import NamedTuple

from sim.schedule.passes import Timetable
from sim.schedule.queues import NOTHING


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
