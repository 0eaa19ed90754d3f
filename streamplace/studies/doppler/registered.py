"""The registered plan of the study: sizes, systems and workloads, fixed before it was run."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from streamplace.generate import Recipe
from streamplace.integrations.neural.devices import resized
from streamplace.integrations.registry import read_document
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from streamplace.problem.published import with_published_semantics
from streamplace.studies import workloads
from streamplace.studies.workloads import BaseWorkload

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
    """

    devices: int
    limited: bool = False

    @property
    def name(self) -> str:
        """The name in keys of units and in tables."""
        limit = " with little memory" if self.limited else ""
        return f"{self.source} {self.graph} on {self.devices} devices{limit}"

    @property
    def per_second(self) -> float:
        """Factor from seconds of a makespan to the unit of tables: ms, or 1e10 released costs."""
        return 1e3 if self.source == OWN else 1e-10

    def problem(self, folder: str | None = None) -> Problem:
        """Return the problem of its makespan, with the messages of DOPPLER's simulator."""
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
    """Return a hash of each released file; see `workloads.file_hashes`."""
    advice = "--released needs the graphs that DOPPLER's authors released"
    return workloads.file_hashes(folder, list(FILES.values()), advice)


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


GRAPHS = ("chain-mm", "ffnn", "transformer-block", "transformer-layer")
"""The workloads of the paper: ChainMM, FFNN, Llama's transformer block and its layer."""


def _of_each(*values: float) -> dict[str, float]:
    return dict(zip(GRAPHS, values, strict=True))


TABLE_2 = {
    "one device": _of_each(439.9, 148.5, 462.8, 483.2),
    "critical path, best of 50": _of_each(230.4, 217.8, 230.9, 292.6),
    "Placeto": _of_each(137.1, 126.3, 411.5, 295.1),
    "Placeto, pre-trained": {"ffnn": 99.0},
    "EnumerativeOptimizer": _of_each(139.0, 50.2, 172.7, 174.8),
    "DOPPLER": _of_each(122.5, 49.9, 191.5, 167.0),
    "SEL only": _of_each(127.0, 59.1, 175.6, 161.7),
    "PLC only": _of_each(121.6, 63.2, 172.9, 159.5),
    "messages at every step": {"chain-mm": 121.7},
}
"""Four P100; DOPPLER is Doppler-SIM, which stops before the stage of measured times. The last three
rows are the paper's ablations (Table 6 for messages at every step)."""

EIGHT_GPUS = {
    "critical path, best of 50": _of_each(69.6, 50.0, 117.6, 105.4),
    "EnumerativeOptimizer": _of_each(33.5, 20.0, 109.6, 97.5),
    "DOPPLER": _of_each(32.1, 16.2, 109.7, 90.6),
}
"""Eight V100; DOPPLER is Doppler-SYS, with the stage of measured times."""

PUBLISHED_DEVICES = 4
"""Number of devices in most experiments, among them the transfers."""

BY_DEVICES = {4: TABLE_2, 8: EIGHT_GPUS}
"""Number of devices -> system -> workload -> milliseconds."""

MEMORY = {
    "EnumerativeOptimizer": _of_each(133.5, 49.2, 233.8, 172.8),
    "DOPPLER": _of_each(122.6, 46.0, 190.2, 154.0),
}
"""Four P100 of which 8 GB may be used; DOPPLER is Doppler-SYS."""

TRANSFER = {
    ("ffnn", "transformer-block"): (251.0, 165.3, 159.4),
    ("chain-mm", "transformer-block"): (242.3, 184.9, 174.0),
    ("ffnn", "transformer-layer"): (206.1, 158.2, 155.8),
    ("chain-mm", "transformer-layer"): (338.2, 164.4, 156.4),
}
"""Trained on, placed -> milliseconds without episodes on the target, after 2,000 and 4,000."""

BARRIER = {"chain-mm": (139.0, 185.3), "ffnn": (50.2, 76.9)}
"""Table 1: EnumerativeOptimizer without and with a barrier between levels."""


