"""Measurement of the CPU time that devices get, and of LogP's o: the CPU cost of sending tuples."""

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from benchmarks.testbed.emulator import Emulator
from benchmarks.testbed.measures import Measured
from benchmarks.testbed.scaling import NS, Machine, Scaled, on_the_wire
from streamplace import Cluster, Device, Network, Operator, Problem, Stream, StreamGraph

PAYLOADS = (100, 10_000, 40_000)  # bytes
BUSY_S, IDLE_S = 1e-3, 0.5e-3  # CPU per tuple: at the end that is measured, and at the other
OVERLOAD = 1.5  # offered load ÷ capacity of a device
WARM_S, MEASURED_S = 1.0, 3.0


@dataclass(frozen=True)
class Calibration:
    """Measured CPU shares and costs.

    Parameters
    ----------
    delivered
        CPU time that a device got for its operators, as a fraction of its share.
    rounds_s
        Rounds of the hash per second of CPU.
    send_s, receive_s
        CPU seconds per tuple for each of `PAYLOADS`.
    """

    delivered: float
    rounds_s: float
    send_s: tuple[float, ...]
    receive_s: tuple[float, ...]

    def applied_to(self, machine: Machine) -> Machine:
        """Return the machine with these costs, fitted as a linear function of the payload."""
        send, receive = (np.polyfit(PAYLOADS, cost, 1) for cost in (self.send_s, self.receive_s))
        return replace(
            machine,
            delivered=self.delivered,
            o_s=float(send[1] + receive[1]) / 2,
            o_s_byte=float(send[0] + receive[0]) / 2,
        )


def calibrate(machine: Machine) -> Calibration:
    """Measure four devices, alone and in pairs with one busy end; takes about 20 s."""
    share = machine.most_cores
    with Emulator("nic", [share] * 4, [inf] * 8) as emulator:
        alone = _run(emulator, share, _alone(share), 1)
        delivered = alone.relative_throughput * OVERLOAD
        costs = [_costs(emulator, share, delivered, payload) for payload in PAYLOADS]
    send, receive = zip(*costs, strict=True)
    return Calibration(delivered, 1e9 / float(np.mean(alone.round_ns)), send, receive)


def _alone(share: float) -> StreamGraph:
    """Return a graph with one operator for each of four devices, which overloads them."""
    operators = [Operator(f"o{d}", BUSY_S * NS, 0) for d in range(4)]
    return StreamGraph(operators, [], source_rate=4 * OVERLOAD * share / BUSY_S)


def _costs(emulator: Emulator, share: float, delivered: float, payload: int) -> tuple[float, float]:
    """Return the CPU seconds that sending and receiving a tuple cost a busy device.

    There are two streams: d0 -> d1 with a busy sender, and d2 -> d3 with a busy receiver. The CPU
    time of a busy device that is not its operator's work is the cost of the network.
    """
    work = (BUSY_S, IDLE_S, IDLE_S, BUSY_S)
    operators = [Operator(f"o{d}", s * NS, on_the_wire(payload)) for d, s in enumerate(work)]
    rate = OVERLOAD * share / BUSY_S
    streams = [Stream("o0", "o1"), Stream("o2", "o3")]
    graph = StreamGraph(operators, streams, source_rate=2 * rate)
    measured = _run(emulator, share, graph, payload)
    used = measured.work_s
    tuples = used / np.array(work)
    over = (share * delivered - used) / tuples
    return float(over[0]), float(over[3])


def _run(emulator: Emulator, share: float, graph: StreamGraph, size: int) -> Measured:
    """Run a graph with one operator per device."""
    network = Network("nic", bandwidth_mbps=None)
    cluster = Cluster([Device(f"d{d}", 1e3 * share) for d in range(4)], network)
    sizes = tuple([size] * len(graph.stream_source))
    scaled = Scaled(Problem(graph, cluster), emulator.shares, emulator.mbps, sizes)
    return emulator.run(scaled, np.arange(4, dtype=np.int32), WARM_S, MEASURED_S)
