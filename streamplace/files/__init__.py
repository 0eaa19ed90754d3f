"""Readers and writers of graphs, datasets, clusters, placements and jobs."""

from pathlib import Path
from typing import Any

from streamplace.errors import FormatError
from streamplace.files.clusters import cluster_from, cluster_to, read_clusters, write_clusters
from streamplace.files.datasets import (
    LINES,
    StoredGraphs,
    iter_graphs,
    open_dataset,
    read_dataset,
    read_graph,
    resolve,
    write_dataset,
)
from streamplace.files.graphs import constraints_from
from streamplace.files.jobs import read_jobs, write_jobs
from streamplace.files.json_text import json_pieces
from streamplace.files.placements import placement_to, read_placement
from streamplace.files.reading import check, name_of, read_json
from streamplace.files.schema import ConstraintsForm
from streamplace.files.writing import write_pieces
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.placement import Placement


def read_cluster(path: str | Path) -> Cluster:
    """Read a cluster file; a list of clusters may have only one.

    Raises
    ------
    FormatError
        If the file cannot be read or is not one cluster. The message names the file and the fault.
    """
    if not Path(path).name.endswith(LINES):
        return cluster_from(read_json(resolve(path)), name_of(path))
    clusters = read_clusters(path)
    if len(clusters) > 1:
        raise FormatError(
            f"{name_of(path)}: contains {len(clusters):,} clusters (expected one); "
            "'compare --clusters' takes a list, other commands a .jsonl file of one line or .json"
        )
    return clusters[0]


def read_constraints(path: str | Path) -> Constraints:
    """Read a file that holds the ``constraints`` object of a graph file."""
    value, where = read_json(path), name_of(path)
    if isinstance(value, dict) and "constraints" in value and "format" not in value:
        expected = "the object that a graph has in 'constraints', such as {\"pins\": {…}}"
        raise FormatError(f"{where}: holds more than constraints; write only {expected}")
    return constraints_from(check(ConstraintsForm, value, where))


def write_cluster(path: str | Path, cluster: Cluster) -> None:
    """Write a cluster file."""
    write_json(path, cluster_to(cluster))


def write_placement(path: str | Path, placement: Placement, **result: Any) -> None:
    """Write a placement file, which includes the whole problem; see `placement_to`."""
    write_json(path, placement_to(placement, **result))


def write_json(path: str | Path, value: Any) -> None:
    """Write a JSON value as indented text in UTF-8."""
    write_pieces(path, json_pieces(value))


__all__ = [
    "StoredGraphs",
    "iter_graphs",
    "open_dataset",
    "read_cluster",
    "read_clusters",
    "read_constraints",
    "read_dataset",
    "read_graph",
    "read_jobs",
    "read_placement",
    "write_cluster",
    "write_clusters",
    "write_dataset",
    "write_jobs",
    "write_json",
    "write_placement",
]
