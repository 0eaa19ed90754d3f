"""Passes scaled to the capacity of the machine.

The simulator gets the problem that runs: the seconds of operators, the bytes of messages on the
wire, and the bandwidth and latency of links.
"""

from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from benchmarks.testbed.facilities import TestbedError
from benchmarks.testbed.passes.executors import PACE, PACKETS
from benchmarks.testbed.passes.job import Job
from benchmarks.testbed.passes.overheads import SEGMENT_BYTES, Overheads, on_the_wire
from benchmarks.testbed.passes.suitability import suitable
from benchmarks.testbed.passes.worker.channels import HEADER
from benchmarks.testbed.scaling import HEADERS_BYTES, NS
from streamplace import Cluster, Device, LinkOverride, Makespan, Network, Problem, StreamGraph
from streamplace.makespan.compiled_pass import make_tasks
from streamplace.util.arrays import Floats, Ints

MEAN_S = 0.025
"""Mean time of an operator over all operators and devices of a scaled pass."""
CORES, MOST_CORES = 0.9, 0.25
"""Cores for all devices together, and the largest share of one."""
MBPS = 20.0  # of the fastest link
LONGEST_S = 10.0  # of an operator or a message
UNLIMITED_MBPS = 10_000.0


@dataclass(frozen=True, eq=False)
class ScaledPass:
    """A pass of V operators and E streams as it runs on D devices.

    Parameters
    ----------
    original
        The problem that was scaled.
    factor
        Seconds on the testbed per second of the original problem.
    shares
        (D,) share of a core of each device.
    mbps
        (D * D,) bandwidth in Mbit/s from each device to each.
    seconds
        (V, D) time of each operator on each device on the testbed; infinity where it cannot run.
    size
        (E,) int32 bytes of each message, without headers.
    latency_s
        (D, D) seconds.
    """

    original: Problem
    factor: float
    shares: tuple[float, ...]
    mbps: tuple[float, ...]
    seconds: Floats
    size: Ints
    latency_s: Floats

    def job(self, devices: Ints) -> Job:
        """Return the pass of a placement, (V,).

        Raises
        ------
        TestbedError
            If a device cannot run one of its operators.
        """
        graph = self.original.graph
        own = self.seconds[np.arange(len(devices)), devices]
        if not np.isfinite(own).all():
            v = int(np.isinf(own).argmax())
            device = self.original.cluster.names[devices[v]]
            raise TestbedError(f"operator {graph.names[v]!r} cannot run on device {device!r}")
        return Job(
            devices,
            own * PACE * np.array(self.shares)[devices] * NS,
            graph.stream_source,
            graph.stream_target,
            self.size,
            self.latency_s,
            graph.multicast == "device",
        )

    def problem(self, overheads: Overheads) -> Problem:
        """Return the problem that the simulator gets.

        An idle link passes a burst at once and is slower to recover: in the terms of LogP, a
        message has a burst less of bytes, and the link a gap as long as a burst takes.
        """
        graph, count = self.original.graph, len(self.shares)
        cluster = self.original.cluster
        seconds = self.seconds * np.array(overheads.slowness) + np.array(overheads.dispatch_s)
        wire = np.maximum(on_the_wire(self.size) - PACKETS.burst_bytes, 0)
        passed = StreamGraph.from_columns(
            graph.names,
            np.zeros(len(graph.names)),
            np.zeros(len(graph.names)),
            np.stack([graph.stream_source, graph.stream_target], axis=1),
            seconds_on={
                v: {f"d{d}": s if isfinite(s) else None for d, s in enumerate(row)}
                for v, row in enumerate(seconds.tolist())
            },
            stream_payload_bytes=wire,
            name=graph.name,
            firing="all",
            multicast=graph.multicast,
        )
        devices = [
            Device(device.name, 1.0, kind=f"d{d}") for d, device in enumerate(cluster.devices)
        ]
        links = [
            LinkOverride(
                cluster.names[a],
                cluster.names[b],
                self.mbps[a * count + b],
                self.latency_s[a, b] + overheads.message_s,
                gap_s=PACKETS.burst_bytes * 8e-6 / self.mbps[a * count + b],
            )
            for a in range(count)
            for b in range(count)
            if a != b
        ]
        network = Network(cluster.network.kind, overrides=tuple(links))
        return Problem(passed, Cluster(devices, network), objective=Makespan())


def scale_pass(problem: Problem, mean_s: float = MEAN_S) -> ScaledPass:
    """Scale one pass of a problem to the machine.

    All times are multiplied by one factor, so that operators take `mean_s` on average.

    Raises
    ------
    TestbedError
        If the testbed does not have what the problem needs, or its times differ too much.
    """
    cluster = problem.cluster
    tasks = make_tasks(problem.graph, cluster, suitable(problem))
    if tasks.silent.any():  # the testbed would wait for it
        raise TestbedError("the testbed cannot run this pass: a stream brings no message")
    seconds = tasks.seconds_by_device()
    mean = float(seconds[np.isfinite(seconds)].mean())
    if not mean > 0:
        raise TestbedError("the testbed cannot run this pass: no operator takes any time")
    factor = mean_s / mean
    count = len(cluster.devices)
    rate = np.broadcast_to(tasks.rate, count * count)
    finite = rate[np.isfinite(rate)]
    fastest = float(finite.max()) if len(finite) else inf
    mbps = np.where(np.isfinite(rate), MBPS * rate / fastest, UNLIMITED_MBPS)
    wire = tasks.bits / 8.0 * factor * MBPS * 1e6 / fastest
    size = wire - HEADERS_BYTES * wire / (SEGMENT_BYTES + HEADERS_BYTES)
    latency = np.broadcast_to(tasks.latency_s, count * count).reshape(count, count)
    slowest = size.max(initial=0.0) * 8e-6 / mbps.min() + latency.max() * factor
    longest = max(float(slowest), float(seconds[np.isfinite(seconds)].max()) * factor)
    if longest > LONGEST_S:
        wrong = f"an operator or a message would take {longest:.3g} s where operators take"
        raise TestbedError(f"{wrong} {mean_s:g} s on average; the most is {LONGEST_S:g} s")
    return ScaledPass(
        problem,
        factor,
        _shares(cluster),
        tuple(mbps.tolist()),
        seconds * factor,
        np.maximum(0, np.rint(size) - HEADER.size).astype(np.int32),
        latency * factor,
    )


def _shares(cluster: Cluster) -> tuple[float, ...]:
    """Return the share of a core of each device, in proportion to its speed."""
    speed = np.array([device.mips for device in cluster.devices])
    largest = min(MOST_CORES, CORES * speed.max() / speed.sum())
    return tuple((largest * speed / speed.max()).tolist())
