"""The registered plan of the study: sizes, systems and workloads, fixed before it was run."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from streamplace.errors import GraphError
from streamplace.files.datasets import read_graph
from streamplace.formats.documents import problem_of_file
from streamplace.formats.logical_builder import MIPS
from streamplace.papers.studies import workloads
from streamplace.papers.studies.workloads import BaseWorkload
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from streamplace.problem.seconds import NO_SECONDS

CPU, ACCELERATOR = "cpu", "accelerator"
"""Kinds of device."""
LAUNCH_S = 10e-6
"""Seconds to launch an operator on the accelerator."""

RATIO_SCALES: Mapping[str, float] = {"resnet50": 0.2277, "inception-v3": 0.1466, "bert-base": 0.245}
"""Network -> the factor of the ratios with which the accelerator alone is as far below the CPU as
published: 51.2%, 6.25% and 56.6%. With a factor of 1, it is 85% to 89% below, so that hardly any
placement is better than the accelerator alone."""

BANDWIDTH_MBPS = 96_000.0
"""12 GB/s in each direction."""

LATENCY_S = 20e-6
NETWORKS = tuple(RATIO_SCALES)
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
CPU_ONLY, ACCELERATOR_ONLY = "CPU only", "accelerator only"
HSDAG, PLACETO, RNN = "HSDAG", "Placeto", "RNN"
NO_SIZE, NO_POSITION, NO_STRUCTURE = "without sizes", "without positions", "without structure"
METIS_GROUPS, HEAVY_GROUPS = "METIS groups", "heavy-edge groups"
PLACETO_LONGER = "Placeto, 4,000 sweeps"
UNIFORM = "uniformly random sweeps"
"""The control of Placeto: as many sweeps, in which each device is drawn uniformly at random."""

LONGER_ON = (
    "resnet50",
    "inception-v3",
    "layer-resnet50_inference",
    "layer-gnmt_training",
    "inception_v3",
)
"""The graphs of that system, two of each source that have at most `Registered.longest` operators
(PipeDream has one)."""

FEATURES = ("type", "size", "degree", "fractal", "position", "cost")
SHAPED = [name.replace("size", "shape") for name in FEATURES]
UNTRAINED = "without learning"
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
                "streamplace.papers.hsdag.study.registered"
            )
        on_accelerator = on_cpu / (RATIOS[kind] * ratio_scale) + LAUNCH_S
        seconds[v] = {CPU: on_cpu, ACCELERATOR: on_accelerator}
    return graph.with_numbers(seconds_on=seconds)[0]


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


@dataclass(frozen=True)
class Workload(BaseWorkload):
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

    scale: float = 1.0

    @property
    def name(self) -> str:
        """The name in keys of units and in tables."""
        return f"{self.graph}, ratios x {self.scale:g}" if self.source == OWN else self.graph

    def problem(self, folder: str | None = None) -> Problem:
        """Return the problem of its makespan; see `BaseWorkload.problem`."""
        if self.source == OWN:
            return network_problem(self.graph, self.scale)
        assert folder is not None, "released graphs are planned with their folder"
        devices = ACCELERATORS if self.source == PIPEDREAM else None
        path = Path(folder) / FILES[self.graph][1]
        return problem_of_file(path, FORMATS[self.source], devices)


def own_workloads(networks: Sequence[str]) -> list[Workload]:
    """Return our networks with the published relation of the devices."""
    return [Workload(OWN, network, RATIO_SCALES[network]) for network in networks]


def released_workloads() -> list[Workload]:
    """Return the released graphs."""
    return [Workload(source, graph) for graph, (source, _) in FILES.items()]


def file_hashes(folder: str) -> dict[str, str]:
    """Return a hash of each released file; see `workloads.file_hashes`."""
    advice = "--data needs the graphs of dnn-partitioning and PipeDream, see docs/hsdag.md"
    return workloads.file_hashes(folder, [file for _, file in FILES.values()], advice)


def _of_each(inception: float, resnet: float, bert: float | None) -> dict[str, float | None]:
    return {"inception-v3": inception, "resnet50": resnet, "bert-base": bert}


MILLISECONDS: Mapping[str, Mapping[str, float | None]] = {
    CPU_ONLY: _of_each(12.8, 16.0, 6.38),
    ACCELERATOR_ONLY: _of_each(12.0, 7.81, 2.77),
    "OpenVINO, CPU first": _of_each(12.8, 23.4, 6.57),
    "OpenVINO, accelerator first": _of_each(13.8, 8.76, 2.84),
    PLACETO: _of_each(11.6, 9.32, 6.51),
    RNN: _of_each(12.8, 8.75, None),
    HSDAG: _of_each(10.5, 7.66, 2.67),
}
"""Table 2: system -> network -> latency in ms; the RNN had too little memory for BERT-base."""

ABLATION: Mapping[str, Mapping[str, float | None]] = {
    HSDAG: _of_each(17.9, 52.1, 58.2),
    NO_SIZE: _of_each(8.59, 52.0, 56.4),
    NO_POSITION: _of_each(8.59, 52.0, 56.4),
    NO_STRUCTURE: _of_each(14.8, 52.1, 58.2),
}
"""Variant -> network -> the share in percent by which the latency is below that of the CPU."""

SEARCH_S: Mapping[str, Mapping[str, float | None]] = {
    HSDAG: _of_each(2454.0, 1047.0, 2765.0),
    PLACETO: _of_each(2808.0, 1162.0, 4512.0),
    RNN: _of_each(3706.0, 1212.0, None),
}
"""Seconds of search, measurements of latencies included."""


def below_cpu(system: str, network: str) -> float | None:
    """Return the published share in percent by which a latency is below that of the CPU."""
    own = MILLISECONDS.get(system, {}).get(network)
    cpu = MILLISECONDS[CPU_ONLY].get(network)
    return None if own is None or cpu is None else 100.0 * (1.0 - own / cpu)


@dataclass(frozen=True)
class Variant:
    """How a policy differs from HSDAG as the placer `hsdag` trains it.

    Parameters
    ----------
    sizes
        Other sizes of the policy, by name; see `papers.hsdag.sizes.HsdagSizes`.
    stage
        Other keys of the training stage; see `papers.hsdag.stage.HsdagStage`.
    options
        Other options of the placer.
    """

    sizes: Mapping[str, Any] = field(default_factory=dict)
    stage: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, float] = field(default_factory=dict)


def _without(*features: str) -> Variant:
    return Variant({"features": [name for name in FEATURES if name not in features]})


ABLATIONS: Mapping[str, Variant] = {
    NO_SIZE: _without("size"),
    NO_POSITION: _without("position"),
    NO_STRUCTURE: _without("degree", "fractal"),
    # steps of Adam at this rate are lost in rounding
    UNTRAINED: Variant(options={"rate": 1e-20}),
    "training of the paper": Variant(
        {"features": SHAPED, "dropout": 0.2, "pooling": "sum"},
        {"optimiser_steps": 4},
        {"rate": 1e-4, "episodes": 100, "samples": 1},
    ),
}
"""Variants of HSDAG that are trained on our networks."""


@dataclass(frozen=True)
class Registered:
    """The size of the study.

    Parameters
    ----------
    networks
        Our networks.
    ablations
        Names of variants, see `ABLATIONS`.
    seeds
        Training seeds of HSDAG and of the same policy with other groups, and repeats of placers
        with random choices.
    other_seeds
        Training seeds of Placeto and of the RNN placer, which takes minutes.
    episodes, samples, steps
        Updates of a training, the episodes of each, and their steps: 100 episodes of 20 steps.
    rnn_samples
        Placements of an update of the RNN placer.
    longest
        Operators up to which Placeto and the RNN placer are trained on released graphs.
    longer
        Factor of the evaluations of the search that stands for the best known.
    longer_sweeps
        Sweeps of Placeto with the settings by which DOPPLER was compared with it.
    """

    networks: tuple[str, ...] = NETWORKS
    ablations: tuple[str, ...] = tuple(ABLATIONS)
    seeds: int = 5
    other_seeds: int = 2
    episodes: int = 25
    samples: int = 4
    steps: int = 20
    rnn_samples: int = 20
    longest: int = 400
    longer: int = 100
    longer_sweeps: int = 4000

    @property
    def evaluations(self) -> int:
        """The evaluations of a training of HSDAG, which all other systems make, too."""
        return self.episodes * self.samples * (self.steps + 1)

    def settings(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {**asdict(self), "evaluations": self.evaluations}


FULL = Registered()
QUICK = Registered(
    networks=("resnet50",),
    ablations=(NO_STRUCTURE, UNTRAINED),
    seeds=2,
    other_seeds=1,
    episodes=3,
    samples=2,
    steps=10,
    longer_sweeps=4,
)
"""A small share of the plan."""
