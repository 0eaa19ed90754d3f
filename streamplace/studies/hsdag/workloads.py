"""The workloads of the study: our networks, and released graphs of other authors."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

from streamplace.errors import FormatError, GraphError
from streamplace.files.datasets import read_graph
from streamplace.files.reading import read_bytes
from streamplace.integrations.neural.devices import MIPS
from streamplace.integrations.neural.problems import problem_of_file
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from streamplace.problem.seconds import NO_SECONDS

CPU, ACCELERATOR = "cpu", "accelerator"
"""Kinds of device."""
LAUNCH_S = 10e-6
"""Seconds to launch an operator on the accelerator."""

_PRODUCTS = ("convolution", "addmm", "bmm", "mm", "scaled_dot_product_attention")
_NORMALISATION = ("_native_batch_norm_legit_no_training", "native_layer_norm", "_softmax")
_POOLING = ("max_pool2d_with_indices", "avg_pool2d", "_adaptive_avg_pool2d", "mean")
_ELEMENTWISE = ("add", "mul", "relu", "gelu", "tanh", "ge", "where")
_DATA = ("arange", "cat", "clone", "embedding", "full", "gather", "scalar_tensor")
RATIOS: Mapping[str, float] = {
    **dict.fromkeys(_PRODUCTS, 12.0),
    **dict.fromkeys((*_NORMALISATION, *_POOLING), 4.0),
    **dict.fromkeys(_ELEMENTWISE, 3.0),
    **dict.fromkeys(_DATA, 1.0),
}
"""ATen operator -> its speed on the accelerator relative to the CPU, without the launch.

