"""The arrival of messages whose producers end in the order in which they take their channels.

When a producer ends, everything that delays its messages is then known: they neither wait for jobs
nor queue at receivers. A message that takes no time on any channel, as within a device, arrives at
once.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare
from streamplace.sim.schedule.task_graph import (
    ALL,
    FREE,
    NONE,
    PAIR,
    Columns,
    arrival_over,
    link_between,
)


class Channels(NamedTuple):
    """The sending channels, and the messages of the operator that ends."""

    free_from: Floats  # (C,) moment from which each channel is free
    lead: Ints  # (D,) stream that carries the message of the current producer to each device
    lead_of: Ints  # (D,) the producer that it belongs to
    size: Floats  # (D,) bits of that message
    lands: Floats  # (D,) moment at which it arrives


def channel_count(tasks: Columns) -> int:
    """Return the number of channels, C."""
    devices = len(tasks.speed)
    return {FREE: 0, PAIR: devices * devices}.get(tasks.network, devices)


def channels_of(tasks: Columns, free_from: Floats) -> Channels:
    """Return the channels of a task graph.

    Parameters
    ----------
    free_from
        (C,) memory for the moments from which they are free.
    """
    devices = len(tasks.speed)
    return Channels(
        free_from=free_from,
        lead=np.empty(devices, np.int32),
        lead_of=np.empty(devices, np.int32),
        size=np.empty(devices),
        lands=np.empty(devices),
    )


@bare
def free_channels(tasks: Columns, devices: Ints, channels: Channels) -> None:
    """Set the moment from which a channel is free to 0 for those in use: there may be many more."""
    free_from = channels.free_from
    if tasks.network == PAIR:
        for e in range(tasks.target.shape[0]):
            a, b = devices[tasks.source[e]], devices[tasks.target[e]]
            free_from[a * tasks.speed.shape[0] + b] = 0.0
    else:
        for c in range(free_from.shape[0]):
            free_from[c] = 0.0


@bare
def arrival_at(tasks: Columns, channels: Channels, k: int, a: int, b: int, now: float) -> float:
    """Return the moment at which the input of stream k counts, whose producer ends now.

    Where streams share messages, `send` has put them on their channels. Otherwise, the message of
    this stream is put on its channel.

    Parameters
    ----------
    a, b
        The devices of the producer and the consumer.
    """
    if a == b or tasks.silent[k]:
        return now
    if tasks.multicast != NONE:
        return float(channels.lands[b])
    link = link_between(tasks, a, b)
    if tasks.network == FREE:
        return arrival_over(tasks, now, tasks.bits[k], link)
    channel = a * tasks.speed.shape[0] + b if tasks.network == PAIR else a
    begin = max(now, channels.free_from[channel])
    channels.free_from[channel] = begin + tasks.bits[k] / tasks.rate[link] + tasks.gap_s[link]
    return arrival_over(tasks, begin, tasks.bits[k], link)


@bare
def send(tasks: Columns, devices: Ints, channels: Channels, v: int, now: float) -> None:
    """Put the messages of an operator on their channels, where streams share messages."""
    a, count = devices[v], tasks.speed.shape[0]
    largest = 0.0
    for k in range(tasks.first_out[v], tasks.end_out[v]):
        b = devices[tasks.target[k]]
        if a == b or tasks.silent[k]:
            continue
        if channels.lead_of[b] != v:
            channels.lead_of[b] = v
            channels.lead[b] = k
            channels.size[b] = 0.0
        channels.size[b] = max(channels.size[b], tasks.bits[k])
        largest = max(largest, tasks.bits[k])
    begin, seconds, latency, gap = now, 0.0, 0.0, 0.0
    if tasks.multicast == ALL:
        for k in range(tasks.first_out[v], tasks.end_out[v]):
            b = devices[tasks.target[k]]
            if a == b or tasks.silent[k] or channels.lead[b] != k:
                continue
            link = link_between(tasks, a, b)
            seconds = max(seconds, largest / tasks.rate[link])
            latency = max(latency, tasks.latency_s[link])
            gap = max(gap, tasks.gap_s[link])
            if tasks.network == PAIR:
                begin = max(begin, channels.free_from[a * count + b])
        if tasks.network not in (PAIR, FREE):
            begin = max(begin, channels.free_from[a])
    for k in range(tasks.first_out[v], tasks.end_out[v]):
        b = devices[tasks.target[k]]
        if a == b or tasks.silent[k] or channels.lead[b] != k:
            continue
        link = link_between(tasks, a, b)
        channel = a * count + b if tasks.network == PAIR else a
        if tasks.multicast != ALL:
            begin = now if tasks.network == FREE else max(now, channels.free_from[channel])
            seconds = channels.size[b] / tasks.rate[link]
            latency = tasks.latency_s[link]
            gap = tasks.gap_s[link]
        channels.lands[b] = begin + seconds + latency
        if tasks.network != FREE:
            channels.free_from[channel] = begin + seconds + gap
