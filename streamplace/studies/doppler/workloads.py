"""The workloads of the study: sharded graphs of our own, and the released ones."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from streamplace.errors import FormatError
from streamplace.files.reading import read_bytes
from streamplace.generate import Recipe
from streamplace.integrations.neural.devices import resized
from streamplace.integrations.registry import read_document
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from streamplace.problem.published import with_published_semantics

OWN, RELEASED = "own", "released"
MIPS = 9.3e6  # of a device: 9.3 teraflops per second, the single precision of a P100
BANDWIDTH_MBPS = 8e4  # 10 GB/s
ROOM = 1.25  # memory of all devices over that of all outputs, where memory is limited
FILES: Mapping[tuple[str, int], str] = {
    ("chain-mm", 4): "gdp_chain_mm_112nodes.txt",
    ("ffnn", 4): "ffnn_192nodes.txt",
    ("transformer-block", 4): "gdp_transformer_block_215nodes.txt",
    ("transformer-layer", 4): "full_transformer_layer_repaired.txt",
    ("transformer-block", 8): "8gpu_transformer_block.txt",
}
"""Workload and number of devices -> the released file without known faults."""


@dataclass(frozen=True)
class Workload:
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
    """

    source: str
    graph: str
    devices: int
    limited: bool = False

    @property
    def name(self) -> str:
        """The name in keys of units and in tables."""
        limit = " with little memory" if self.limited else ""
        return f"{self.source} {self.graph} on {self.devices} devices{limit}"

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        return asdict(self)

    @property
    def per_second(self) -> float:
        """Factor from seconds of a makespan to the unit of tables: ms, or 1e10 released costs."""
        return 1e3 if self.source == OWN else 1e-10

    def problem(self, folder: str | None = None) -> Problem:
        """Return the problem of its makespan, with the messages of DOPPLER's simulator.

        Parameters
        ----------
        folder
            The folder of the released files, which only these need.

        Raises
        ------
        FormatError
            If the file cannot be read.
        """
        if self.source == OWN:
            graph, cluster = _generated(self.graph, self.devices)
        else:
            assert folder is not None, "released workloads are planned with their folder"
            path = Path(folder) / FILES[self.graph, self.devices]
            found = read_document(str(path), "doppler")
            assert found.cluster is not None, "the reader returns a cluster"
            graph, cluster = found.graph, resized(found.cluster, self.devices)
        if self.limited:
            graph, cluster = _with_little_memory(graph, cluster)
        pair = with_published_semantics(graph, cluster, "doppler")
        return Problem(*pair, objective=Makespan())


def own_workloads(graphs: Sequence[str], devices: Sequence[int]) -> list[Workload]:
    """Return our workloads, those with little memory last."""
    free = [Workload(OWN, graph, count) for count in devices for graph in graphs]
    return [*free, *(Workload(OWN, graph, devices[0], limited=True) for graph in graphs)]


def released_workloads() -> list[Workload]:
    """Return the workloads of the released files."""
    return [Workload(RELEASED, *key) for key in FILES]


def file_hashes(folder: str) -> dict[str, str]:
    """Return a hash of each released file.

    Raises
    ------
    FormatError
        If the folder or files are missing or cannot be read.
    """
    if not Path(folder).is_dir():
        raise FormatError(f"{folder}: {'is not a' if Path(folder).exists() else 'no such'} folder")
    missing = [name for name in FILES.values() if not (Path(folder) / name).is_file()]
    if missing:
        advice = "--released needs the graphs that DOPPLER's authors released"
        raise FormatError(f"{folder}: has no {', '.join(missing)}; {advice}")
    paths = {name: Path(folder) / name for name in FILES.values()}
    return {name: sha256(read_bytes(path)).hexdigest()[:16] for name, path in paths.items()}


def _generated(graph: str, devices: int) -> tuple[StreamGraph, Cluster]:
    network = Network("free", bandwidth_mbps=BANDWIDTH_MBPS)
    cluster = Cluster([Device(f"gpu{d}", MIPS) for d in range(devices)], network)
    return Recipe(f"{graph}:shards={devices}", 1).graph(0), cluster


def _with_little_memory(graph: StreamGraph, cluster: Cluster) -> tuple[StreamGraph, Cluster]:
    """Return a graph whose operators keep the block that they compute, and smaller devices."""
    kept = graph.payload_bytes
    room = ROOM * float(kept.sum()) / len(cluster.devices)
    devices = [replace(device, memory_bytes=room) for device in cluster.devices]
    return graph.with_numbers(memory_bytes=kept)[0], Cluster(devices, cluster.network)
