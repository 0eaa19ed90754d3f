"""Conversion of problems to the arrays that `sim` works on."""

from math import inf
from typing import NamedTuple, get_args

import numpy as np

from streamplace.errors import GraphError
from streamplace.problem.cluster import Cluster
from streamplace.problem.feasibility import Feasibility
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import Multicast
from streamplace.problem.objective import Throughput
from streamplace.sim.closed_form.bottleneck import lowest_utilisation
from streamplace.sim.columns import all_within
from streamplace.sim.flow import Flow
from streamplace.sim.search import Instance, instance
from streamplace.util.arrays import SMALLEST_NORMAL, Bools, Floats, Ints

HEAVIEST = 1e100  # limit of tuples/s, instructions/s and bit/s: beyond any job, below overflow


def make_flow(graph: StreamGraph, cluster: Cluster, objective: Throughput) -> Flow:
    """Return a graph on a cluster as arrays, at the objective's highest source rate.

    Devices and links have the capacity that may be used: with a target utilisation U, everything
    takes 1/U times as long, so utilisations of the flow are those of the full capacity over U.

    Raises
    ------
    GraphError
        If tuple rates overflow; if throughput is counted at the sinks (every model but
        ``bottleneck``), and no tuple ever reaches one.
    """
    share = objective.target_utilisation
    times = times_of(graph, cluster)
    payload_bytes, selectivity = (  # unknown only where they cannot matter
        column if all_within(column, -inf, inf) else np.where(np.isnan(column), 0.0, column)
        for column in (graph.stream_payload_bytes, graph.selectivity)
    )
    check_no_overflow(graph, times.instructions, payload_bytes)
    joins = graph.firing == "all"
    offered: Floats = graph.source_share
    if joins:  # each source emits every element
        offered = np.isin(np.arange(len(graph.names)), graph.sources).astype(np.float64)
    limits = np.ones(cluster.own_links + len(cluster.limited_uplinks))
    if cluster.network.kind == "free":
        limits[: cluster.own_links] = 0.0
    flow = Flow(
        source_tuples=offered * objective.source_rate,
        instructions=times.instructions,
        source=graph.stream_source,
        target=graph.stream_target,
        selectivity=np.ones(len(selectivity)) if joins else selectivity,
        bits=payload_bytes * 8.0,
        capacity=cluster.capacity * share,
        cores=np.array([float(device.cores) for device in cluster.devices]),
        nic=cluster.network.kind == "nic",
        gap_s=cluster.link_column("gap_s") * limits / share,
        seconds_per_bit=1e-6 / cluster.link_column("bandwidth_mbps") * limits / share,
        overhead_s=cluster.link_column("overhead_s") / share,
        operator_cores=graph.cores,
        up=cluster.uplinks_of_devices("up"),
        down=cluster.uplinks_of_devices("down"),
        overhead_s_per_bit=cluster.overhead_s_per_byte / 8 / share,
        timed=times.timed,
        timed_instructions=times.timed_instructions,
        class_of=times.class_of,
        stated=times.stated,
        egress=cluster.network.kind == "egress",
        multicast=get_args(Multicast).index(graph.multicast),
        joins=joins,
    )
    with np.errstate(over="ignore", invalid="ignore"):
        check_no_overflow(graph, flow.operator_tuples, flow.stream_tuples)
        check_no_overflow(graph, flow.work, flow.stream_bits)
    if objective.model != "bottleneck":
        check_sinks(flow)
    return flow


def check_sinks(flow: Flow) -> None:
    """Raise GraphError if no tuple ever reaches a sink."""
    if flow.nominal_sink_tuples < SMALLEST_NORMAL:
        raise GraphError("streams: no tuple ever reaches a sink")


def make_instance(flow: Flow, cluster: Cluster, feasibility: Feasibility) -> Instance:
    """Return the units of a problem for local search; loads are relative to the lower bound."""
    masks, row_of = feasibility.unit_masks
    return instance(
        flow,
        feasibility.unit_of,
        lowest_utilisation(flow),
        masks,
        row_of,
        feasibility.needs,
        feasibility.room,
        feasibility.excluding,
        feasibility.separating,
        np.array(cluster.group_of),
    )


def check_no_overflow(graph: StreamGraph, of_operators: Floats, of_streams: Floats) -> None:
    """Raise GraphError if a load, (V,) or (E,), is too large to compute with."""
    if all_within(of_operators, -HEAVIEST, HEAVIEST) and all_within(
        of_streams, -HEAVIEST, HEAVIEST
    ):
        return
    for v in np.flatnonzero(~(of_operators <= HEAVIEST)):
        raise GraphError(f"operators[{v}]: the load of {graph.names[v]!r} overflows")
    for e in np.flatnonzero(~(of_streams <= HEAVIEST)):
        stream = graph.streams[int(e)]
        raise GraphError(f"streams: the load of {stream.source!r} -> {stream.target!r} overflows")


class Times(NamedTuple):
    """The columns of a `streamplace.sim.flow.Flow` that come from times by kind of device.

    The table is empty if no operator has such times.
    """

    instructions: Floats  # (V,) per tuple; the mean over devices that can run it for timed ones
    timed: Ints  # (V,) row of each operator in the table, -1 for none; or (0,)
    timed_instructions: Floats  # (T, C) per tuple, inf for classes that cannot run an operator
    stated: Bools  # (T, C) whether the entry is a stated time
    class_of: Ints  # (D,) class of each device


def times_of(graph: StreamGraph, cluster: Cluster) -> Times:
    """Return the instructions per tuple of each operator on each class of devices.

    A time counts as seconds * MIPS * 10^6 * (cores that the operator uses) instructions. Devices of
    one class have the same kind, speed and cores. Unknown instructions count as 0: a `Problem` has
    only those that cannot matter.
    """
    instructions = np.where(np.isnan(graph.instructions), 0.0, graph.instructions)
    if not graph.seconds_on:
        none = np.zeros(0, np.int32), np.zeros((0, 0)), np.zeros((0, 0), np.bool_)
        return Times(instructions, *none, np.zeros(len(cluster.devices), np.int32))
    traits = [(device.kind, device.mips, device.cores) for device in cluster.devices]
    classes = list(dict.fromkeys(traits))
    class_of = np.array([classes.index(each) for each in traits], dtype=np.int32)
    timed = np.full(len(graph.names), -1, np.int32)
    table = np.full((len(graph.seconds_on), len(classes)), np.inf)
    stated = np.zeros(table.shape, np.bool_)
    for row, (v, seconds) in enumerate(graph.seconds_on.items()):
        timed[v] = row
        known, usable = float(instructions[v]), float(graph.cores[v])
        for c, (kind, mips, cores) in enumerate(classes):
            if kind is not None and kind in seconds:
                stated[row, c] = True
                time = seconds[kind]
                if time is not None:
                    table[row, c] = time * mips * 1e6 * min(usable, cores)
            elif graph.has_plain_work(v):
                table[row, c] = known
        possible = table[row, class_of][np.isfinite(table[row, class_of])]
        with np.errstate(over="ignore"):  # infinite loads are refused later
            instructions[v] = possible.mean() if len(possible) else 0.0
    return Times(instructions, timed, table, stated, class_of)
