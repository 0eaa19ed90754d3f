"""Any dataset of stream graphs as a PyTorch Geometric `InMemoryDataset`."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from torch_geometric.data import Data, InMemoryDataset

from streamplace.errors import within
from streamplace.files import read_dataset
from streamplace.files.atomic import make_folder
from streamplace.files.clusters import cluster_to
from streamplace.files.datasets import files_of
from streamplace.files.reading import read_bytes
from streamplace.placers.base import Placer
from streamplace.placers.registry import is_ours
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Model
from streamplace.pyg.data import to_pyg
from streamplace.pyg.store import read_all, write
from streamplace.workflows.place import place

VERSION = 1  # of what `to_pyg` makes


class StreamGraphs(InMemoryDataset):  # type: ignore[misc]  # torch-geometric is not typed
    """The graphs of a dataset file or folder, each as `to_pyg` makes it.

    What is made is kept in ``root/processed`` under a name that depends on the bytes of the dataset
    and on all that is asked for, so a changed file is processed anew. It is a safetensors file with
    a hash of its own, and not a pickle as PyTorch Geometric's: one that was damaged or tampered
    with is made anew too, and nothing in it is ever executed.

    Placements of placers that are not streamplace's own are made whenever a dataset is, and not
    kept: nobody can tell whether their code has changed. Of ``policy:file=…`` the bytes of the file
    count as well.

    Parameters
    ----------
    root
        Folder for what is made.
    file
        The dataset: whatever `read_dataset` reads but ``-``.
    placer
        Whose placements to learn, ``y``, by name or itself, as for `place`; none unless told.
        Prefer one that does not depend on the clock, as ``search:evaluations=20000``.
    cluster, source_rate, model, seed
        Of these placements, as for `place`.
    transform
        Applied to each graph whenever it is taken; what else `InMemoryDataset` could do before
        (``pre_transform``, ``pre_filter``) is for the dataset file.

    Raises
    ------
    StreamplaceError
        If the dataset cannot be read, or a graph not be placed.
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
        where = Cluster.of(cluster)
        keeps = placer is None or (isinstance(placer, str) and is_ours(placer))
        asked: list[object] = [VERSION]
        if isinstance(placer, str) and keeps:
            asked += [_with_weights(placer), cluster_to(where), source_rate, model, seed]
        stored = Path(self.processed_dir) / f"{_key(file, asked)}.safetensors"
        made = read_all(stored) if keeps else None
        if made is None:

            def one(graph: StreamGraph) -> Data:
                if placer is None:
                    return to_pyg(graph)
                found = place(
                    graph, where, source_rate=source_rate, model=model, placer=placer, seed=seed
                )
                return to_pyg(graph, found.placement)

            made = []
            for graph in read_dataset(file):
                with within(graph.name):
                    made.append(one(graph))
            if keeps:
                make_folder(stored.parent)
                write(stored, made)
        self.data, self.slices = self.collate(made)


def _with_weights(placer: str) -> list[str]:
    """Return the name of a placer, and a hash of the file of weights in it, if any."""
    options = placer.split(":")[1:]
    files = [option.removeprefix("file=") for option in options if option.startswith("file=")]
    return [placer, *(hashlib.sha256(read_bytes(file)).hexdigest() for file in files)]


def _key(file: str | Path, asked: list[object]) -> str:
    """Return a hash of the dataset's bytes and of what is made of them."""
    found = hashlib.sha256(json.dumps(asked, default=float).encode())
    for path in files_of(file):
        data = read_bytes(path)
        found.update(json.dumps([path.name, len(data)]).encode())
        found.update(data)
    return found.hexdigest()
