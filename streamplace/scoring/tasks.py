"""Conversion of problems to the task graphs that `sim.schedule` works on."""

import numpy as np

from sim.flow import run_down
from sim.schedule.task_graph import ALL, DEVICE, EGRESS, FREE, NIC, NONE, PAIR, TaskGraph
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.network import NetworkKind
from streamplace.problem.semantics import Multicast
from streamplace.scoring.arrays import check_loads
from streamplace.util.arrays import Floats, Ints

NETWORKS: dict[NetworkKind, int] = {"free": FREE, "egress": EGRESS, "pair": PAIR, "nic": NIC}
MULTICASTS: dict[Multicast, int] = {"none": NONE, "device": DEVICE, "all": ALL}


def make_tasks(graph: StreamGraph, cluster: Cluster, objective: Makespan) -> TaskGraph:
    """Return one pass of a graph on a cluster as a task graph.

    Raises
    ------
    GraphError
        If loads overflow.
    """
    tuples, on_stream = tuples_of_pass(graph, objective.batch)
    with np.errstate(over="ignore", invalid="ignore"):
        check_loads(graph, tuples, on_stream)
        # NaN: unknown, and either replaced by a time (see `_measured`) or without effect
        work = np.nan_to_num(graph.instructions) * tuples
        bits = np.nan_to_num(graph.stream_payload_bytes) * 8.0 * on_stream
        check_loads(graph, work, bits)
    rows, table, kinds = _measured(graph, cluster, tuples)
    silent = on_stream == 0.0
    if objective.inputs_everywhere:
        is_source = np.bincount(graph.stream_target, minlength=len(tuples)) == 0
        silent |= is_source[graph.stream_source]
    devices, is_nic = cluster.devices, cluster.network.kind == "nic"
    rate, latency, gap, overhead = (
        cluster.link_column(name) for name in ("bandwidth_mbps", "latency_s", "gap_s", "overhead_s")
    )
    rate = rate * 1e6
    count = len(devices)
    sides = (rate[count:], gap[count:]) if is_nic else (np.zeros(0), np.zeros(0))
    overhead_in = overhead
    if is_nic:
        rate, gap, overhead_in = rate[:count], gap[:count], np.tile(overhead[count:], count)
        latency = np.maximum.outer(latency[:count], latency[count:]).ravel()
        rate, gap, overhead = (np.repeat(each, count) for each in (rate, gap, overhead[:count]))
    links = [rate, latency, gap, overhead, overhead_in]
    if all((column == column[0]).all() for column in links):
        links = [column[:1].copy() for column in links]
    return TaskGraph(
        work=work,
        cores=graph.cores.astype(np.int32),
        source=graph.stream_source,
        target=graph.stream_target,
        bits=bits,
        silent=silent,
        speed=np.array([device.mips * 1e6 for device in devices]),
        device_cores=np.array([device.cores for device in devices], np.int32),
        startup_s=np.array([device.startup_s for device in devices]),
        kind=kinds,
        measured_row=rows,
        measured_s=table,
        network=NETWORKS[cluster.network.kind],
        multicast=MULTICASTS[graph.multicast],
        rate=links[0],
        latency_s=links[1],
        gap_s=links[2],
        overhead_s=links[3],
        overhead_in_s=links[4],
        overhead_s_per_bit=cluster.overhead_s_per_byte / 8.0,
        rate_in=sides[0].copy(),
        gap_in_s=sides[1].copy(),
        barrier=objective.barrier,
    )


def tuples_of_pass(graph: StreamGraph, batch: int) -> tuple[Floats, Floats]:
    """Return the tuples of each operator, (V,), and of each stream, (E,), in one pass.

    With `firing` ``all``, that is the batch for each of them. Otherwise sources share the batch,
    and operators emit tuples by their selectivities.
    """
    operators, streams = len(graph.names), len(graph.stream_source)
    if graph.firing == "all":
        return np.full(operators, float(batch)), np.full(streams, float(batch))
    ends = graph.stream_source, graph.stream_target
    with np.errstate(over="ignore", invalid="ignore"):
        selectivity = np.nan_to_num(graph.selectivity)  # unknown only where it cannot matter
        tuples = run_down(graph.source_share * float(batch), *ends, selectivity)
        return tuples, tuples[graph.stream_source] * selectivity


def _measured(graph: StreamGraph, cluster: Cluster, tuples: Floats) -> tuple[Ints, Floats, Ints]:
    """Return the operators' rows in the table of measured times, the table, and devices' kinds.

    The parts are `measured_row`, `measured_s` and `kind` of `TaskGraph`.
    """
    kinds = list(dict.fromkeys(device.kind for device in cluster.devices))
    number = np.array([kinds.index(device.kind) for device in cluster.devices], np.int32)
    rows = np.full(len(graph.names), -1, np.int32)
    table = np.full((len(graph.seconds_on), len(kinds)), np.nan)
    for row, (v, seconds) in enumerate(graph.seconds_on.items()):
        rows[v] = row
        known = graph.has_plain_work(v)
        for k, kind in enumerate(kinds):
            time = None if kind is None else seconds.get(kind)
            if time is not None:
                table[row, k] = time * tuples[v]
            elif not seconds.runs_on(kind, with_instructions=known):
                table[row, k] = np.inf
    return rows, table, number
