"""Any dataset of stream graphs as a PyTorch Geometric `InMemoryDataset`.

The data are stored in one safetensors file, which carries a hash of its content.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch_geometric.data import Data, InMemoryDataset

from streamplace.errors import CheckpointError, within
from streamplace.files import read_dataset
from streamplace.files.clusters import cluster_to
from streamplace.files.datasets import files_of
from streamplace.files.reading import read_bytes
from streamplace.files.writing import atomic, make_folder
from streamplace.learning.policy.tensor_files import read
from streamplace.learning.policy.weights import pack_tensors, unpack_tensors
from streamplace.learning.pyg.data import to_pyg
from streamplace.placers.base import Placer
from streamplace.placers.registry import is_ours
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Model
from streamplace.workflows.place import place

VERSION = 1  # of the data that `to_pyg` returns


class StreamGraphs(InMemoryDataset):  # type: ignore[misc]  # torch-geometric is not typed
    """The graphs of a dataset file or folder, each converted by `to_pyg`.

    The data are cached in ``root/processed`` under a name that depends on the bytes of the dataset
    and on all arguments, so a changed dataset is processed again. The cache is a safetensors file
    with its own hash rather than PyTorch Geometric's pickle: a damaged or manipulated file is
    rebuilt, and nothing in it is ever executed.

    Placements by placers that are not built in are computed every time and not cached, since their
    code may have changed. For ``policy:file=…``, the cache also depends on the bytes of that file.

    Parameters
    ----------
    root
        Folder of the cache.
    file
        The dataset: anything that `read_dataset` reads except ``-``.
    placer
        The placer that computes the labels ``y``, by name or as an object, as for `place`; by
        default there are no labels. With a placer, operators with several instances are replaced
        by these, as in `to_pyg`. Prefer a placer that does not depend on the clock, such as
        ``search:evaluations=20000``.
    cluster, source_rate, model, seed
        For these placements, as for `place`; the source rate is in tuples/s.
    transform
        Applied to each graph whenever it is accessed. Instead of ``pre_transform`` and
        ``pre_filter``, change the dataset file.

    Raises
    ------
    StreamplaceError
        If the dataset cannot be read, or a graph cannot be placed.
    """

    def __init__(
        self,
        root: str | Path,
        file: str | Path,
        *,
        placer: str | Placer | None = None,
        cluster: Cluster | str | None = None,
        source_rate: float | None = None,
        model: Model = "bottleneck",
        seed: int = 0,
        transform: Callable[[Data], Data] | None = None,
    ) -> None:
        super().__init__(str(root), transform)
        target = Cluster.of(cluster)
        is_cached = placer is None or (isinstance(placer, str) and is_ours(placer))
        settings: list[object] = [VERSION]
        if isinstance(placer, str) and is_cached:
            settings += [_with_weights(placer), cluster_to(target), source_rate, model, seed]
        stored = Path(self.processed_dir) / f"{_key(file, settings)}.safetensors"
        graphs = read_all(stored) if is_cached else None
        if graphs is None:

            def converted(graph: StreamGraph) -> Data:
                if placer is None:
                    return to_pyg(graph)
                result = place(
                    graph, target, source_rate=source_rate, model=model, placer=placer, seed=seed
                )
                return to_pyg(graph, result.placement)

            graphs = []
            for graph in read_dataset(file):
                with within(graph.name):
                    graphs.append(converted(graph))
            if is_cached:
                make_folder(stored.parent)
                write(stored, graphs)
        self.data, self.slices = self.collate(graphs)


def _with_weights(placer: str) -> list[str]:
    """Return the name of a placer, and the hash of each file of weights that it names."""
    options = placer.split(":")[1:]
    files = [option.removeprefix("file=") for option in options if option.startswith("file=")]
    return [placer, *(hashlib.sha256(read_bytes(file)).hexdigest() for file in files)]


def _key(file: str | Path, settings: list[object]) -> str:
    """Return a hash of the settings and the dataset's bytes."""
    hasher = hashlib.sha256(json.dumps(settings, default=float).encode())
    for path in files_of(file):
        data = read_bytes(path)
        hasher.update(json.dumps([path.name, len(data)]).encode())
        hasher.update(data)
    return hasher.hexdigest()


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
        file.write(pack_tensors(tensors, {}))  # no metadata, whose order would vary


def read_all(path: Path) -> list[Data] | None:
    """Return the graphs of a file; None if the file is missing or was not written by `write`."""
    try:
        tensors, _ = unpack_tensors(read(path), str(path))
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
