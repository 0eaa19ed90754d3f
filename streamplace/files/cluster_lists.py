"""Lists of clusters: JSON lines, one cluster per line."""

import json
from collections.abc import Iterable
from pathlib import Path

from streamplace.errors import FormatError
from streamplace.files.atomic import atomic
from streamplace.files.bundled import resolve
from streamplace.files.clusters import cluster_from, cluster_to
from streamplace.files.datasets import LINES
from streamplace.files.json_text import json_lines
from streamplace.files.reading import name_of, read_text
from streamplace.problem.cluster import Cluster


def read_clusters(path: str | Path) -> list[Cluster]:
    """Read the clusters of a .jsonl or .jsonl.gz file, one per line; ``-`` is stdin.

    Raises
    ------
    FormatError
        If the file cannot be read, has a line that is not a cluster, or holds no cluster. The
        message names the file, the line and the fault.
    """
    where = name_of(path)
    lines = json_lines(read_text(resolve(path)).split("\n"), where)
    clusters = [cluster_from(value, place) for place, value in lines]
    if not clusters:
        raise FormatError(f"{where}: holds no cluster")
    return clusters


def write_clusters(path: str | Path, clusters: Iterable[Cluster]) -> None:
    """Write any number of clusters to .jsonl or .jsonl.gz, one per line.

    Raises
    ------
    FormatError
        If the name has another ending, if there is no cluster, or if the file cannot be written.
    """
    check_name(path)
    with atomic(path) as file:
        written = 0
        for written, cluster in enumerate(clusters, start=1):  # noqa: B007 - counts the clusters
            file.write(json.dumps(cluster_to(cluster), ensure_ascii=False).encode() + b"\n")
        if not written:
            raise FormatError(f"{path}: must hold at least one cluster (got none)")


def check_name(path: str | Path) -> None:
    """Raise FormatError unless a name ends as that of a list of clusters does."""
    if not Path(path).name.endswith(LINES):
        raise FormatError(f"{path}: must end in .jsonl or .jsonl.gz")
