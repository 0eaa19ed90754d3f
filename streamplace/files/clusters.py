"""Clusters as JSON values, and lists of clusters as JSON lines."""

import json
from collections.abc import Iterable
from dataclasses import fields
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamplace.errors import FormatError, located
from streamplace.files.datasets import LINES, resolve
from streamplace.files.json_text import json_lines, write_json
from streamplace.files.reading import check, name_of, read_json, read_text
from streamplace.files.schema import ClusterForm, OverrideForm
from streamplace.files.writing import atomic
from streamplace.problem.cluster import Cluster, Device, LinkOverride, Network, Uplink
from streamplace.problem.operators import json_value
from streamplace.util.added import distinguishing_fields
from streamplace.util.checks import check_type

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def read_cluster(path: str | Path) -> Cluster:
    """Read a cluster file; a list of clusters may have only one.

    Raises
    ------
    FormatError
        If the file cannot be read or is not one cluster. The message names the file and the fault.
    """
    if (found := resolve(path)).is_dir():
        raise FormatError(f"{name_of(path)}: is a folder; expected the file of a cluster")
    if not Path(path).name.endswith(LINES):
        return cluster_from(read_json(found), name_of(path))
    clusters = read_clusters(path)
    if len(clusters) > 1:
        raise FormatError(
            f"{name_of(path)}: contains {len(clusters):,} clusters (expected one); "
            "'compare --clusters' takes a list, other commands a .jsonl file of one line or .json"
        )
    return clusters[0]


def write_cluster(path: str | Path, cluster: Cluster) -> None:
    """Write a cluster file."""
    write_json(path, cluster_to(cluster))


def cluster_from(value: Any, where: str) -> Cluster:
    """Read a cluster from a JSON value.

    Raises
    ------
    FormatError
        If the value is not a cluster; the message names `where`, the place in it and the fault.
    """
    with located(where, FormatError):
        return from_form(check(ClusterForm, value, where))


def from_form(form: ClusterForm) -> Cluster:
    """Build the cluster that a checked form describes."""
    network = form.network.model_dump(exclude={"comment", "overrides", "uplinks"})
    uplinks = ((g, o.model_dump(exclude={"comment"})) for g, o in form.network.uplinks.items())
    return Cluster(
        [Device(**device.model_dump(exclude={"comment"})) for device in form.devices],
        Network(
            **network,
            overrides=tuple(map(_override_from, form.network.overrides)),
            uplinks=tuple(Uplink(group, **fields) for group, fields in uplinks),
        ),
    )


def _override_from(form: OverrideForm) -> LinkOverride:
    """Return the override of a form, in which a bandwidth of null is no limit."""
    stated = form.model_dump(exclude={"comment"})
    if form.bandwidth_mbps is None and "bandwidth_mbps" in form.model_fields_set:
        stated["bandwidth_mbps"] = inf
    return LinkOverride(**stated)


def cluster_to(cluster: Cluster) -> dict[str, Any]:
    """Return a cluster as a JSON value."""
    network = _fields_of(cluster.network)
    overrides = [_override_to(override) for override in network.pop("overrides")]
    if overrides:
        network["overrides"] = overrides
    if uplinks := network.pop("uplinks", ()):
        network["uplinks"] = {uplink.group: _uplink_to(uplink) for uplink in uplinks}
    return {
        "format": "streamplace-cluster",
        "version": 1,
        "devices": [_device_to(device) for device in cluster.devices],
        "network": network,
    }


def _fields_of(value: "DataclassInstance") -> dict[str, Any]:
    """Return the fields of a dataclass by name, without added fields at their default."""
    return {field.name: getattr(value, field.name) for field in distinguishing_fields(value)}


def _device_to(device: Device) -> dict[str, Any]:
    """Return a device's name, speed and cores, and the fields that are not at their default."""
    value: dict[str, Any] = {"name": device.name, "mips": device.mips, "cores": device.cores}
    for field in fields(device):
        own = getattr(device, field.name)
        if field.name not in value and own != field.default:
            value[field.name] = json_value(own)
    return value


def _uplink_to(uplink: Uplink) -> dict[str, float]:
    rates = {"up_mbps": uplink.up_mbps, "down_mbps": uplink.down_mbps}
    return {key: mbps for key, mbps in rates.items() if mbps is not None}


def _override_to(override: LinkOverride) -> dict[str, Any]:
    """Return an override without the values that it takes from the network."""
    values = _fields_of(override)
    ends = {
        "from": values.pop("source"),
        "from_group": values.pop("source_group", None),
        "to": values.pop("target"),
        "to_group": values.pop("target_group", None),
    }
    stated = {key: value for key, value in {**ends, **values}.items() if value is not None}
    return {key: None if value == inf else value for key, value in stated.items()}


def read_clusters(path: str | Path) -> list[Cluster]:
    """Read the clusters of a .jsonl or .jsonl.gz file, one per line; ``-`` is stdin.

    Raises
    ------
    FormatError
        If the file cannot be read, is empty, or has a line that is not a cluster. The message names
        the file, the line and the fault.
    """
    where = name_of(path)
    lines = json_lines(read_text(resolve(path)).split("\n"), where)
    return [cluster_from(value, place) for place, value in lines]


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
            check_type("clusters:", cluster, Cluster, FormatError)
            file.write(json.dumps(cluster_to(cluster), ensure_ascii=False).encode() + b"\n")
        if not written:
            raise FormatError(f"{path}: must hold at least one cluster (got none)")


def check_name(path: str | Path) -> None:
    """Raise FormatError unless a name ends as that of a list of clusters does."""
    if not Path(path).name.endswith(LINES):
        raise FormatError(f"{path}: must end in .jsonl or .jsonl.gz")
