"""The workloads of the study: our networks, and released graphs of other authors."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from streamplace.errors import FormatError
from streamplace.files.reading import read_bytes
from streamplace.integrations.neural.problems import problem_of_file
from streamplace.problem.problem import Problem
from streamplace.studies.hsdag.networks import network_problem

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
