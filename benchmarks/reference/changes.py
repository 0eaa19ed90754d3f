"""Changes of a problem that must leave its scores unchanged, or change them in a known way."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from streamplace import (
    Cluster,
    Constraints,
    Device,
    LinkOverride,
    Network,
    Operator,
    Problem,
    Stream,
    StreamGraph,
    Throughput,
)

Link = TypeVar("Link", Network, LinkOverride)
Sender = TypeVar("Sender", Network, Device)


def remade(
    problem: Problem,
    graph: StreamGraph | None = None,
    cluster: Cluster | None = None,
    constraints: Constraints | None = None,
    **objective: Any,
) -> Problem:
    """Return the problem with another graph, cluster or constraints, or with another objective.

    Parameters
    ----------
    objective
        Arguments of `Throughput.with_changes`.
    """
    return Problem(
        problem.graph if graph is None else graph,
        problem.cluster if cluster is None else cluster,
        objective=problem.objective.with_changes(**objective),
        constraints=problem.constraints if constraints is None else constraints,
    )


def shares(graph: StreamGraph) -> dict[str, float]:
    """Return each source's share of the source rate, by name."""
    return {graph.names[v]: float(graph.source_share[v]) for v in graph.sources}


def with_rows(
    graph: StreamGraph,
    operators: Sequence[Operator],
    streams: Sequence[Stream],
    source_shares: Mapping[str, float] | None = None,
) -> StreamGraph:
    """Return a graph of other operators and streams, which fire and send messages as before."""
    return StreamGraph(
        operators,
        streams,
        source_shares=shares(graph) if source_shares is None else source_shares,
        firing=graph.firing,
        multicast=graph.multicast,
    )


def renamed(problem: Problem, operators: Sequence[int], devices: Sequence[int]) -> Problem:
    """Return the problem with new names, and operators and devices in another order.

    Parameters
    ----------
    operators, devices
        Old indices in the new order.
    """
    graph, cluster = problem.graph, problem.cluster
    rows = [replace(graph.operators[v], name=f"new {graph.names[v]}") for v in operators]
    streams = [
        replace(s, source=f"new {s.source}", target=f"new {s.target}") for s in graph.streams
    ]
    other = with_rows(graph, rows, streams, {f"new {v}": x for v, x in shares(graph).items()})

    def end(name: str | None) -> str | None:
        return name and f"new {name}"

    overrides = [
        replace(o, source=end(o.source), target=end(o.target)) for o in cluster.network.overrides
    ]
    network = replace(cluster.network, overrides=tuple(overrides))
    hosts = [replace(cluster.devices[d], name=f"new {cluster.devices[d].name}") for d in devices]
    rules = _renamed(problem.constraints)
    return remade(problem, other, cluster=Cluster(hosts, network), constraints=rules)


def _renamed(rules: Constraints) -> Constraints:
    def each(groups: Sequence[Sequence[str]]) -> list[list[str]]:
        return [[f"new {name}" for name in group] for group in groups]

    allowed: Mapping[str, Sequence[str]] = rules.allowed
    return Constraints(
        pins={f"new {v}": f"new {d}" for v, d in rules.pins.items()},
        colocate=each(rules.colocate),
        exlocate=each(rules.exlocate),
        allowed={f"new {v}": [f"new {d}" for d in names] for v, names in allowed.items()},
        apart_groups=each(rules.apart_groups),
    )


def restreamed(problem: Problem, streams: Sequence[Stream]) -> Problem:
    """Return the problem with its streams in another order."""
    graph = problem.graph
    return remade(problem, with_rows(graph, graph.operators, streams))


