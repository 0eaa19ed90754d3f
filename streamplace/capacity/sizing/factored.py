"""Loads of many instances without the streams between each two of them.

Streams that are spread over all instances of their target carry, between two devices, the product
of what the instances on one emit and of the share of those on the other. With p and q instances on
D devices, that takes p + q + min(p, D) min(q, D) steps instead of p q.
"""

from typing import NamedTuple

import numpy as np

from streamplace.capacity.sizing.attempts import Task
from streamplace.capacity.sizing.choices import Counts
from streamplace.capacity.sizing.instances import named_instances
from streamplace.capacity.sizing.result import SIZE
from streamplace.display.text import number
from streamplace.errors import Fault, UsageError
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import groups_of, key_shares_of
from streamplace.problem.parallelism import NO_SCALING, NO_SHARES, even_shares
from streamplace.util.arrays import Floats, Ints

BITS_PER_BYTE = 8.0
INSTRUCTIONS_PER_MI = 1e6
SUPPORTED = ("pair", "nic", "free")


class Loads(NamedTuple):
    """Utilisations at the offered rate, of the whole device or link.

    Attributes
    ----------
    devices
        (D,) of each device.
    links
        (D, D) of each link under ``pair``; (2, D) of what devices send and receive under ``nic``;
        zeros otherwise.
    threads
        The highest of a single instance, of the cores that it can use.
    """

    devices: Floats
    links: Floats
    threads: float

    @property
    def largest(self) -> float:
        """The largest of all."""
        return max(float(self.devices.max()), float(self.links.max(initial=0.0)), self.threads)


class Instances:
    """The instances of a graph's operators, with the tuples/s that each processes.

    Parameters
    ----------
    graph
        A graph whose operators state numbers of instances.
    counts
        Operator -> number of instances.
    source_rate
        Tuples/s over all sources.

    Attributes
    ----------
    counts
        (V,) number of instances of each operator.
    rates
        The tuples/s of the instances of each operator, (p,) each.
    """

    def __init__(self, graph: StreamGraph, counts: Counts, source_rate: float) -> None:
        self.graph = graph
        self.instructions, self.selectivity, self.payload_bytes = (
            np.nan_to_num(column)  # unknown only where it cannot matter
            for column in (graph.instructions, graph.selectivity, graph.stream_payload_bytes)
        )
        self.counts: Ints = np.array([counts[name] for name in graph.names], np.int32)
        self.rates: list[Floats] = [np.zeros(count) for count in self.counts.tolist()]
        for v in graph.sources.tolist():
            count = int(self.counts[v])
            shares = even_shares(groups_of(graph.partitions.get(v), count), count)
            self.rates[v] = source_rate * float(graph.source_share[v]) * shares
        inputs: list[list[int]] = [[] for _ in graph.names]
        for e, v in enumerate(graph.stream_target.tolist()):
            inputs[v].append(e)
        for v in graph.order.tolist():
            for e in inputs[v]:
                sent = self.rates[int(graph.stream_source[e])] * float(self.selectivity[e])
                own = sent if self.is_forward(e) else sent.sum() * self.shares(e)
                self.rates[v] = self.rates[v] + own

    def is_forward(self, e: int) -> bool:
        """Return whether each instance sends to the one of its own number only."""
        graph = self.graph
        u, v = int(graph.stream_source[e]), int(graph.stream_target[e])
        return graph.partitioning.get(e) == "forward" and self.counts[u] == self.counts[v]

    def shares(self, e: int) -> Floats:
        """Return the share of a stream's tuples that each instance of its target has, (q,)."""
        graph = self.graph
        v = int(graph.stream_target[e])
        kind, count = graph.partitioning.get(e, ""), int(self.counts[v])
        if kind == "broadcast":
            return np.ones(count)
        if kind == "hash":
            return key_shares_of(graph.partitions.get(v), graph.key_shares.get(e, NO_SHARES), count)
        return np.full(count, 1.0 / count)

    def work(self, v: int) -> Floats:
        """Return the instructions/s of each instance of an operator, (p,)."""
        cost = self.graph.scaling.get(v, NO_SCALING).cost(int(self.counts[v]))
        work: Floats = self.rates[v] * float(self.instructions[v]) * cost
        return work


