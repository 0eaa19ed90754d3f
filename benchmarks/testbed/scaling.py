"""Problems scaled down to what the machine can give.

In a scaled problem an instruction is a nanosecond of CPU, a payload is what a tuple takes on the
wire, and the devices, links and LogP's o are the testbed's own: it is the problem that runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf

import numpy as np

from benchmarks.testbed.wiring import MTU
from streamplace import Cluster, Device, LinkOverride, Network, Problem, StreamGraph
from streamplace.flows import flow
from streamplace.models import Model

HEADERS_BYTES = 66  # of Ethernet, IP and TCP with timestamps, a packet
SEGMENT_BYTES = MTU + 14 - HEADERS_BYTES
NS = 1e9


@dataclass(frozen=True)
class Machine:
    """What the machine gives, and what using it costs.

    Parameters
    ----------
    cores
        For all devices together.
    most_cores
        For one device.
    mbps
        Of a link that has 1000 in the problem; others in proportion.
    tuples_s
        Source tuples/s at most; fewer where all operators together would process more than
        `processed_s`.
    send_s, receive_s
        CPU seconds that sending and receiving a tuple costs.
    """

    cores: float = 1.0
    most_cores: float = 0.2
    mbps: float = 20.0
    tuples_s: float = 100.0
    processed_s: float = 1500.0
    send_s: float = 0.0
    receive_s: float = 0.0


@dataclass(frozen=True)
class Scaled:
    """A problem as it runs.

    Attributes
    ----------
    problem
        See the module.
    shares
        (D,) of a core.
    mbps
        Of each link, in the order of `Cluster.link_ends`.
    tuple_bytes
        (E,) that are sent for a tuple, headers left out.
    """

    problem: Problem
    shares: tuple[float, ...]
    mbps: tuple[float, ...]
    tuple_bytes: tuple[int, ...]


def scale(problem: Problem, machine: Machine, model: Model = "bottleneck") -> Scaled:
    """Scale a problem; LogP's L, o and g of its own network are not emulated.

    Utilisations stay what they are, but for rounding to bytes, headers, and o.
    """
    graph, cluster = problem.graph, problem.cluster
    arrays = flow(problem)
    processed = _processed(problem)
    rate = min(machine.tuples_s, machine.processed_s / (processed / problem.source_rate))
    fewer = problem.source_rate / rate
    capacity = cluster.capacity
    biggest = min(machine.most_cores, machine.cores * capacity.max() / capacity.sum())
    shares = tuple((biggest * capacity / capacity.max()).tolist())
    ns = graph.instructions * fewer * biggest / capacity.max() * NS
    thinner = machine.mbps / 1000.0
    wanted = graph.stream_payload_bytes * thinner * fewer
    sizes = tuple(max(1, round(b)) for b in wanted.tolist())
    mbps = tuple((cluster.link_column("bandwidth_mbps") * thinner).tolist())
    assert len(sizes) == len(arrays.source)
    scaled = StreamGraph.from_columns(
        graph.names,
        ns,
        np.zeros(len(graph.names)),
        np.stack([graph.stream_source, graph.stream_target], axis=1),
        selectivity=graph.selectivity,
        stream_payload_bytes=[on_the_wire(size) for size in sizes],
        name=graph.name,
        source_rate=rate,
        source_shares={graph.names[v]: float(graph.source_share[v]) for v in graph.sources},
    )
    there = _cluster(cluster, shares, mbps, machine)
    return Scaled(Problem(scaled, there, model=model), shares, mbps, sizes)


def on_the_wire(size: int) -> int:
    """Return the bytes of a tuple with its headers."""
    return size + HEADERS_BYTES * ceil(size / SEGMENT_BYTES)


def _processed(problem: Problem) -> float:
    """Return how many tuples/s all operators process together at the source rate."""
    graph, arrays = problem.graph, flow(problem)
    offered = graph.source_share * problem.source_rate
    return float(offered.sum() + np.sum(arrays.stream_tuples))


def _cluster(
    cluster: Cluster, shares: Sequence[float], mbps: Sequence[float], machine: Machine
) -> Cluster:
    """Return the devices and links as they are, LogP's o in seconds of a device."""
    devices = [
        Device(device.name, 1e3 * share)
        for device, share in zip(cluster.devices, shares, strict=True)
    ]
    o_s = (machine.send_s + machine.receive_s) / 2
    first, alike = mbps[0 if cluster.network.kind == "nic" else -2 if len(mbps) > 1 else 0], None
    alike = len(set(shares)) == 1 and all(limit == first for limit in mbps)
    overrides = () if alike else _overrides(cluster, shares, mbps, machine)
    network = Network(
        cluster.network.kind,
        bandwidth_mbps=None if first == inf else first,
        overhead_s=o_s / shares[0],
        latency_s=0.0,
        overrides=overrides,
    )
    return Cluster(devices, network)


def _overrides(
    cluster: Cluster, shares: Sequence[float], mbps: Sequence[float], machine: Machine
) -> tuple[LinkOverride, ...]:
    """Return each link as it is; under ``pair`` o is that of its slower end."""
    found = []
    for link, limit in enumerate(mbps):
        source, target = cluster.link_ends(link)
        if source == target:
            continue
        ends = [
            cost / shares[cluster.index[end]]
            for end, cost in ((source, machine.send_s), (target, machine.receive_s))
            if end is not None
        ]
        bandwidth = None if limit == inf else limit
        found.append(LinkOverride(source, target, bandwidth, overhead_s=max(ends)))
    return tuple(found)
