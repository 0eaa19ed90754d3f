"""Messages on the timelines of their channels, as list schedulers plan them.

The messages that an operator waits for are inserted into the timelines of channels, and of
receivers under ``NIC``, in the order of the ends of their producers. CPU time of messages is left
out.
"""

from typing import NamedTuple

import numpy as np

from sim.flow import Floats, Ints
from sim.jit import bare
from sim.schedule.lists import arrival
from sim.schedule.task_graph import ALL, FREE, NIC, NONE, PAIR, Columns, TaskGraph, link_between
from sim.schedule.timelines import (
    Timelines,
    clear,
    clear_used,
    earliest_in_both,
    insert,
    timelines,
)


class Channels(NamedTuple):
    """The timelines of channels, and the messages that are planned for a candidate device."""

    lines: Timelines
    plans: Timelines  # of the planned messages only
    arrived: Floats  # (E,) moment at which the message of each stream arrives, once it is inserted
    resource: Ints  # (2 N,) timelines that planned messages use
    begin: Floats  # (2 N,) seconds
    end: Floats  # (2 N,)
    planned: Ints  # (1,) number of planned uses
    by_end: Ints  # (N,) inputs of the current operator by the end of their producers


def no_channels(tasks: TaskGraph) -> Channels:
    """Return the channels of a cluster without any message."""
    devices = tasks.devices
    resources = {FREE: 0, PAIR: devices * devices, NIC: 2 * devices}.get(tasks.network, devices)
    inputs = int(tasks.inputs.max())
    streams = len(tasks.source)
    return Channels(
        lines=timelines(resources, 2 * streams),
        plans=timelines(resources, 2 * inputs),
        arrived=np.full(streams, -1.0),
        resource=np.empty(2 * inputs, np.int32),
        begin=np.empty(2 * inputs),
        end=np.empty(2 * inputs),
        planned=np.zeros(1, np.int32),
        by_end=np.empty(inputs, np.int32),
    )


@bare
def clear_channels(channels: Channels) -> None:
    """Forget all messages."""
    clear(channels.lines)
    for e in range(channels.arrived.shape[0]):
        channels.arrived[e] = -1.0


@bare
def sort_inputs(tasks: Columns, channels: Channels, inputs: Ints, end: Floats) -> int:
    """List the inputs of an operator by the end of their producers; return their number."""
    for i in range(inputs.shape[0]):
        e = inputs[i]
        j = i
        while j > 0 and end[tasks.source[channels.by_end[j - 1]]] > end[tasks.source[e]]:
            channels.by_end[j] = channels.by_end[j - 1]
            j -= 1
        channels.by_end[j] = e
    return int(inputs.shape[0])


@bare
def plan(
    tasks: Columns,
    devices: Ints,
    end: Floats,
    channels: Channels,
    inputs: int,
    d: int,
    commit: bool,
) -> float:
    """Plan the messages to an operator on a device; return the moment of the last arrival.

    Parameters
    ----------
    commit
        Whether to insert them into the timelines.
    """
    clear_used(channels.plans, channels.resource, channels.planned[0])
    channels.planned[0] = 0
    latest = 0.0
    for i in range(inputs):
        e = channels.by_end[i]
        v = tasks.source[e]
        if devices[v] == d or tasks.silent[e] or tasks.network == FREE:
            moment = arrival(tasks, devices, end, e, d)
        else:
            moment = _shared(tasks, devices, channels, e, d)
            if moment < 0.0:
                moment = _plan_message(tasks, devices, end, channels, e, d)
                if commit:
                    channels.arrived[e] = moment
        latest = max(latest, moment)
    if commit:
        for i in range(channels.planned[0]):
            seconds = channels.end[i] - channels.begin[i]
            insert(channels.lines, channels.resource[i], channels.begin[i], seconds)
    return latest


@bare
def _shared(tasks: Columns, devices: Ints, channels: Channels, e: int, d: int) -> float:
    """Return the arrival of an earlier message that serves a stream, too, or -1.

    A message to one device serves another stream to it if that is not larger.
    """
    if tasks.multicast == NONE:
        return -1.0
    v = tasks.source[e]
    for k in range(tasks.first_out[v], tasks.end_out[v]):
        if channels.arrived[k] < 0.0:
            continue
        to_device = devices[tasks.target[k]] == d and tasks.bits[k] >= tasks.bits[e]
        if tasks.multicast == ALL or to_device:
            return float(channels.arrived[k])
    return -1.0


@bare
def _plan_message(
    tasks: Columns, devices: Ints, end: Floats, channels: Channels, e: int, d: int
) -> float:
    """Plan a message to a device; return the moment of its arrival."""
    v = tasks.source[e]
    a = devices[v]
    bits = tasks.bits[e]
    if tasks.multicast == ALL:
        for k in range(tasks.first_out[v], tasks.end_out[v]):
            bits = max(bits, tasks.bits[k])
    link = link_between(tasks, a, d)
    seconds = bits / tasks.rate[link]
    channel = a * tasks.speed.shape[0] + d if tasks.network == PAIR else a
    begin = _use(channels, channel, end[v], seconds + tasks.gap_s[link])
    moment = begin + seconds + tasks.latency_s[link]
    if tasks.network == NIC:
        received = bits / tasks.rate_in[d]
        resource = tasks.speed.shape[0] + d
        first_byte = begin + tasks.latency_s[link]
        served = _use(channels, resource, first_byte, received + tasks.gap_in_s[d])
        moment = max(moment, served + received)
    return float(moment)


@bare
def _use(channels: Channels, resource: int, ready: float, seconds: float) -> float:
    """Plan the use of a timeline beside the uses planned before; return the moment of its begin."""
    moment = earliest_in_both(channels.lines, channels.plans, resource, ready, seconds)
    insert(channels.plans, resource, moment, seconds)
    i = channels.planned[0]
    channels.resource[i], channels.begin[i], channels.end[i] = resource, moment, moment + seconds
    channels.planned[0] = i + 1
    return moment


@bare
def planned_seconds(channels: Channels) -> float:
    """Return the seconds in which the messages that were planned last occupy channels."""
    seconds = 0.0
    for i in range(channels.planned[0]):
        seconds += channels.end[i] - channels.begin[i]
    return seconds
