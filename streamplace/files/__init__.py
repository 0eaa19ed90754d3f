"""Readers and writers of graphs, datasets, clusters and placements.

The names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from streamplace.util.lazy import lazily

if TYPE_CHECKING:
    from streamplace.files.clusters import read_cluster as read_cluster
    from streamplace.files.clusters import read_clusters as read_clusters
    from streamplace.files.clusters import write_cluster as write_cluster
    from streamplace.files.clusters import write_clusters as write_clusters
    from streamplace.files.datasets import StoredGraphs as StoredGraphs
    from streamplace.files.datasets import iter_graphs as iter_graphs
    from streamplace.files.datasets import open_dataset as open_dataset
    from streamplace.files.datasets import read_dataset as read_dataset
    from streamplace.files.datasets import read_graph as read_graph
    from streamplace.files.datasets import write_dataset as write_dataset
    from streamplace.files.graphs import read_constraints as read_constraints
    from streamplace.files.json_text import write_json as write_json
    from streamplace.files.placements import read_placement as read_placement
    from streamplace.files.placements import write_placement as write_placement

_HOME = {
    "StoredGraphs": "datasets",
    "iter_graphs": "datasets",
    "open_dataset": "datasets",
    "read_cluster": "clusters",
    "read_clusters": "clusters",
    "read_constraints": "graphs",
    "read_dataset": "datasets",
    "read_graph": "datasets",
    "read_placement": "placements",
    "write_cluster": "clusters",
    "write_clusters": "clusters",
    "write_dataset": "datasets",
    "write_json": "json_text",
    "write_placement": "placements",
}
"""Name -> the module of this package that defines it."""

__all__ = list(_HOME)
__getattr__, __dir__ = lazily(__name__, _HOME)
