"""Conversion of problems to the arrays that `sim` works on."""

import numpy as np

from sim.closed_form.bottleneck import lowest_utilisation
from sim.flow import Flow
from sim.search import Instance, instance
from streamplace.errors import ClusterError, GraphError
from streamplace.problem.cluster import Cluster
from streamplace.problem.feasibility import Feasibility
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Throughput
from streamplace.util.arrays import Floats

HEAVIEST = 1e100  # limit of tuples/s, instructions/s and bit/s: beyond any job, below overflow


def make_flow(graph: StreamGraph, cluster: Cluster, objective: Throughput) -> Flow:
    """Return a graph on a cluster as arrays, at the objective's highest source rate.

    Devices and links have the capacity that may be used: with a target utilisation U, everything
    takes 1/U times as long, so utilisations of the flow are those of the full capacity over U.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    GraphError, ClusterError
        On fields of graphs or clusters that throughput models do not count yet.
    """
    _check_supported(graph, cluster)
    share = objective.target_utilisation
    check_loads(graph, graph.instructions, graph.stream_payload_bytes)
    flow = Flow(
        source_tuples=graph.source_share * objective.source_rate,
        instructions=graph.instructions,
        source=graph.stream_source,
        target=graph.stream_target,
        selectivity=graph.selectivity,
        bits=graph.stream_payload_bytes * 8.0,
        capacity=cluster.capacity * share,
        cores=np.array([float(device.cores) for device in cluster.devices]),
        nic=cluster.network.kind == "nic",
        gap_s=cluster.link_column("gap_s") / share,
        seconds_per_bit=1e-6 / cluster.link_column("bandwidth_mbps") / share,
        overhead_s=cluster.link_column("overhead_s") / share,
        operator_cores=graph.cores,
        up=cluster.uplinks_of_devices("up"),
        down=cluster.uplinks_of_devices("down"),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        check_loads(graph, flow.operator_tuples, flow.stream_tuples)
        check_loads(graph, flow.work, flow.stream_bits)
    if flow.nominal_sink_tuples <= 0:
        raise GraphError("streams: no tuple ever reaches a sink")
    return flow


def make_instance(flow: Flow, cluster: Cluster, rules: Feasibility) -> Instance:
    """Return the units of a problem for local search; loads are relative to the lower bound."""
    masks, row_of = rules.unit_masks
    return instance(
        flow,
        rules.unit_of,
        lowest_utilisation(flow),
        masks,
        row_of,
        rules.needs,
        rules.room,
        rules.excluding,
        rules.separating,
        np.array(cluster.group_of),
    )


def _check_supported(graph: StreamGraph, cluster: Cluster) -> None:
    """Refuse fields that would change loads but are not counted yet."""
    not_yet = "not counted by throughput models yet; remove it"
    for name, value in graph.semantics.items():
        raise GraphError(f"{name}: {value!r} is {not_yet}")
    for v in graph.seconds_on:
        raise GraphError(f"operators[{v}].seconds_on: of {graph.names[v]!r} is {not_yet}")
    if (kind := cluster.network.kind) in ("free", "egress"):
        raise ClusterError(f"network: kind {kind!r} is not counted yet; use pair or nic")
    for name, seconds in zip(cluster.names, cluster.overhead_s_per_byte.tolist(), strict=True):
        if seconds:
            raise ClusterError(f"device {name!r}: overhead_s_per_byte ({seconds:g}) is {not_yet}")


def check_loads(graph: StreamGraph, of_operators: Floats, of_streams: Floats) -> None:
    """Raise GraphError if a load, (V,) or (E,), is too large to compute with."""
    for v in np.flatnonzero(~(of_operators <= HEAVIEST)):
        raise GraphError(f"operators[{v}]: the load of {graph.names[v]!r} overflows")
    for e in np.flatnonzero(~(of_streams <= HEAVIEST)):
        stream = graph.streams[int(e)]
        raise GraphError(f"streams: the load of {stream.source!r} -> {stream.target!r} overflows")
