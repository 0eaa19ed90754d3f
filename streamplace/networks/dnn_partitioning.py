"""Readers of the workloads of dnn-partitioning (Tarnawski et al., NeurIPS 2020), JSON.

A file has nodes with times on an accelerator and on a CPU, edges with times of transfer, all in
milliseconds, and the numbers of devices. Nodes of one colour class stay together. Files for
training also have the nodes of the backward pass.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from streamplace.errors import FormatError
from streamplace.files.reading import check, parse
from streamplace.files.schema import ForeignForm, Number
from streamplace.formats.format import Format, Signs
from streamplace.formats.logical_builder import MIPS
from streamplace.problem.cluster import MAX_DEVICES, Cluster, Device, Network
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.graph_checks import Multicast
from streamplace.problem.logical import LogicalGraph

ACCELERATOR, CPU = "accelerator", "cpu"
BYTES_PER_MS = 1e6
"""Bytes of a message that takes a millisecond at 8000 Mbit/s, or at 1e-9 s of CPU time per byte."""
OVERHEAD_S_PER_BYTE = 1e-9
Count = Annotated[int, Field(ge=0, le=MAX_DEVICES)]


class NodeForm(ForeignForm):
    """An operator; times are in ms and its size in bytes."""

    id: int
    name: str | int | None = None
    on_cpu: Number = Field(alias="cpuLatency")
    on_accelerator: Number = Field(alias="fpgaLatency")
    supported: bool | int = Field(True, alias="supportedOnFpga")
    colour: int | None = Field(None, alias="colorClass")
    size: Number = 0.0


class EdgeForm(ForeignForm):
    """A stream, and the ms that it takes to transfer."""

    source: int = Field(alias="sourceId")
    target: int = Field(alias="destId")
    cost: Number


class WorkloadForm(ForeignForm):
    """A file."""

    memory: Number = Field(alias="maxSizePerFPGA")
    accelerators: Count = Field(alias="maxFPGAs")
    cpus: Count = Field(alias="maxCPUs")
    nodes: list[NodeForm] = Field(min_length=1)
    edges: list[EdgeForm]


def read(text: str, where: str) -> LogicalGraph:
    """Read a workload for throughput.

    An accelerator spends the time of a transfer once for each operator whose result it sends, and
    once for each whose result it receives; a CPU spends none. The largest utilisation divided by
    the source rate is the published load of the busiest device, in seconds.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If it is not a graph without cycles.
    """
    form = check(WorkloadForm, parse(text, where), where)
    network = Network("free", bandwidth_mbps=None, latency_s=0.0)
    return _workload(form, where, "all", _cluster(form, form.cpus, network, OVERHEAD_S_PER_BYTE))


def read_latency(text: str, where: str) -> LogicalGraph:
    """Read a workload for the latency of one pass: each stream takes its time on a link.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If it is not a graph without cycles.
    """
    form = check(WorkloadForm, parse(text, where), where)
    cpus = min(form.cpus, 1)
    notes = []
    if form.cpus > cpus:
        notes = [f"the cluster has {cpus} CPU, although maxCPUs is {form.cpus}"]
    network = Network("free", bandwidth_mbps=8 * BYTES_PER_MS / 1000.0, latency_s=0.0)
    return _workload(form, where, "none", _cluster(form, cpus, network), notes)


def _workload(
    form: WorkloadForm,
    where: str,
    multicast: Multicast,
    cluster: Cluster,
    notes: Sequence[str] = (),
) -> LogicalGraph:
    names = _names(form.nodes, where)
    costs = _costs(form.edges, names, where)
    colours: dict[int, list[str]] = {}
    for node in form.nodes:
        if node.colour is not None:
            colours.setdefault(node.colour, []).append(names[node.id])
    payload: dict[int, float] = {}
    for (source, _), cost in costs.items():
        payload[source] = max(payload.get(source, 0.0), cost * BYTES_PER_MS)
    graph = StreamGraph(
        [_operator(node, names[node.id], payload.get(node.id, 0.0)) for node in form.nodes],
        [
            Stream(names[source], names[target], payload_bytes=cost * BYTES_PER_MS)
            for (source, target), cost in costs.items()
        ],
        constraints=Constraints(colocate=[group for group in colours.values() if len(group) > 1]),
        firing="all",
        multicast=multicast,
    )
    return LogicalGraph(graph, notes=notes, cluster=cluster)


def _operator(node: NodeForm, name: str, payload_bytes: float) -> Operator:
    seconds: dict[str, float | None] = {CPU: node.on_cpu / 1000.0}
    seconds[ACCELERATOR] = node.on_accelerator / 1000.0 if node.supported else None
    return Operator(name, UNKNOWN, payload_bytes, node.size, seconds_on=seconds)


def _names(nodes: Sequence[NodeForm], where: str) -> dict[int, str]:
    """Return id -> name; nodes without a name, or with that of another node, get their id."""
    texts = ["" if node.name is None else str(node.name) for node in nodes]
    count = Counter(texts)
    names: dict[int, str] = {}
    for i, (node, text) in enumerate(zip(nodes, texts, strict=True)):
        if node.id in names:
            raise FormatError(f"{where}: nodes[{i}].id: {node.id} appears twice")
        unique = text and count[text] == 1
        names[node.id] = text if unique else f"{text}#{node.id}"
    return names


def _costs(
    edges: Sequence[EdgeForm], names: Mapping[int, str], where: str
) -> dict[tuple[int, int], float]:
    """Return the ends of each edge -> its cost in ms; an edge that appears twice counts once."""
    costs: dict[tuple[int, int], float] = {}
    for i, edge in enumerate(edges):
        for field, end in (("sourceId", edge.source), ("destId", edge.target)):
            if end not in names:
                raise FormatError(f"{where}: edges[{i}].{field}: unknown node {end}")
        ends = edge.source, edge.target
        if costs.setdefault(ends, edge.cost) != edge.cost:
            raise FormatError(
                f"{where}: edges[{i}].cost: {edge.cost:g} differs from {costs[ends]:g}, which the "
                "same edge has before"
            )
    return costs


def _cluster(
    form: WorkloadForm, cpus: int, network: Network, overhead_s_per_byte: float | None = None
) -> Cluster:
    """Return the devices: accelerators, which limit memory, and CPUs, which do not."""
    no_overhead = None if overhead_s_per_byte is None else 0.0
    return Cluster(
        [
            Device(
                f"{ACCELERATOR}{i}",
                MIPS,
                memory_bytes=form.memory,
                kind=ACCELERATOR,
                overhead_s_per_byte=overhead_s_per_byte,
            )
            for i in range(form.accelerators)
        ]
        + [
            Device(f"{CPU}{i}", MIPS, kind=CPU, overhead_s_per_byte=no_overhead)
            for i in range(cpus)
        ],
        network,
    )


THROUGHPUT = Format(
    "dnn-partitioning",
    about="msr-fiddle/dnn-partitioning: a workload for throughput, JSON, with a cluster",
    read=read,
    signs=Signs(fields=(frozenset({"nodes[].id", "maxFPGAs"}),)),
    has_cluster=True,
)
LATENCY = Format(  # its files look the same
    "dnn-latency",
    about="msr-fiddle/dnn-partitioning: a workload for latency, JSON, with a cluster",
    read=read_latency,
    has_cluster=True,
)
