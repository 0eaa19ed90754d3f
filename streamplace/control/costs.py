"""Costs and selectivities that were measured during one window."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TypeAlias

import numpy as np

from streamplace.control.load import BACKPRESSURED
from streamplace.control.observation import Observation
from streamplace.problem.cluster import Cluster
from streamplace.problem.device import Device
from streamplace.problem.graph import StreamGraph
from streamplace.problem.parallelism import NO_SCALING
from streamplace.problem.seconds import NO_SECONDS, Seconds
from streamplace.util.arrays import Floats

INSTRUCTIONS_PER_MI = 1e6
Times: TypeAlias = Mapping[str, float | None]


def measured_graph(graph: StreamGraph, cluster: Cluster, observation: Observation) -> StreamGraph:
    """Return a graph with the costs and selectivities that were measured.

    Instances of an operator count as busy in proportion to the tuples that they process, which are
    equally many unless the observation has shares. Operators that processed nothing, or whose busy
    time was not measured, keep their costs, and those whose busy time is hardly above its error
    nearly do, see `_updated`. Those that got no tuples get none in the graph either; the other
    sources keep their shares of the source rate in proportion.

    Parameters
    ----------
    cluster
        The devices that the job runs on, and perhaps more.
    observation
        A window with readings of all operators, and with the devices of all their instances.
    """
    computing = _computing(cluster, observation)
    instructions, seconds_on = graph.instructions.copy(), dict[int, Times](graph.seconds_on)
    for v, name in enumerate(graph.names):
        reading, on = observation.readings[name], observation.hosts[name]
        if not reading.tuples_s or name in observation.not_timed:
            continue
        devices = [cluster.devices[cluster.index[each]] for each in on]
        shares = _shares(observation, name)
        single = graph.scaling.get(v, NO_SCALING).cost(len(on))
        always_s = len(on) * float(np.dot(shares, computing[name])) / reading.tuples_s / single
        times = graph.seconds_on.get(v, NO_SECONDS)
        before_s = _seconds_per_tuple(float(instructions[v]), times, devices, shares)
        seconds = _updated(before_s, reading.busy * always_s, reading.busy_error * always_s)
        if not times.has_times:
            instructions[v] = seconds / _seconds_per_tuple(1.0, NO_SECONDS, devices, shares)
            continue
        factor = seconds / (before_s or seconds)
        instructions[v] *= factor
        seconds_on[v] = {kind: None if s is None else s * factor for kind, s in times.items()}
    return graph.with_numbers(
        instructions=instructions,
        seconds_on=seconds_on,
        selectivity=_selectivities(graph, observation),
        source_shares=_source_shares(graph, observation),
    )[0]


def _updated(before: float, measured: float, error: float) -> float:
    """Return an estimate from that of before and a measured value with a largest error.

    What is further away than the error is wrong. Within it, both are weighted by the inverse of
    their variances, as in a Kalman filter, where the former one may be off by as much as all that
    was measured: nothing else is known of it.

    Parameters
    ----------
    before
        NaN: unknown.
    """
    if isnan(before) or not error:
        return measured
    within = min(max(before, measured - error), measured + error)
    return within + (measured - within) / (1.0 + (error / measured) ** 2) if measured else within


def _source_shares(graph: StreamGraph, observation: Observation) -> dict[str, float] | None:
    """Return the shares of the sources, 0 for idle ones; None if no source with a share is left."""
    shares = {graph.names[v]: float(graph.source_share[v]) for v in graph.sources.tolist()}
    shares |= dict.fromkeys(shares.keys() & observation.idle, 0.0)
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()} if total else None


def _shares(observation: Observation, name: str) -> Floats:
    """Return the share of the tuples that each instance of an operator processes, (p,)."""
    count = len(observation.hosts[name])
    shares = observation.readings[name].shares
    return np.array(shares) if len(shares) == count else np.full(count, 1.0 / count)


def _seconds_per_tuple(
    instructions: float, times: Seconds, devices: Sequence[Device], shares: Floats
) -> float:
    """Return the mean time per tuple on devices that process shares of the tuples."""
    each = [
        instructions / (device.mips * INSTRUCTIONS_PER_MI)
        if device.kind is None or device.kind not in times
        else times[device.kind] or 0.0
        for device in devices
    ]
    return float(np.dot(shares, each))


def _computing(cluster: Cluster, observation: Observation) -> dict[str, Floats]:
    """Return operator -> the part of its busy time in which each instance computes, (p,).

    Busy threads wait for a core where a device has more of them than cores, and Flink counts that
    as busy. Their times are then longer by the number of busy threads over the number of cores.
    """
    threads = dict.fromkeys(cluster.names, 0.0)
    for name, on in observation.hosts.items():
        busy = observation.readings[name].busy * len(on) * _shares(observation, name)
        for device, share in zip(on, busy.tolist(), strict=True):
            threads[device] += min(share, 1.0)
    computing = {
        device.name: min(1.0, device.cores / (threads[device.name] or 1.0))
        for device in cluster.devices
    }
    return {
        name: np.array([computing[device] for device in on])
        for name, on in observation.hosts.items()
    }


def _selectivities(graph: StreamGraph, observation: Observation) -> Floats:
    """Return the selectivity of each stream, (E,), scaled so that operators receive what they read.

    The streams into an operator are scaled alike. What waits in buffers was sent, too. Where that
    is unknown, and an operator before is under backpressure, buffers may be filling, so that what
    is read is a lower bound of what is sent. An idle operator is sent nothing.
    """
    found, readings = graph.selectivity.copy(), observation.readings
    for name in observation.idle:
        found[graph.stream_target == graph.index[name]] = 0.0
    for v, name in enumerate(graph.names):
        reading = readings[name]
        if not reading.tuples_s:
            continue
        received_s = reading.received_s
        inputs = np.flatnonzero(graph.stream_target == v).tolist()
        before = [readings[graph.names[int(graph.stream_source[e])]] for e in inputs]
        copies = [
            len(observation.hosts[name]) if graph.partitioning.get(e) == "broadcast" else 1
            for e in inputs
        ]
        sent = [each.tuples_s * count for each, count in zip(before, copies, strict=True)]
        if len(inputs) == 1 and isnan(found[inputs[0]]) and sent[0]:
            found[inputs[0]] = received_s / sent[0]
            continue
        arriving = float(np.dot(sent, found[inputs])) if inputs else 0.0
        if not arriving > 0.0:  # NaN: not known
            continue
        factor = received_s / arriving
        # Buffers may be filling, so that what is read is a lower bound of what is sent.
        if any(each.backpressured > BACKPRESSURED for each in before):
            factor = max(factor, 1.0)
        found[inputs] *= factor
    return found