def check_supported(task: Task, instances: int) -> None:
    """Refuse what only graphs with all streams between instances can express.

    Raises
    ------
    UsageError
        On times by kind of device, tuples that are joined or shared, rules that keep operators
        together or apart or name single instances, ``rescale``, uplinks, overrides or costs of
        messages, ``egress``, another model than ``bottleneck``, or losses of devices.
    """
    graph, network, rules = task.graph, task.cluster.network, task.constraints
    costs = network.overhead_s or network.overhead_s_per_byte
    costs = costs or any(device.overhead_s_per_byte for device in task.cluster.devices)
    together = rules.colocate or rules.exlocate or rules.apart_groups
    faults = {
        "seconds_on": graph.seconds_on,
        "firing or multicast": graph.semantics,
        "colocate, exlocate or apart_groups": together,
        "the partitioning rescale": "rescale" in graph.partitioning.values(),
        "uplinks or overrides": network.uplinks or network.overrides,
        "overheads of messages": costs,
        f"the network {network.kind}": network.kind not in SUPPORTED,
        f"the model {task.objective.model}": task.objective.model != "bottleneck",
        "survive": task.settings.survive,
        "whole operators": task.settings.whole_operators,
        "constraints on single instances": named_instances(graph, rules),
    }
    for what, has_it in faults.items():
        if has_it:
            many = f"{instances:,} instances with so many streams between them"
            rate, remedy = number(task.planned), "lower the source rate, or use fewer operators"
            fault = f"{rate} tuples/s need {many}, for which it does not support {what}"
            raise UsageError(Fault(fault, place=SIZE, remedy=remedy))


def loads_of(instances: Instances, cluster: Cluster, on: list[Ints]) -> Loads:
    """Return the utilisations of a placement of instances.

    Parameters
    ----------
    on
        The device of each instance of each operator, (p,) each.
    """
    graph, count = instances.graph, len(cluster.devices)
    mips = np.array([device.mips for device in cluster.devices]) * INSTRUCTIONS_PER_MI
    cores = np.array([device.cores for device in cluster.devices], np.float64)
    busy, threads = np.zeros(count), 0.0
    for v, where in enumerate(on):
        work = instances.work(v)
        busy += np.bincount(where, work, count)
        usable = np.minimum(graph.cores[v], cores[where])
        threads = max(threads, float((work / (mips[where] * usable)).max(initial=0.0)))
    return Loads(busy / (mips * cores), _links(instances, cluster, on), threads)


def _links(instances: Instances, cluster: Cluster, on: list[Ints]) -> Floats:
    """Return the utilisations of the links."""
    graph, network, count = instances.graph, cluster.network, len(cluster.devices)
    if network.kind == "free":
        return np.zeros((0, 0))
    per_bit = 0.0 if network.bandwidth_mbps is None else 1e-6 / network.bandwidth_mbps
    per_tuple = network.gap_s + instances.payload_bytes * (BITS_PER_BYTE * per_bit)  # seconds
    used = [np.unique(where, return_inverse=True) for where in on]
    load = np.zeros((count, count))
    for e, u in enumerate(graph.stream_source.tolist()):
        v = int(graph.stream_target[e])
        seconds = instances.rates[u] * float(instances.selectivity[e] * per_tuple[e])
        if instances.is_forward(e):
            np.add.at(load, (on[u], on[v]), seconds)
            continue
        (of_u, number_u), (of_v, number_v) = used[u], used[v]
        emitted = np.bincount(number_u, seconds)
        received = np.bincount(number_v, instances.shares(e))
        load[of_u[:, None], of_v] += np.outer(emitted, received)
    np.fill_diagonal(load, 0.0)
    return load if network.kind == "pair" else np.stack([load.sum(axis=1), load.sum(axis=0)])
