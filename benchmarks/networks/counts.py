"""Operators and streams of the networks by two readers, beside the published numbers."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.networks.models import Network, network
from streamplace.integrations.registry import read_document
from streamplace.integrations.torch.graph import from_module
from streamplace.problem.graph import StreamGraph

PUBLISHED = {"resnet50": (396, 411), "inception-v3": (728, 764), "bert-base": (1009, 1071)}
"""Vertices and edges in the paper of HSDAG, whose files were not released."""


@dataclass(frozen=True)
class Counts:
    """Numbers of operators and streams, (V, E).

    Parameters
    ----------
    torch
        By our reader of modules.
    ir
        Layers and edges of OpenVINO's IR, constants and results included.
    openvino
        By our reader of this IR.
    published
        Those of the paper, whose graphs are others.
    """

    torch: tuple[int, int]
    ir: tuple[int, int]
    openvino: tuple[int, int]
    published: tuple[int, int]


def counts(name: str) -> Counts:
    """Return the counts of a network; OpenVINO converts it to single precision."""
    found = network(name)
    with TemporaryDirectory() as folder:
        path = _converted(found, Path(folder) / f"{name}.xml")
        root = ET.parse(path).getroot()
        layers, edges = (len(root.findall(f"{part}/*")) for part in ("layers", "edges"))
        read = read_document(str(path), "openvino").graph
    ours = from_module(found.module, found.inputs)
    return Counts(_size(ours), (layers, edges), _size(read), PUBLISHED[name])


def _converted(found: Network, path: Path) -> Path:
    openvino = import_module("openvino")
    shapes = [list(each.shape) for each in found.inputs]
    model = openvino.convert_model(found.module, example_input=found.inputs, input=shapes)
    openvino.save_model(model, path, compress_to_fp16=False)
    return path


def _size(graph: StreamGraph) -> tuple[int, int]:
    return len(graph.names), len(graph.stream_source)
