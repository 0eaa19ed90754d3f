"""Logical graphs of the operators and links of imported files, and equal devices for them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Annotated

from pydantic import Field

from streamplace.errors import ClusterError, FormatError
from streamplace.problem.cluster import MAX_DEVICES, Cluster, Device, Network
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.logical import AnyDistribution, Distribution, LogicalGraph

MAX_PARALLELISM = 100_000
Parallelism = Annotated[int, Field(ge=1, le=MAX_PARALLELISM)]
"""Parallelism of an operator in an imported file."""
MAX_LINKS = 1_000_000
DEVICES = 4
"""Number of equal devices, unless the user chooses another."""
MIPS = 1.0
"""Speed of devices on which no operator takes instructions, so that it does not matter."""


@dataclass(frozen=True)
class Link:
    """A stream between two operators of an imported file.

    Parameters
    ----------
    distribution
        Distribution of its tuples over the instances of its target.
    selectivity
        Tuples on it per tuple that its source processes; `UNKNOWN` if the file lacks it.
    id
        What the file calls it; empty if it has no name.
    """

    source: str
    target: str
    distribution: AnyDistribution = Distribution.ALL
    selectivity: float = UNKNOWN
    id: str = ""


def build_logical_graph(
    names: Sequence[str],
    links: Iterable[Link],
    *,
    name: str = "",
    parallelism: Mapping[str, int] | None = None,
    instructions: Mapping[str, float] | None = None,
    requires: Mapping[str, Sequence[str]] | None = None,
    source_rate: float | None = None,
    source_shares: Mapping[str, float] | None = None,
    constraints: Constraints | None = None,
    by_channel: Sequence[Sequence[str]] = (),
) -> LogicalGraph:
    """Return the logical graph of these operators and links.

    Payloads are `UNKNOWN`.

    Parameters
    ----------
    parallelism
        Operator -> number of its instances; operators without an entry have one.
    instructions
        Operator -> its instructions per tuple; those without an entry are `UNKNOWN`.
    requires
        Operator -> the labels that its device must have.
    by_channel
        See `LogicalGraph`.

    Raises
    ------
    GraphError
        If the operators and links do not form a stream graph.
    """
    ordered = sorted(links, key=_order_in_graph)
    known, labels = instructions or {}, requires or {}
    graph = StreamGraph(
        [
            Operator(each, known.get(each, UNKNOWN), UNKNOWN, requires=tuple(labels.get(each, ())))
            for each in names
        ],
        [Stream(link.source, link.target, link.selectivity) for link in ordered],
        name=name,
        source_rate=source_rate,
        source_shares=source_shares,
        constraints=constraints,
    )
    found: dict[tuple[str, str], list[AnyDistribution]] = {}
    for link in ordered:
        found.setdefault((link.source, link.target), []).append(link.distribution)
    several = {operator: count for operator, count in (parallelism or {}).items() if count > 1}
    distributions = {ends: each for ends, each in found.items() if {*each} != {Distribution.ALL}}
    ids: dict[tuple[str, str], list[str]] = {}
    for link in ordered:
        ids.setdefault((link.source, link.target), []).append(link.id)
    ids = {ends: each for ends, each in ids.items() if any(each)}
    return LogicalGraph(graph, several, distributions, ids=ids, by_channel=by_channel)


def check_links(count: int, where: str) -> None:
    """Check the number of streams, since a short file with nested joins can have very many.

    Raises
    ------
    FormatError
        If there are more than a million.
    """
    if count > MAX_LINKS:
        raise FormatError(f"{where}: more than {MAX_LINKS:,} streams")


def _order_in_graph(link: Link) -> tuple[bool, float]:
    """Return the sort key by which `StreamGraph` orders streams between the same two operators."""
    unknown = isnan(link.selectivity)
    return unknown, 0.0 if unknown else link.selectivity


def equal_devices(device: Device, network: Network, count: int = DEVICES) -> Cluster:
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