def in_other_units(problem: Problem, factor: float) -> Problem:
    """Return the problem in other units: the same utilisations from other numbers.

    Instructions and speeds are multiplied by `factor`; bytes and bandwidths are divided by it.
    """
    graph, network = problem.graph, problem.cluster.network
    rows = [
        replace(o, instructions=o.instructions * factor, payload_bytes=o.payload_bytes / factor)
        for o in graph.operators
    ]
    streams = [replace(s, payload_bytes=(s.payload_bytes or 0.0) / factor) for s in graph.streams]
    devices = [
        slower_per_byte(replace(d, mips=d.mips * factor), factor) for d in problem.cluster.devices
    ]
    overrides = tuple(wider(o, 1 / factor) for o in network.overrides)
    network = slower_per_byte(replace(wider(network, 1 / factor), overrides=overrides), factor)
    return remade(problem, with_rows(graph, rows, streams), cluster=Cluster(devices, network))


def in_other_time(problem: Problem, factor: float) -> Problem:
    """Return the problem with sources, devices and links `factor` times as fast.

    The makespan objective has no numbers per second.
    """
    rates: dict[str, Any] = {}
    if isinstance(problem.objective, Throughput):
        rates["source_rate"] = [rate * factor for rate in problem.source_rates]
    graph = problem.graph
    rows = [replace(o, seconds_on=_shorter(o, factor)) for o in graph.operators]
    graph = with_rows(graph, rows, graph.streams)
    cluster = _with_shorter_delays(as_fast(problem.cluster, factor), factor)
    return remade(problem, graph, cluster=cluster, **rates)


def _shorter(operator: Operator, factor: float) -> dict[str, float | None]:
    """Return the times of an operator by kind of device, divided by `factor`."""
    return {k: None if s is None else s / factor for k, s in operator.seconds_on.items()}


def as_fast(cluster: Cluster, factor: float) -> Cluster:
    """Return the cluster with devices and links of `factor` times the capacity.

    Times that operators state for kinds of device are the graph's, and are not changed. Latencies
    and rests between operators, which take no capacity, stay as well.
    """
    devices = [
        slower_per_byte(replace(d, mips=d.mips * factor), 1 / factor) for d in cluster.devices
    ]
    network = slower_per_byte(faster(cluster.network, factor), 1 / factor)
    overrides = tuple(faster(o, factor) for o in network.overrides)
    return Cluster(devices, replace(network, overrides=overrides))


def _with_shorter_delays(cluster: Cluster, factor: float) -> Cluster:
    """Return the cluster with latencies, and rests between operators, divided by `factor`."""
    devices = [replace(device, startup_s=device.startup_s / factor) for device in cluster.devices]
    overrides = [
        replace(o, latency_s=None if o.latency_s is None else o.latency_s / factor)
        for o in cluster.network.overrides
    ]
    latency = cluster.network.latency_s / factor
    network = replace(cluster.network, latency_s=latency, overrides=tuple(overrides))
    return Cluster(devices, network)


def slower_per_byte(part: Sender, factor: float) -> Sender:
    """Return the device or network with `factor` times its CPU time per byte of a message."""
    seconds = part.overhead_s_per_byte
    return replace(part, overhead_s_per_byte=None if seconds is None else seconds * factor)


def wider(link: Link, factor: float) -> Link:
    """Return the link with `factor` times its bandwidth; a network also with wider uplinks."""

    def times(mbps: float | None) -> float | None:
        return None if mbps is None else mbps * factor

    made = replace(link, bandwidth_mbps=times(link.bandwidth_mbps))
    if not isinstance(made, Network):
        return made
    uplinks = (
        replace(u, up_mbps=times(u.up_mbps), down_mbps=times(u.down_mbps)) for u in made.uplinks
    )
    return replace(made, uplinks=tuple(uplinks))


def faster(link: Link, factor: float) -> Link:
    """Return the link with `factor` times its bandwidth, and its times divided by `factor`."""
    overhead, gap = link.overhead_s, link.gap_s
    return replace(
        wider(link, factor),
        overhead_s=None if overhead is None else overhead / factor,
        gap_s=None if gap is None else gap / factor,
    )
