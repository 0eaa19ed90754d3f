"""The workloads of the study: graphs of ours and released ones, and their devices."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any

from streamplace.families import Recipe
from streamplace.formats.documents import read_document
from streamplace.formats.logical_builder import resized
from streamplace.papers.studies import workloads
from streamplace.papers.studies.workloads import BaseWorkload
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan, with_published_semantics
from streamplace.problem.network import LinkOverride
from streamplace.problem.problem import Problem

GRAPHS = ("chain-mm", "ffnn", "transformer-block", "transformer-layer")
"""The workloads of the paper: ChainMM, FFNN, Llama's transformer block and its layer."""
OWN, RELEASED = "own", "released"
MIPS = 9.3e6  # of a device: 9.3 teraflops per second, the single precision of a P100
BANDWIDTH_MBPS = 8e4  # 10 GB/s
ROOM = 1.25  # memory of all devices over that of all outputs, where memory is limited
MESHES, SCARCE = "in two meshes", "and hardly any"
"""Variants of workloads, which were added to the plan later: the devices are two halves, with
slower links between them; and the limited memory is `SCARCE_ROOM`."""
SCARCE_ROOM = 1.01
MESH_NAMES = ("first", "second")
SLOWER_MBPS = BANDWIDTH_MBPS / 2  # of a link between the meshes
ALIKE = (OWN, "ffnn")
"""The source and the name of a graph that tells no informed placers apart: all end at 1.014 of the
best known makespan."""
FILES: Mapping[tuple[str, int], str] = {
    ("chain-mm", 4): "gdp_chain_mm_112nodes.txt",
    ("ffnn", 4): "ffnn_192nodes.txt",
    ("transformer-block", 4): "gdp_transformer_block_215nodes.txt",
    ("transformer-layer", 4): "full_transformer_layer_repaired.txt",
    ("transformer-block", 8): "8gpu_transformer_block.txt",
}
"""Workload and number of devices -> the released file without known faults."""


@dataclass(frozen=True)
class Workload(BaseWorkload):
    """A graph on equal devices.

    Parameters
    ----------
    source
        ``own``: our generator with true bytes; ``released``: a released file with its own costs.
    graph
        Name of our family, which the released graph has too.
    devices
        Number of devices, and of shards of our graphs.
    limited
        Whether operators keep the bytes of their outputs on devices with little memory.
    variant
        ``MESHES`` or ``SCARCE``; empty: none of them.
    """

    devices: int
    limited: bool = False
    variant: str = ""

    @property
    def name(self) -> str:
        """The name in keys of units and in tables."""
        limit = " with little memory" if self.limited else ""
        variant = f" {self.variant}" if self.variant else ""
        return f"{self.source} {self.graph} on {self.devices} devices{limit}{variant}"

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters as JSON values, without the variant of a workload that has none."""
        return {name: value for name, value in asdict(self).items() if value != ""}

    @property
    def per_second(self) -> float:
        """Factor from seconds of a makespan to the unit of tables: ms, or 1e10 released costs."""
        return 1e3 if self.source == OWN else 1e-10

    def problem(self, folder: str | None = None) -> Problem:
        """Return the problem of its makespan, with the messages of DOPPLER's simulator."""
        if self.source == OWN:
            graph, cluster = self._generated()
        else:
            assert folder is not None, "released workloads are planned with their folder"
            path = Path(folder) / FILES[self.graph, self.devices]
            found = read_document(str(path), "doppler")
            assert found.cluster is not None, "the reader returns a cluster"
            graph, cluster = found.graph, resized(found.cluster, self.devices)
        if self.limited:
            room = SCARCE_ROOM if self.variant == SCARCE else ROOM
            graph, cluster = _with_memory(graph, cluster, room)
        pair = with_published_semantics(graph, cluster, "doppler")
        return Problem(*pair, objective=Makespan())

    def _generated(self) -> tuple[StreamGraph, Cluster]:
        """Return the graph of our generator, and its devices."""
        graph = Recipe(f"{self.graph}:shards={self.devices}", 1).graph(0)
        meshes = MESH_NAMES if self.variant == MESHES else (None,)
        groups = [meshes[d * len(meshes) // self.devices] for d in range(self.devices)]
        devices = [Device(f"gpu{d}", MIPS, group=group) for d, group in enumerate(groups)]
        slower = tuple(
            LinkOverride(source_group=a, target_group=b, bandwidth_mbps=SLOWER_MBPS)
            for a, b in permutations(meshes, 2)
        )
        network = Network("free", bandwidth_mbps=BANDWIDTH_MBPS, overrides=slower)
        return graph, Cluster(devices, network)


def own_workloads(graphs: Sequence[str], devices: Sequence[int]) -> list[Workload]:
    """Return our workloads, those with little memory last."""
    free = [Workload(OWN, graph, count) for count in devices for graph in graphs]
    return [*free, *(Workload(OWN, graph, devices[0], limited=True) for graph in graphs)]


def further_workloads(graphs: Sequence[str], devices: Sequence[int]) -> list[Workload]:
    """Return our workloads that were added to the plan later."""
    few, many = devices[0], devices[-1]
    scarce = [Workload(OWN, graph, few, True, SCARCE) for graph in graphs]
    return [*scarce, *(Workload(OWN, graph, many, variant=MESHES) for graph in graphs)]


def released_workloads() -> list[Workload]:
    """Return the workloads of the released files."""
    return [Workload(RELEASED, *key) for key in FILES]


def file_hashes(folder: str) -> dict[str, str]:
    """Return a hash of each released file; see `workloads.file_hashes`."""
    advice = "--released needs the graphs that DOPPLER's authors released"
    return workloads.file_hashes(folder, list(FILES.values()), advice)


def _with_memory(graph: StreamGraph, cluster: Cluster, room: float) -> tuple[StreamGraph, Cluster]:
    """Return a graph whose operators keep the block that they compute, and smaller devices.

    Parameters
    ----------
    room
        Memory of all devices over that of all blocks.
    """
    kept = graph.payload_bytes
    of_device = room * float(kept.sum()) / len(cluster.devices)
    devices = [replace(device, memory_bytes=of_device) for device in cluster.devices]
    return graph.with_numbers(memory_bytes=kept)[0], Cluster(devices, cluster.network)
