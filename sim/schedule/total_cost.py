"""Execution and transfer times of placements, without regard to what happens at the same time."""

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.schedule.state import Noise
from streamplace.sim.schedule.task_graph import ALL, NIC, NONE, Columns, link_between, seconds_on


@kernel
def execution_seconds(tasks: Columns, placements: Ints) -> Floats:
    """Return the execution time of each operator, (K, V), in seconds.

    Infinity: the device cannot run the operator.

    Parameters
    ----------
    placements
        (K, V) int32 device of each operator.
    """
    seconds = np.empty(placements.shape)
    for k in range(placements.shape[0]):
        for v in range(placements.shape[1]):
            seconds[k, v] = seconds_on(tasks, v, placements[k, v])
    return seconds


@kernel
def transfer_seconds(tasks: Columns, noise: Noise, placements: Ints) -> Floats:
    """Return the transfer times of all messages between devices with their latencies, (K,).

    Streams that share a message count once, with the largest of their sizes. A message to several
    devices has the largest transfer time and the largest latency of its destinations.

    Parameters
    ----------
    noise
        Factors on transfer times.
    placements
        (K, V) int32 device of each operator.
    """
    total = np.zeros(placements.shape[0])
    size = np.zeros(tasks.speed.shape[0])
    first = np.full(tasks.speed.shape[0], -1, np.int32)
    for k in range(placements.shape[0]):
        for v in range(tasks.work.shape[0]):
            if tasks.first_out[v] < tasks.end_out[v]:
                total[k] += _from_operator(tasks, noise, placements[k], v, size, first)
    return total


@bare
def _from_operator(
    tasks: Columns, noise: Noise, devices: Ints, v: int, size: Floats, first: Ints
) -> float:
    """Return the transfer times of the messages of an operator.

    `size` and `first` are the bits of its message to each device and the first stream that the
    message serves; they are clean before and after.
    """
    a, total, shared = devices[v], 0.0, tasks.multicast == ALL
    largest, lead = 0.0, -1
    for e in range(tasks.first_out[v], tasks.end_out[v]):
        b = devices[tasks.target[e]]
        if a == b or tasks.silent[e]:
            continue
        if tasks.multicast == NONE:
            link = link_between(tasks, a, b)
            total += _transfer(tasks, noise, tasks.bits[e], e, link, b) + tasks.latency_s[link]
            continue
        if lead < 0:
            lead = e
        if first[b] < 0:
            first[b] = e
        largest, size[b] = max(largest, tasks.bits[e]), max(size[b], tasks.bits[e])
    if lead < 0:
        return total
    seconds, latency = 0.0, 0.0  # of the message to all devices
    for e in range(lead, tasks.end_out[v]):
        b = devices[tasks.target[e]]
        if first[b] < 0:
            continue
        link = link_between(tasks, a, b)
        if shared:
            seconds = max(seconds, _transfer(tasks, noise, largest, lead, link, b))
            latency = max(latency, tasks.latency_s[link])
        else:
            total += _transfer(tasks, noise, size[b], first[b], link, b) + tasks.latency_s[link]
        first[b], size[b] = -1, 0.0
    return float(total + seconds + latency)


@bare
def _transfer(tasks: Columns, noise: Noise, bits: float, message: int, link: int, b: int) -> float:
    """Return the time of a message on a link to device b without its latency."""
    seconds = bits / tasks.rate[link]
    if tasks.network == NIC:
        seconds = max(seconds, bits / tasks.rate_in[b])
    return float(seconds * noise.streams[message] if noise.streams.shape[0] > 0 else seconds)
