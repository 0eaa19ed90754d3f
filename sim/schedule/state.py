"""The state of one pass: what runs, waits and travels.

Items are numbered: operator v is v, the send job of message m is V + m, and its receive job is
V + E + m. A message has the number of the first stream that it serves; where a producer's message
goes to several devices, each delivery has the number of the first stream that it serves.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare
from streamplace.sim.schedule.bit_queues import BitQueues, bit_queues
from streamplace.sim.schedule.channels import Channels, channel_count, channels_of
from streamplace.sim.schedule.queues import NOTHING, Events, no_events
from streamplace.sim.schedule.task_graph import Columns

FIFO, RANKED, SEQUENCE = range(3)  # orders of the operators on a device
TOUCHED, STARTING, LANDING, JOINING, OPENED, TURN = range(6)  # indices in `counts`


class Order(NamedTuple):
    """The order in which the operators of a device start."""

    kind: int  # FIFO: by the moment of becoming runnable; RANKED; SEQUENCE: RANKED as a strict list
    position: Ints  # (V,) position of each operator, smallest first; not used under FIFO
    sequence: Ints  # (V,) operators by position


class Noise(NamedTuple):
    """Factors on execution times, (V,), and on transfer times, (E,); empty where there is none."""

    operators: Floats
    streams: Floats


class Run(NamedTuple):
    """The state of one pass; after it, the times of every operator and message."""

    start: Floats  # (V,) seconds
    end: Floats  # (V,)
    duration: Floats  # (V,)
    waiting: Ints  # (V,) inputs that have not arrived
    ready: Floats  # (V + 2 E,) moment at which each item became runnable
    joined: Floats  # (V + 2 E,) moment at which it joined the queue of its device
    delivery: Ints  # (E,) the delivery that serves each stream, or -1
    message: Ints  # (E,) the message of each delivery
    may_start: Floats  # (E,) moment at which each message may start its channel
    begin: Floats  # (E,) moment at which it starts
    transfer: Floats  # (E,) seconds that it keeps the channel, without the gap
    latency: Floats  # (E,) seconds
    gap: Floats  # (E,) seconds
    size: Floats  # (E,) bits
    arrival: Floats  # (E,) moment at which each delivery has arrived, before a receive job
    cause: Ints  # (V + 2 E,) the item whose end an item waited for in the queue, or -1
    last_input: Ints  # (V,) the stream whose input came last, or -1
    sending: NDArray[np.bool_]  # (E,) whether each message has a send job
    receiving: NDArray[np.bool_]  # (E,) whether each delivery has a receive job
    held: Ints  # (E,) the message that kept the channel of a message busy, or -1
    held_in: Ints  # (E,) the delivery that kept the receiver of a delivery busy, or -1
    last: Ints  # (1,) the operator that ended last
    closer: Ints  # (levels,) under a barrier, what ended each level: v, or V + a delivery
    events: Events
    queues: BitQueues  # of the devices, in `ranked`; the engine has the next four arrays
    root: Ints  # (D,) first item of each device's queue
    child: Ints  # (V + 2 E,) links of the pairing heaps
    sibling: Ints
    stack: Ints  # (V + 2 E,) working memory
    free: Ints  # (D,) free cores
    channels: Channels
    receiver: Floats  # (D,) the same for receivers
    channel_user: Ints  # (C,) the last message on each channel
    claimed: Ints  # (C,) the turn in which a message last waited for each channel
    receiver_user: Ints  # (D,) the last delivery at each receiver
    releaser: Ints  # (D,) the item that last freed cores of each device
    released: Floats  # (D,) moment at which it did, or will, in `ranked` for one core
    woken: Floats  # (D,) in `ranked`, moment at which each device is woken up
    following: Ints  # (V,) next operator of the same device in a sequence
    latest: Ints  # (D,) the operator of each device that started last in a sequence
    expected: Ints  # (D,) next operator of each device in a sequence
    touched: Ints  # (D,) devices on which something may start
    is_touched: NDArray[np.bool_]  # (D,)
    starting: Ints  # (E,) messages that start their channels at this moment
    landing: Ints  # (E,) deliveries whose first byte arrives at this moment
    unfinished: Ints  # (levels,) operators and deliveries of each level that are not done
    by_level: Ints  # (V,) operators by level
    joining: Ints  # (V + 2 E,) items that join the queues of their devices at this moment
    counts: Ints  # (6,) lengths of the lists above, operators of open levels, and turns of channels


def run_state(tasks: Columns) -> Run:
    """Return the memory of passes of one task graph."""
    operators, streams, devices = len(tasks.work), len(tasks.target), len(tasks.speed)
    items = operators + 2 * streams
    channels = channel_count(tasks)
    levels = int(tasks.level.max()) + 1
    ints = np.int32
    return Run(
        start=np.empty(operators),
        end=np.empty(operators),
        duration=np.empty(operators),
        waiting=np.empty(operators, ints),
        ready=np.empty(items),
        joined=np.empty(items),
        delivery=np.full(streams, NOTHING, ints),
        message=np.full(streams, NOTHING, ints),
        may_start=np.empty(streams),
        begin=np.empty(streams),
        transfer=np.empty(streams),
        latency=np.empty(streams),
        gap=np.empty(streams),
        size=np.empty(streams),
        arrival=np.empty(streams),
        cause=np.empty(items, ints),
        last_input=np.empty(operators, ints),
        sending=np.zeros(streams, np.bool_),
        receiving=np.zeros(streams, np.bool_),
        held=np.empty(streams, ints),
        held_in=np.empty(streams, ints),
        last=np.zeros(1, ints),
        closer=np.empty(levels, ints),
        events=no_events(4 * (operators + streams) + 1),
        queues=bit_queues(operators, devices),
        root=np.empty(devices, ints),
        child=np.empty(items, ints),
        sibling=np.empty(items, ints),
        stack=np.empty(items, ints),
        free=np.empty(devices, ints),
        channels=channels_of(tasks, np.zeros(channels)),
        receiver=np.empty(devices),
        channel_user=np.empty(channels, ints),
        claimed=np.zeros(channels, ints),
        receiver_user=np.empty(devices, ints),
        releaser=np.empty(devices, ints),
        released=np.empty(devices),
        woken=np.empty(devices),
        following=np.empty(operators, ints),
        latest=np.empty(devices, ints),
        expected=np.empty(devices, ints),
        touched=np.empty(devices, ints),
        is_touched=np.zeros(devices, np.bool_),
        starting=np.empty(streams, ints),
        landing=np.empty(streams, ints),
        unfinished=np.empty(levels + 1, ints),
        by_level=np.argsort(tasks.level, kind="stable").astype(ints),
        joining=np.empty(items, ints),
        counts=np.zeros(6, ints),
    )


@bare
def touch(run: Run, d: int) -> None:
    """Note that something may start on a device."""
    if not run.is_touched[d]:
        run.is_touched[d] = True
        run.touched[run.counts[TOUCHED]] = d
        run.counts[TOUCHED] += 1


@bare
def release(run: Run, d: int, cores: int, item: int, now: float) -> None:
    """Free cores of a device that an item has used."""
    run.free[d] += cores
    run.releaser[d] = item
    run.released[d] = now
    touch(run, d)


@bare
def join(run: Run, item: int, now: float) -> None:
    """Note that an item becomes runnable, and joins the queue of its device, at this moment."""
    run.ready[item] = now
    line_up(run, item)


@bare
def line_up(run: Run, item: int) -> None:
    """Note that an item that is runnable joins the queue of its device at this moment."""
    run.joining[run.counts[JOINING]] = item
    run.counts[JOINING] += 1
