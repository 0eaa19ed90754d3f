"""Problems as the arrays that `sim` works on."""

import numpy as np

from sim.closed_form.bottleneck import lowest_utilisation
from sim.flow import Flow
from sim.search import Instance, instance
from streamplace.errors import GraphError
from streamplace.problem.cluster import Cluster
from streamplace.problem.feasibility import Feasibility
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Throughput
from streamplace.util.arrays import Floats

HEAVIEST = 1e100  # tuples/s, instructions/s, bit/s: far beyond any job, far below overflow


def make_flow(graph: StreamGraph, cluster: Cluster, objective: Throughput) -> Flow:
    """Return a graph on a cluster as arrays at the objective's highest source rate.

    Of every device and link there is as much as may be used: under a target utilisation U each
    takes 1/U as long for everything, so utilisations of the flow are those of the whole, over U.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    most = objective.target_utilisation
    _check_loads(graph, graph.instructions, graph.stream_payload_bytes)
    flow = Flow(
        source_tuples=graph.source_share * objective.source_rate,
        instructions=graph.instructions,
        source=graph.stream_source,
        target=graph.stream_target,
        selectivity=graph.selectivity,
        bits=graph.stream_payload_bytes * 8.0,
        capacity=cluster.capacity * most,
        cores=np.array([float(device.cores) for device in cluster.devices]),
        nic=cluster.network.kind == "nic",
        gap_s=cluster.link_column("gap_s") / most,
        seconds_per_bit=1e-6 / cluster.link_column("bandwidth_mbps") / most,
        overhead_s=cluster.link_column("overhead_s") / most,
    )
    with np.errstate(over="ignore", invalid="ignore"):
        _check_loads(graph, flow.operator_tuples, flow.stream_tuples)
        _check_loads(graph, flow.work, flow.stream_bits)
    if flow.nominal_sink_tuples <= 0:
        raise GraphError("streams: no tuple ever reaches a sink")
    return flow


def make_instance(flow: Flow, cluster: Cluster, rules: Feasibility) -> Instance:
    """Return the units of a problem for local search; loads are relative to the least possible."""
    masks, row_of = rules.unit_masks
    return instance(
        flow,
        rules.unit_of,
        lowest_utilisation(flow),
        masks,
        row_of,
        rules.unit_memory.astype(np.float64),
        cluster.memory_bytes,
        rules.excluding,
    )


def _check_loads(graph: StreamGraph, of_operators: Floats, of_streams: Floats) -> None:
    """Raise GraphError where a load, (V,) or (E,), is too large to compute with."""
    for v in np.flatnonzero(~(of_operators <= HEAVIEST)):
        raise GraphError(f"operators[{v}]: {graph.names[v]!r} has a load that overflows")
    for e in np.flatnonzero(~(of_streams <= HEAVIEST)):
        stream = graph.streams[int(e)]
        raise GraphError(
            f"streams: {stream.source!r} -> {stream.target!r} has a load that overflows"
        )
