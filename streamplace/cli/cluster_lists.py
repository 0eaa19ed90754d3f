"""The option --clusters: a file with a cluster for each graph of a dataset."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from streamplace.cli import checks, param_types

if TYPE_CHECKING:
    from streamplace.problem.cluster import Cluster


def clusters_option(meaning: str) -> Callable[[Any], Any]:
    """Return the option --clusters; `meaning` ends the first clause of its help."""
    return click.option(
        "--clusters",
        "clusters_file",
        callback=checks.file_name,
        type=param_types.FILE,
        metavar="FILE",
        help=f"Clusters (.jsonl or .jsonl.gz, one per line) {meaning}",
    )


def read_list(file: str, graphs: int, remedy: str = "") -> "list[Cluster]":
    """Read the clusters of a file, one per graph.

    Parameters
    ----------
    graphs
        The number of graphs; 0: any number of clusters will do.
    remedy
        What to do if the numbers differ.

    Raises
    ------
    FormatError
        If the file cannot be read, or the numbers differ.
    """
    from streamplace.errors import FormatError  # noqa: PLC0415 - loaded when the command runs
    from streamplace.files import read_clusters  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.util.text import counted  # noqa: PLC0415

    clusters = read_clusters(file)
    if graphs and len(clusters) != graphs:
        expected = f"expected {counted(graphs, 'cluster')}, one per graph (got {len(clusters):,})"
        raise FormatError(f"{name_of(file)}: {expected}{remedy}")
    return clusters
