"""Problems scaled down to the capacity of the machine.

In a scaled problem an instruction is a nanosecond of CPU, a payload is the size of a tuple on the
wire, and the devices, links and LogP's o are those of the testbed. The testbed runs this problem.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf

import numpy as np

from benchmarks.testbed.wiring import MTU
from streamplace import Cluster, Device, LinkOverride, Network, Problem, StreamGraph
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats

HEADERS_BYTES = 66  # per packet: Ethernet, IP, and TCP with timestamps
LINK_HEADER_BYTES = 14  # of HEADERS_BYTES; a packet's MTU does not count them
SEGMENT_BYTES = MTU + LINK_HEADER_BYTES - HEADERS_BYTES
NS = 1e9


@dataclass(frozen=True)
class Machine:
    """Capacity of the machine, and the cost of using it.

    Parameters
    ----------
    cores
        Cores for all devices together.
    most_cores
        Largest share of a core of one device.
    mbps
        Bandwidth in Mbit/s of a link that has 1000 in the problem; other links in proportion.
    tuples_s
        Largest source rate in tuples/s.
    processed_s
        Largest sum of the rates at which operators process, in tuples/s.
    delivered
        CPU time that a device gets for operators and for o, as a fraction of its share.
    o_s, o_s_byte
        CPU seconds to send or to receive a tuple: per tuple, and per byte.
    latency_s
        LogP's L of every link, in seconds.
    mtu
        Largest packet in bytes, without the Ethernet header.
    least_bytes
        Smallest tuple that can be sent, without headers.
    """

    cores: float = 1.0
    most_cores: float = 0.2
    mbps: float = 20.0
    tuples_s: float = 100.0
    processed_s: float = 1500.0
    delivered: float = 1.0
    o_s: float = 0.0
    o_s_byte: float = 0.0
    latency_s: float = 0.0
    mtu: int = MTU
    least_bytes: int = 1


@dataclass(frozen=True)
class Scaled:
    """A problem as it runs.

    Attributes
    ----------
    problem
        The scaled problem, as the module describes it.
    shares
        (D,) share of a core of each device.
    mbps
        (L,) bandwidth of each link in Mbit/s, in the order of `Cluster.link_ends`.
    tuple_bytes
        (E,) bytes that are sent per tuple, without headers.
    """

    problem: Problem
    shares: tuple[float, ...]
    mbps: tuple[float, ...]
    tuple_bytes: tuple[int, ...]


def scale(problem: Problem, machine: Machine) -> Scaled:
    """Scale a problem. LogP's L, o and g of its network are replaced by those of the machine.

    Utilisations stay the same, except for rounding to bytes, headers, and o.
    """
    graph, cluster = problem.graph, problem.cluster
    rate_divisor = problem.source_rate / _rate(problem, machine)
    bandwidth_factor = machine.mbps / 1000.0
    capacity = cluster.capacity
    max_share = min(machine.most_cores, machine.cores * capacity.max() / capacity.sum())
    shares = tuple((max_share * capacity / capacity.max()).tolist())
    mbps = tuple((cluster.link_column("bandwidth_mbps") * bandwidth_factor).tolist())
    payloads = graph.stream_payload_bytes * bandwidth_factor * rate_divisor
    sizes = tuple(max(machine.least_bytes, round(b)) for b in payloads.tolist())
    small = StreamGraph.from_columns(
        graph.names,
        graph.instructions * rate_divisor * max_share / capacity.max() * NS,
        np.zeros(len(graph.names)),
        np.stack([graph.stream_source, graph.stream_target], axis=1),
        selectivity=graph.selectivity,
        stream_payload_bytes=[on_the_wire(size, machine.mtu) for size in sizes],
        name=graph.name,
        source_rate=problem.source_rate / rate_divisor,
        source_shares={graph.names[v]: float(graph.source_share[v]) for v in graph.sources},
    )
    emulated = _cluster(cluster, shares, mbps, machine, _mean(flow(problem).stream_tuples, sizes))
    return Scaled(Problem(small, emulated), shares, mbps, sizes)


def on_the_wire(size: int, mtu: int = MTU) -> int:
    """Return the bytes of a tuple with its headers on the wire."""
    return size + HEADERS_BYTES * ceil(size / (mtu + LINK_HEADER_BYTES - HEADERS_BYTES))


def _mean(tuples: Floats, sizes: Sequence[int]) -> float:
    """Return the mean bytes per tuple over all streams, weighted by their tuples/s."""
    return float(np.average(sizes, weights=tuples)) if tuples.any() else 0.0


def _rate(problem: Problem, machine: Machine) -> float:
    """Return the source rate (tuples/s) that the machine can handle."""
    processed = problem.source_rate + float(np.sum(flow(problem).stream_tuples))
    return min(machine.tuples_s, machine.processed_s * problem.source_rate / processed)


def _cluster(
    cluster: Cluster,
    shares: Sequence[float],
    mbps: Sequence[float],
    machine: Machine,
    tuple_bytes: float,
) -> Cluster:
    """Return the emulated devices and links.

    The simulator has one o for all tuples, so o is that of a tuple of mean size, in seconds of the
    device's time.
    """
    devices = [
        Device(device.name, 1e3 * share * machine.delivered)
        for device, share in zip(cluster.devices, shares, strict=True)
    ]
    o_s = (machine.o_s + machine.o_s_byte * tuple_bytes) / machine.delivered
    count, kind = len(devices), cluster.network.kind
    links = [link for link in range(len(mbps)) if kind == "nic" or link % (count + 1)]
    all_equal = len({(mbps[link], _share(cluster, shares, link)) for link in links}) < 2
    first = mbps[links[0]] if links else inf
    overrides = (
        ()
        if all_equal
        else tuple(
            LinkOverride(
                *cluster.link_ends(link),
                bandwidth_mbps=None if mbps[link] == inf else mbps[link],
                overhead_s=o_s / _share(cluster, shares, link),
            )
            for link in links
        )
    )
    network = Network(
        kind,
        bandwidth_mbps=None if first == inf else first,
        overhead_s=o_s / (_share(cluster, shares, links[0]) if links else 1.0),
        latency_s=machine.latency_s,
        overrides=overrides,
    )
    return Cluster(devices, network)


def _share(cluster: Cluster, shares: Sequence[float], link: int) -> float:
    """Return the smaller share of a core among the ends of a link."""
    return min(shares[cluster.index[end]] for end in cluster.link_ends(link) if end is not None)
