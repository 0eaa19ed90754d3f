"""Storage of many `Data` objects in one safetensors file, which carries a hash of its content."""

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch_geometric.data import Data

from streamplace.errors import CheckpointError
from streamplace.files.atomic import atomic
from streamplace.policy.hashed_tensors import packed, unpacked
from streamplace.policy.tensor_files import read


def write(path: Path, graphs: Sequence[Data]) -> None:
    """Write graphs, completely or not at all."""
    tensors: dict[str, Tensor] = {
        "x": torch.cat([one.x for one in graphs]),
        "edge_index": torch.cat([one.edge_index for one in graphs], dim=1),
        "edge_attr": torch.cat([one.edge_attr for one in graphs]),
        "source_rate": torch.cat([one.source_rate for one in graphs]),
        "operators": torch.tensor([one.num_nodes for one in graphs]),
        "streams": torch.tensor([one.num_edges for one in graphs]),
        "names": torch.tensor(list(json.dumps([one.name for one in graphs]).encode())).byte(),
    }
    if graphs[0].y is not None:
        tensors["y"] = torch.cat([one.y for one in graphs])
    with atomic(path) as file:
        file.write(packed(tensors, {}))  # no metadata, whose order would vary


def read_all(path: Path) -> list[Data] | None:
    """Return the graphs of a file; None if the file is missing or was not written by `write`."""
    try:
        tensors, _ = unpacked(read(path), str(path))
        return _graphs(tensors)
    except CheckpointError:
        return None
    except (
        KeyError,
        ValueError,
        TypeError,
        RuntimeError,
        IndexError,
    ):  # the tensors are not those that `write` stores
        return None


def _graphs(tensors: dict[str, Tensor]) -> list[Data]:
    operators, streams = tensors["operators"].tolist(), tensors["streams"].tolist()
    columns = {
        "x": torch.split(tensors["x"], operators),
        "edge_index": torch.split(tensors["edge_index"], streams, dim=1),
        "edge_attr": torch.split(tensors["edge_attr"], streams),
        "source_rate": torch.split(tensors["source_rate"], 1),
    }
    if "y" in tensors:
        columns["y"] = torch.split(tensors["y"], operators)
    graphs = []
    for i, name in enumerate(json.loads(bytes(tensors["names"].tolist()))):
        one = Data(**{key: parts[i] for key, parts in columns.items()})
        one.name = name
        graphs.append(one)
    return graphs
