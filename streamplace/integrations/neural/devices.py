"""Clusters of equal devices, for graphs whose files state no devices."""

from dataclasses import replace

from streamplace.errors import ClusterError
from streamplace.problem.cluster import MAX_DEVICES, Cluster, Device, Network

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