The mean of an image's positions is its pooling.
"""


def with_accelerator(graph: StreamGraph, ratio_scale: float = 1.0) -> StreamGraph:
    """Return a graph whose `seconds_on` also has the times on an accelerator.

    An operator takes its CPU time divided by the ratio of its type and by `ratio_scale`, and
    `LAUNCH_S` more.

    Parameters
    ----------
    graph
        A graph with a type and a measured time on kind ``cpu`` for every operator.
    ratio_scale
        Factor of all ratios, for a test of how sensitive results are to them.

    Raises
    ------
    GraphError
        If an operator has no CPU time, or a type without a ratio, or the factor is not a positive
        number.
    """
    if not 0 < ratio_scale < inf:
        raise GraphError(f"ratio_scale: must be a positive number (got {ratio_scale})")
    seconds: dict[int, dict[str, float]] = {}
    for v, name in enumerate(graph.names):
        on_cpu = graph.seconds_on.get(v, NO_SECONDS).get(CPU)
        if on_cpu is None:
            raise GraphError(f"operator {name!r:.40} has no time on kind {CPU!r}; measure it first")
        kind = graph.type.get(v, "")
        if kind not in RATIOS:
            raise GraphError(
                f"operator {name!r:.40}: no ratio for the type {kind!r:.40}; add it to "
                "streamplace.studies.hsdag.workloads"
            )
        on_accelerator = on_cpu / (RATIOS[kind] * ratio_scale) + LAUNCH_S
        seconds[v] = {CPU: on_cpu, ACCELERATOR: on_accelerator}
    return graph.with_numbers(seconds_on=seconds)[0]


NETWORKS = ("resnet50", "inception-v3", "bert-base")
RATIO_SCALES = (0.5, 1.0, 2.0)
"""Factors of the ratios between the devices: the registered ones, and half and twice as much."""
BANDWIDTH_MBPS = 96_000.0
"""12 GB/s in each direction."""
LATENCY_S = 20e-6


def network_graph(name: str) -> StreamGraph:
    """Return a network's graph, which comes with streamplace and has measured CPU times.

    Raises
    ------
    FormatError
        If there is no such network.
    """
    return read_graph(f"dataset:networks/{name}.json")


def network_problem(name: str, ratio_scale: float = 1.0) -> Problem:
    """Return the problem of one pass through a network on a CPU and an accelerator.

    Device 0 is the CPU. A result is sent to the other device once, however many operators there
    read it, and messages in the same direction wait for each other.

    Parameters
    ----------
    name
        One of `NETWORKS`.
    ratio_scale
        See `with_accelerator`.

    Raises
    ------
    FormatError
        If there is no such network.
    GraphError
        If `ratio_scale` is not a positive number.
    """
    graph = with_accelerator(network_graph(name), ratio_scale)
    return Problem(graph, two_devices(), objective=Makespan())


def two_devices() -> Cluster:
    """Return the CPU and the accelerator, with the links between them."""
    network = Network("pair", bandwidth_mbps=BANDWIDTH_MBPS, latency_s=LATENCY_S)
    return Cluster([Device(kind, MIPS, kind=kind) for kind in (CPU, ACCELERATOR)], network)


OWN, DNN, PIPEDREAM = "own", "dnn-partitioning", "pipedream"
FILES: Mapping[str, tuple[str, str]] = {
    "layer-gnmt_training": (DNN, "dnn/throughput/layer-gnmt_training.json"),
    "layer-inceptionv3_inference": (DNN, "dnn/throughput/layer-inceptionv3_inference.json"),
    "layer-inceptionv3_training": (DNN, "dnn/throughput/layer-inceptionv3_training.json"),
    "layer-resnet50_inference": (DNN, "dnn/throughput/layer-resnet50_inference.json"),
    "layer-resnet50_training": (DNN, "dnn/throughput/layer-resnet50_training.json"),
    "bert_l_12_training": (DNN, "dnn/throughput/operator-bert_l_12_training.json"),
    "inception_v3": (PIPEDREAM, "pipedream/inception_v3.txt"),
    "nasnetamobile": (PIPEDREAM, "pipedream/nasnetamobile.txt"),
}
"""Released graphs on which one device is not nearly best -> who released them, and the file."""
FORMATS = {DNN: "dnn-latency", PIPEDREAM: "pipedream"}
ACCELERATORS = 6  # on which PipeDream's graphs are placed; they have no times of a CPU


@dataclass(frozen=True)
class Workload:
    """One pass through a network on its devices.

    Parameters
    ----------
    source
        ``own``: a network with measured times; otherwise who released the graph.
    graph
        The name of the network or graph.
    scale
        Factor of the ratios between CPU and accelerator; 1 for released graphs.
    """

    source: str
    graph: str
    scale: float = 1.0

    @property
    def name(self) -> str:
        """The name in keys of units and in tables."""
        return f"{self.graph}, ratios x {self.scale:g}" if self.source == OWN else self.graph

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        return asdict(self)

    def problem(self, folder: str | None = None) -> Problem:
        """Return the problem.

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
            return network_problem(self.graph, self.scale)
        assert folder is not None, "released graphs are planned with their folder"
        devices = ACCELERATORS if self.source == PIPEDREAM else None
        path = Path(folder) / FILES[self.graph][1]
        return problem_of_file(path, FORMATS[self.source], devices)


def own_workloads(networks: Sequence[str], scales: Sequence[float]) -> list[Workload]:
    """Return our networks with every scale of the ratios."""
    return [Workload(OWN, network, scale) for scale in scales for network in networks]


def released_workloads() -> list[Workload]:
    """Return the released graphs."""
    return [Workload(source, graph) for graph, (source, _) in FILES.items()]


def file_hashes(folder: str) -> dict[str, str]:
    """Return a hash of each released file.

    Raises
    ------
    FormatError
        If the folder or files in it are missing or cannot be read.
    """
    advice = "--data needs the graphs of dnn-partitioning and PipeDream, see docs/studies.md"
    if not Path(folder).is_dir():
        raise FormatError(f"{folder}: is not a folder; {advice}")
    files = [file for _, file in FILES.values()]
    missing = [name for name in files if not (Path(folder) / name).is_file()]
    if missing:
        raise FormatError(f"{folder}: has no {', '.join(missing)}; {advice}")
    return {name: sha256(read_bytes(Path(folder) / name)).hexdigest()[:16] for name in files}