DOPPLER = "DOPPLER"
RELEASED_CODE = "DOPPLER, settings of the released code"
SEL_ONLY, PLC_ONLY = "SEL only", "PLC only"
WITHOUT_IMITATION = "without imitation"
OF_SEARCH = "imitation of search"
EVERY_STEP = "messages at every step"
IMITATION_ONLY = "imitation only"
"""It is read from the results of DOPPLER, before their first simulated episode."""
EPSILON_GREEDY = "ε-greedy choices"
PLACETO, PRETRAINED = "Placeto", "Placeto, pre-trained"

SIZES: Mapping[str, Mapping[str, Any]] = {
    DOPPLER: {},
    RELEASED_CODE: {},
    SEL_ONLY: {"variant": "sel-only"},
    PLC_ONLY: {"variant": "plc-only"},
    WITHOUT_IMITATION: {},
    OF_SEARCH: {},
    EPSILON_GREEDY: {},
    EVERY_STEP: {"per_step": True},
}
"""The sizes of the policy of each system of the kind ``doppler``."""
SYSTEMS = (*SIZES, PLACETO, PRETRAINED)
ONLY_ON = {EVERY_STEP: "chain-mm"}
"""Systems that are trained on one graph only, because they take long."""


@dataclass(frozen=True)
class Registered:
    """The size of the study.

    Parameters
    ----------
    graphs
        Our families.
    devices
        Numbers of devices; everything but DOPPLER and the plain placers runs on the first only.
    seeds
        Training seeds of every policy.
    imitation_epochs, imitation_samples
        Updates of the first stage, and episodes of each.
    search_epochs
        Updates of the imitation of search, with one placement each.
    simulation_epochs, simulation_samples
        Updates of the second stage, and episodes of each.
    larger_samples
        Episodes of an update of the second stage on more devices than the first number, where
        graphs have four times as many operators and an episode takes fifteen times as long.
    released_imitation_epochs, released_simulation_epochs
        Updates with the settings of the released code, with eight episodes each.
    every_step_epochs
        Updates of the second stage with messages at every step; an episode takes some 25 times as
        long.
    transfer_epochs
        Updates of the second stage on another workload.
    every
        Simulated episodes between two checkpoints.
    repeats
        Runs of a placer with random choices.
    longer
        Factor of the evaluations of the search that stands for the best known.
    """

    graphs: tuple[str, ...] = GRAPHS
    devices: tuple[int, ...] = (4, 8)
    seeds: int = 3
    imitation_epochs: int = 30
    imitation_samples: int = 8
    search_epochs: int = 150
    simulation_epochs: int = 125
    simulation_samples: int = 32
    larger_samples: int = 8
    released_imitation_epochs: int = 250
    released_simulation_epochs: int = 500
    every_step_epochs: int = 32
    transfer_epochs: int = 62
    every: int = 1000
    repeats: int = 20
    longer: int = 100

    def samples(self, devices: int) -> int:
        """Return the episodes of an update of the second stage on a number of devices."""
        return self.simulation_samples if devices == self.devices[0] else self.larger_samples

    def evaluations(self, devices: int) -> int:
        """Return the simulated episodes of a training on a number of devices.

        Climb, search and Placeto have as many evaluations.
        """
        return self.simulation_epochs * self.samples(devices)

    def settings(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        evaluations = [self.evaluations(count) for count in self.devices]
        return {**asdict(self), "evaluations": evaluations, "systems": list(SYSTEMS)}


FULL = Registered()
QUICK = Registered(
    graphs=("chain-mm",),
    devices=(2,),
    seeds=1,
    imitation_epochs=4,
    search_epochs=4,
    simulation_epochs=4,
    released_imitation_epochs=4,
    released_simulation_epochs=4,
    every_step_epochs=2,
    transfer_epochs=2,
    every=64,
    repeats=3,
)
