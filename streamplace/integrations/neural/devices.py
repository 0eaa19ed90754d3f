"""Clusters of equal devices, for graphs whose files state no devices."""

from dataclasses import replace
from pathlib import Path

from streamplace.errors import ClusterError, FormatError
from streamplace.integrations.registry import read_document
from streamplace.problem.cluster import MAX_DEVICES, Cluster, Device, Network
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem

COUNT = 4
"""Number of devices, unless the user chooses another."""
MIPS = 1.0
"""Speed of devices on which no operator takes instructions, so that it does not matter."""


def equal_devices(device: Device, network: Network, count: int = COUNT) -> Cluster:
    """Return `count` devices d0, d1, … that are equal to `device` except for their names.

    Raises
    ------
    ClusterError
        If there are no devices, or too many.
    """
    if count > MAX_DEVICES:  # before they are made
        raise ClusterError(f"devices: must be at most {MAX_DEVICES} (got {count})")
    return Cluster([replace(device, name=f"d{d}") for d in range(count)], network)


def resized(cluster: Cluster, count: int) -> Cluster:
    """Return a cluster of equal devices with another number of them.

    Raises
    ------
    ClusterError
        If there are no devices, or too many.
    """
    return equal_devices(cluster.devices[0], cluster.network, count)


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
