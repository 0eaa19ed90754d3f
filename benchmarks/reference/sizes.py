"""The cheapest numbers of instances and devices by brute force, for small problems."""

from collections.abc import Mapping
from itertools import product

import numpy as np

from streamplace import Cluster, StreamGraph

SLACK = 1e-9


def best_sizes(
    graph: StreamGraph, cluster: Cluster, target: float, most: int
) -> dict[str, float | None]:
    """Return the least machines, money and instances that carry the source rate; None: none do.

    Devices have one core and any number of slots or as many as they state; links join pairs of
    devices; streams are spread evenly, by key groups, or copied, as stated.

    Parameters
    ----------
    target
        The share of devices and links that may be used.
    most
        Largest number of instances of an operator.
    """
    best: dict[str, float | None] = dict.fromkeys(("machines", "money", "instances"))
    for counts in product(*(_range(graph, v, most) for v in range(len(graph.names)))):
        for devices in product(range(len(cluster.devices)), repeat=sum(counts)):
            if not _carries(graph, cluster, counts, devices, target):
                continue
            used = set(devices)
            prices = [cluster.devices[d].price or 0.0 for d in sorted(used)]
            found = {"machines": len(used), "money": sum(prices), "instances": sum(counts)}
            for name, value in found.items():
                known = best[name]
                best[name] = value if known is None else min(known, value)
    return best


def _range(graph: StreamGraph, v: int, most: int) -> range:
    limits = [n for n in (graph.max_parallelism.get(v), _groups(graph, v, 32_768)) if n]
    return range(graph.min_parallelism.get(v, 1), min([most, *limits]) + 1)


def _carries(
    graph: StreamGraph,
    cluster: Cluster,
    counts: tuple[int, ...],
    devices: tuple[int, ...],
    target: float,
) -> bool:
    """Return whether a placement of instances, listed by operator, overloads nothing."""
    first = np.concatenate([[0], np.cumsum(counts)])
    where = np.array(devices)
    for d, device in enumerate(cluster.devices):
        if device.slots is not None and (where == d).sum() > device.slots:
            return False
    rates = _rates(graph, counts)
    busy = np.zeros(len(cluster.devices))
    for v, count in enumerate(counts):
        scaling = graph.operators[v].scaling
        cost = 1 + scaling.get("sigma", 0.0) * (count - 1)
        cost += scaling.get("kappa", 0.0) * count * (count - 1)
        for i in range(count):
            d = where[first[v] + i]
            busy[d] += rates[v][i] * graph.instructions[v] * cost / (cluster.devices[d].mips * 1e6)
    if (busy > target * (1 + SLACK)).any():
        return False
    bits = np.zeros((len(cluster.devices),) * 2)
    for e, (u, v) in enumerate(zip(graph.stream_source, graph.stream_target, strict=True)):
        for i, sent in enumerate(rates[u]):
            parts = _parts(graph, e, int(v), counts[u], counts[v], i)
            for j, part in parts.items():
                a, b = where[first[u] + i], where[first[v] + j]
                if a != b:
                    load = sent * graph.selectivity[e] * part * graph.stream_payload_bytes[e] * 8
                    bits[a, b] += load
    bandwidth = cluster.network.bandwidth_mbps
    return bandwidth is None or bool((bits <= target * bandwidth * 1e6 * (1 + SLACK)).all())


def _groups(graph: StreamGraph, v: int, count: int) -> int | None:
    """Return the number of partitions or key groups of an operator with some instances."""
    stated = graph.partitions.get(v)
    if stated != "flink":
        return stated
    groups = 128
    while groups < min(count + count // 2, 32_768):
        groups *= 2
    return groups


def _rates(graph: StreamGraph, counts: tuple[int, ...]) -> list[list[float]]:
    """Return the tuples/s that each instance of each operator processes."""
    rates = [[0.0] * count for count in counts]
    assert graph.source_rate is not None
    for v in graph.sources.tolist():
        total = graph.source_rate * float(graph.source_share[v])
        partitions = _groups(graph, v, counts[v])
        for i in range(counts[v]):
            share = 1.0 / counts[v]
            if partitions:
                share = len(range(i, partitions, counts[v])) / partitions
            rates[v][i] = total * share
    for v in graph.order.tolist():
        for e in np.flatnonzero(graph.stream_target == v).tolist():
            u = int(graph.stream_source[e])
            for i, sent in enumerate(rates[u]):
                for j, part in _parts(graph, e, v, counts[u], counts[v], i).items():
                    rates[v][j] += sent * float(graph.selectivity[e]) * part
    return rates


def _parts(
    graph: StreamGraph, e: int, v: int, sources: int, targets: int, i: int
) -> Mapping[int, float]:
    """Return target instance -> the share of the tuples that source instance i sends to it."""
    kind = graph.partitioning.get(e, "rebalance")
    if kind == "broadcast":
        return dict.fromkeys(range(targets), 1.0)
    if kind == "forward" and sources == targets:
        return {i: 1.0}
    groups = _groups(graph, v, targets)
    if kind == "hash" and groups:
        owners = [g * targets // groups for g in range(groups)]
        return {j: owners.count(j) / groups for j in {*owners}}
    return dict.fromkeys(range(targets), 1.0 / targets)
