"""Operators and streams of the networks by three readers, beside the published numbers."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from benchmarks.networks.models import Network, network
from streamplace.formats.documents import read_document
from streamplace.networks.torch.graph import from_module
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
    onnx
        By our reader of PyTorch's export to ONNX.
    published
        Those of the paper, whose graphs are others.
    """

    torch: tuple[int, int]
    ir: tuple[int, int]
    openvino: tuple[int, int]
    onnx: tuple[int, int]
    published: tuple[int, int]


def counts(name: str) -> Counts:
    """Return the counts of a network; OpenVINO converts it to single precision."""
    found = network(name)
    with TemporaryDirectory() as folder:
        path = _converted(found, Path(folder) / f"{name}.xml")
        root = ET.parse(path).getroot()
        layers, edges = (len(root.findall(f"{part}/*")) for part in ("layers", "edges"))
        read = read_document(str(path), "openvino").graph
        exported = _exported(found, Path(folder) / f"{name}.onnx")
        onnx = read_document(str(exported), "onnx").graph
    ours = from_module(found.module, found.inputs)
    return Counts(_size(ours), (layers, edges), _size(read), _size(onnx), PUBLISHED[name])


def _converted(found: Network, path: Path) -> Path:
    openvino = import_module("openvino")
    shapes = [list(each.shape) for each in found.inputs]
    model = openvino.convert_model(found.module, example_input=found.inputs, input=shapes)
    openvino.save_model(model, path, compress_to_fp16=False)
    return path


def _exported(found: Network, path: Path) -> Path:
    torch.onnx.export(found.module, found.inputs, path, dynamo=True, verbose=False)
    return path


def _size(graph: StreamGraph) -> tuple[int, int]:
    return len(graph.names), len(graph.stream_source)
