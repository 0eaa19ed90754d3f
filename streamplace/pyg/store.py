"""Many `Data` as one safetensors file, which carries its hash: reading it executes nothing."""

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch_geometric.data import Data

from streamplace.errors import CheckpointError
from streamplace.files.atomic import atomic
from streamplace.policy.weights import packed, read, unpacked


def write(path: Path, graphs: Sequence[Data]) -> None:
    """Write graphs, whole or not at all."""
    tensors: dict[str, Tensor] = {
        "x": torch.cat([one.x for one in graphs]),
        "edge_index": torch.cat([one.edge_index for one in graphs], dim=1),
        "edge_attr": torch.cat([one.edge_attr for one in graphs]),
        "source_rate": torch.cat([one.source_rate for one in graphs]),
        "operators": torch.tensor([one.num_nodes for one in graphs]),
        "streams": torch.tensor([one.num_edges for one in graphs]),
    }
    if graphs[0].y is not None:
        tensors["y"] = torch.cat([one.y for one in graphs])
    with atomic(path) as file:
        file.write(packed(tensors, {"names": json.dumps([one.name for one in graphs])}))


def read_all(path: Path) -> list[Data] | None:
    """Return the graphs of a file; None if there is none, or it is not as it was written."""
    try:
        tensors, words = unpacked(read(path), str(path))
    except CheckpointError:
        return None
    operators, streams = tensors["operators"].tolist(), tensors["streams"].tolist()
    columns = {
        "x": tensors["x"].split(operators),
        "edge_index": tensors["edge_index"].split(streams, dim=1),
        "edge_attr": tensors["edge_attr"].split(streams),
        "source_rate": tensors["source_rate"].split(1),
    }
    if "y" in tensors:
        columns["y"] = tensors["y"].split(operators)
    found = []
    for i, name in enumerate(json.loads(words["names"])):
        one = Data(**{key: parts[i] for key, parts in columns.items()})
        one.name = name
        found.append(one)
    return found
