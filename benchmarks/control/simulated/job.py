"""Simulated jobs: what instances and devices carry, in closed form.

The model is that of `bottleneck` without a network: instances of an operator take equal shares of
its tuples, an instance uses at most one core, and the instances of a device divide its cores.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from streamplace.control.plans import Deployment
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.counts import expanded
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.logical import instance_names
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats


def work_off(waiting: float, offered: Floats, capacity: Floats) -> tuple[Floats, Floats]:
    """Return what waits after each of N steps, and what is served in it, (N,) tuples each.

    It is Lindley's recursion, waiting' = max(0, waiting + offered - capacity), as sums.

    Parameters
    ----------
    waiting
        Tuples that wait before the first step.
    offered, capacity
        (N,) tuples that come in each step, and tuples that can be served in it.
    """
    net = np.cumsum(offered - capacity)
    lowest = np.minimum(np.minimum.accumulate(net), -waiting)
    after = np.maximum(net - lowest, 0.0)
    served = offered - np.diff(after, prepend=waiting)
    return after, np.asarray(np.clip(served, 0.0, capacity))


MIPS = 1000.0  # of a core of speed 1, where the job is turned into a problem
INSTRUCTIONS = MIPS * 1e6  # of a second of such a core


@dataclass(frozen=True)
class SimulatedOperator:
    """An operator of a chain.

    Parameters
    ----------
    core_s
        Seconds of one core of speed 1 per tuple that it processes.
    tuples
        Tuples that it processes per tuple that the source reads.
    most
        Largest number of its instances.
    """

    name: str
    core_s: float
    tuples: float = 1.0
    most: int = 32


@dataclass(frozen=True)
class Loads:
    """What one tuple per second at the source takes of a deployment with I instances.

    Parameters
    ----------
    operator
        (I,) index of the operator of each instance.
    device
        (I,) index of the device of each instance.
    own
        (I,) share of a core.
    on_device
        (D,) share of all cores of each device.
    """

    operator: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"
    device: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"
    own: Floats
    on_device: Floats

    @property
    def largest(self) -> float:
        """The largest load of an instance or a device."""
        return float(max(self.own.max(), self.on_device.max()))

    @property
    def capacity_s(self) -> float:
        """Tuples per second at the source that are sustained."""
        return 1.0 / self.largest


@dataclass(frozen=True)
class SimulatedJob:
    """A chain of operators, and the devices that it may use; the first operator is the source."""

    operators: tuple[SimulatedOperator, ...]
    devices: tuple[Device, ...]
    _loads: dict[tuple[str, tuple[float, ...]], Loads] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def cores(self) -> dict[str, int]:
        """Device -> number of its cores."""
        return {device.name: device.cores for device in self.devices}

    def loads(self, deployment: Deployment, slow: Mapping[str, float] | None = None) -> Loads:
        """Return the loads of a deployment.

        Parameters
        ----------
        slow
            Device -> factor of its speed, where it is not 1.
        """
        factors = tuple((slow or {}).get(device.name, 1.0) for device in self.devices)
        key = (deployment.key, factors)
        if key not in self._loads:
            self._loads[key] = self._new_loads(deployment, np.array(factors))
        return self._loads[key]

    @property
    def graph(self) -> StreamGraph:
        """The operators and streams, without instances."""
        operators = [
            Operator(each.name, each.core_s * INSTRUCTIONS, 0.0) for each in self.operators
        ]
        streams = [
            Stream(one.name, other.name, other.tuples / one.tuples)
            for one, other in pairwise(self.operators)
        ]
        return StreamGraph(operators, streams)

    @property
    def cluster(self) -> Cluster:
        """The devices, with cores of speed 1."""
        return Cluster([Device(device.name, MIPS, device.cores) for device in self.devices])

    def problem(self, deployment: Deployment, rate_s: float) -> Placement:
        """Return the instances as a placed graph, which the tick engine can run.

        Parameters
        ----------
        rate_s
            Tuples per second that are offered.
        """
        instances = expanded(self.graph, deployment.parallelism)
        cluster = self.cluster
        device = {
            instance: cluster.index[host]
            for name, hosts in deployment.hosts.items()
            for instance, host in zip(instance_names(name, len(hosts)), hosts, strict=True)
        }
        problem = Problem(instances, cluster, source_rate=rate_s)
        return Placement(problem, [device[name] for name in instances.names])

    def _new_loads(self, deployment: Deployment, factors: Floats) -> Loads:
        number = {device.name: d for d, device in enumerate(self.devices)}
        rows = [
            (v, number[host], operator.core_s * operator.tuples / len(hosts))
            for v, operator in enumerate(self.operators)
            for hosts in [deployment.hosts[operator.name]]
            for host in hosts
        ]
        operator, device = (np.array([row[k] for row in rows], np.int64) for k in (0, 1))
        own = np.array([row[2] for row in rows]) / factors[device]
        cores = np.array([each.cores for each in self.devices], np.float64)
        on_device = np.bincount(device, own, len(self.devices)) / cores
        return Loads(operator, device, own, on_device)
