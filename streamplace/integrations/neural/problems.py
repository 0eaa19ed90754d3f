"""Makespan problems of files that state a graph and its devices."""

from pathlib import Path

from streamplace.errors import FormatError
from streamplace.integrations.neural.devices import resized
from streamplace.integrations.registry import read_document
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem


def problem_of_file(path: Path, kind: str, devices: int | None = None) -> Problem:
    """Return the problem of one pass through the graph of a file, on the devices of its reader.

    Parameters
    ----------
    kind
        Format of the file, such as ``dnn-latency`` or ``pipedream``.
    devices
        Number of devices, where they are equal; None: that of the reader.

    Raises
    ------
    FormatError
        If the file is not valid, or its format has no devices.
    ClusterError
        If there are no devices, or too many.
    """
    found = read_document(str(path), kind)
    if found.cluster is None:
        raise FormatError(f"{path}: the format {kind} has no devices")
    cluster = found.cluster if devices is None else resized(found.cluster, devices)
    return Problem(found.graph, cluster, objective=Makespan())
