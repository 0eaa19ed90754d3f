"""Measurement of the CPU time that devices get, and of LogP's o: the CPU cost of a message.

The cost of a message depends on the load. A message to a process that sleeps wakes it, and the
messages that arrive while a device waits for its next share of a core are handled together. So o is
measured as it is when devices are the bottleneck: all of them are busy, and all send and receive.
"""

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from benchmarks.testbed.costs import Costs, Sample, fitted, median, quartiles
from benchmarks.testbed.emulator import Emulator
from benchmarks.testbed.measures import Measured
from benchmarks.testbed.scaling import NS, Machine, Scaled, on_the_wire
from streamplace import Cluster, Device, Network, Operator, Problem, Stream, StreamGraph

DEVICES = 4
LOADS = ((50, 100), (100, 100), (200, 100), (400, 100), (50, 40_000), (100, 20_000))
"""Tuples/s that a device sends and receives if messages cost nothing, and bytes per tuple. They
span those of the devices that limit a placement of the tables of ranks."""
ALONE_S = 1e-3  # CPU per tuple of a device without streams
OVERLOAD = 1.5  # offered load ÷ capacity of a device
REPETITIONS = 5
WARM_S, MEASURED_S, ALONE_MEASURED_S = 0.5, 1.5, 3.0


@dataclass(frozen=True)
class Calibration:
    """Measured CPU shares and costs.

    Parameters
    ----------
    share
        Share of a core of each device.
    delivered
        CPU time that a device without streams got, as a fraction of its share.
    rounds_s
        Rounds of the hash per second of CPU.
    repetitions
        Costs of the network, in each repetition.
    """

    share: float
    delivered: float
    rounds_s: float
    repetitions: tuple[Costs, ...]

    def applied_to(self, machine: Machine) -> Machine:
        """Return the machine with the medians of these costs.

        The simulator has no cost that is independent of the number of messages, so the fixed cost
        is deducted from the CPU time that a device gets.
        """
        costs = median(self.repetitions)
        return replace(
            machine,
            delivered=self.delivered - costs.fixed_s / self.share,
            o_s=costs.o_s,
            o_s_byte=costs.o_s_byte,
        )

    def __str__(self) -> str:
        """Return a line with the costs and their interquartile ranges."""
        middle, (first, third) = median(self.repetitions), quartiles(self.repetitions)
        fixed, *of_fixed = (each.fixed_s / self.share for each in (middle, first, third))
        o, *of_o = (each.o_s * 1e6 for each in (middle, first, third))
        o_byte, *of_byte = (each.o_s_byte * 1e9 for each in (middle, first, third))
        return (
            f"a device gets {self.delivered:.1%} of its share, of which the network uses "
            f"{fixed:.1%} (IQR {of_fixed[0]:.1%} to {of_fixed[1]:.1%}) at any rate; "
            f"a second of CPU is {self.rounds_s:,.0f} rounds of the hash; "
            f"LogP's o is {o:.1f} us of CPU (IQR {of_o[0]:.1f} to {of_o[1]:.1f}) and "
            f"{o_byte:.2f} ns per byte (IQR {of_byte[0]:.2f} to {of_byte[1]:.2f})"
        )


def calibrate(machine: Machine) -> Calibration:
    """Measure four devices, first alone and then in pairs; takes about 70 s.

    The loads alternate, so that other load on the machine affects all of them alike.
    """
    share = machine.most_cores
    with Emulator("nic", [share] * DEVICES, [inf] * (2 * DEVICES)) as emulator:
        alone = _run(emulator, _alone(share), 1, ALONE_MEASURED_S)
        repetitions = tuple(_repetition(emulator, share) for _ in range(REPETITIONS))
    delivered, rounds_s = alone.relative_throughput * OVERLOAD, 1e9 / float(np.mean(alone.round_ns))
    return Calibration(share, delivered, rounds_s, repetitions)


def _repetition(emulator: Emulator, share: float) -> Costs:
    """Return the costs that fit one run of each load."""
    samples = []
    for rate, payload in LOADS:
        result = _run(emulator, pairs(share, rate, payload), payload, MEASURED_S)
        samples += samples_of(result, payload)
    return fitted(samples)


def samples_of(result: Measured, payload: int) -> list[Sample]:
    """Return a sample per device of a run of `pairs` with this payload (bytes)."""
    sent, sunk = np.split(result.processed_s, 2)
    messages = (sent + sunk).tolist()
    return [
        Sample(network_s, count, count * payload)
        for network_s, count in zip(result.network_s.tolist(), messages, strict=True)
    ]


def pairs(share: float, rate: float, payload: int) -> StreamGraph:
    """Return a graph of pairs of devices that send each other as much as they can.

    Operators 0 to 3 are sources and operators 4 to 7 are sinks, on devices 0 to 3 each. All do the
    same work per tuple: half of what a device can do per tuple at this rate (tuples/s).
    """
    work = share / rate / 2 * NS
    sources = [Operator(f"source{d}", work, on_the_wire(payload)) for d in range(DEVICES)]
    sinks = [Operator(f"sink{d}", work, 0) for d in range(DEVICES)]
    streams = [Stream(f"source{d}", f"sink{d ^ 1}") for d in range(DEVICES)]
    return StreamGraph(sources + sinks, streams, source_rate=DEVICES * OVERLOAD * rate)


def _alone(share: float) -> StreamGraph:
    """Return a graph with one operator for each device, which overloads them."""
    operators = [Operator(f"o{d}", ALONE_S * NS, 0) for d in range(DEVICES)]
    return StreamGraph(operators, [], source_rate=DEVICES * OVERLOAD * share / ALONE_S)


def _run(emulator: Emulator, graph: StreamGraph, size: int, seconds: float) -> Measured:
    """Run a graph, whose operators are on the devices in turn."""
    network = Network("nic", bandwidth_mbps=None)
    devices = [Device(f"d{d}", 1e3 * share) for d, share in enumerate(emulator.shares)]
    sizes = tuple([size] * len(graph.stream_source))
    problem = Problem(graph, Cluster(devices, network))
    scaled = Scaled(problem, emulator.shares, emulator.mbps, sizes)
    placement = np.arange(len(graph.names), dtype=np.int32) % DEVICES
    return emulator.run(scaled, placement, WARM_S, seconds)
