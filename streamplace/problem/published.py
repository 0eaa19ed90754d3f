"""The semantics of passes in published systems, for any graph and cluster."""

from dataclasses import dataclass, replace

from streamplace.errors import ProblemError
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import PublishedName
from streamplace.problem.network import LinkOverride, NetworkKind
from streamplace.problem.semantics import Multicast


@dataclass(frozen=True)
class _Semantics:
    """What a system says about messages; None keeps the cluster's latencies."""

    kind: NetworkKind
    multicast: Multicast
    latency_s: float | None = 0.0
    gap_s: float = 0.0
    startup_s: float = 0.0


_OF: dict[PublishedName, _Semantics] = {
    "giph": _Semantics("free", "none", latency_s=None),
    "placeto": _Semantics("egress", "all", gap_s=25e-6, startup_s=5.7e-6),
    "doppler": _Semantics("free", "none"),
}


def with_published_semantics(
    graph: StreamGraph, cluster: Cluster, name: PublishedName
) -> tuple[StreamGraph, Cluster]:
    """Return a graph and a cluster on which passes follow a published system.

    Speeds, bandwidths and cores stay. ``giph`` (Hu et al. 2023): ``free`` links, whose latency is
    the start-up delay of a transfer. ``placeto`` (Addanki et al. 2019, as simulated in the study of
    traversal orders): one message per producer and ``egress`` links with a gap of 25 µs, and 5.7 µs
    between operators on a device. ``doppler`` (its released code): ``free`` links without latency.
    None of them has CPU time per message.

    Raises
    ------
    ProblemError
        If links of a ``nic`` network have overrides, which no link between two devices has.
    """
    semantics, network = _OF[name], cluster.network
    if network.overrides and not network.by_pair:
        raise ProblemError(
            f"--semantics {name}: network.overrides of nic links do not describe links between two "
            "devices; describe these with the kind pair"
        )
    changed = replace(
        network,
        kind=semantics.kind,
        gap_s=semantics.gap_s,
        latency_s=network.latency_s if semantics.latency_s is None else semantics.latency_s,
        overhead_s=0.0,
        overhead_s_per_byte=0.0,
        overrides=tuple(_override(each, semantics) for each in network.overrides),
    )
    devices = [
        replace(device, startup_s=semantics.startup_s, overhead_s_per_byte=None)
        for device in cluster.devices
    ]
    return graph.with_numbers(multicast=semantics.multicast)[0], Cluster(devices, changed)


def _override(override: LinkOverride, semantics: _Semantics) -> LinkOverride:
    """Return an override with the bandwidth, and the latency where that is kept."""
    latency = override.latency_s if semantics.latency_s is None else None
    return replace(override, latency_s=latency, overhead_s=None, gap_s=None)
