"""Changes of a cluster over time: devices that leave it and devices that come."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from streamplace.errors import ClusterError
from streamplace.problem.cluster import Cluster
from streamplace.problem.device import Device
from streamplace.problem.losses import Losses
from streamplace.problem.network import LinkOverride
from streamplace.util.suggest import candidates


@dataclass(frozen=True)
class ClusterChange:
    """Devices that leave a cluster, and devices that come to it with their links.

    Placements are carried over by the names of devices: an operator stays where its device stays.
    A name that leaves may come back in a later change, but not in the same one.

    Parameters
    ----------
    leaving
        Names of the devices that leave.
    coming
        The devices that come; they follow the others in the cluster's order.
    links
        Overrides of the links of devices that come. Their other links have the network's values.

    Raises
    ------
    ClusterError
        If a device both leaves and comes.
    """

    leaving: tuple[str, ...] = ()
    coming: tuple[Device, ...] = ()
    links: tuple[LinkOverride, ...] = ()

    def __post_init__(self) -> None:
        both = {*self.leaving} & {device.name for device in self.coming}
        if both:
            raise ClusterError(
                f"change: device {min(both)!r} both leaves and comes; use two changes"
            )

    def of(self, cluster: Cluster) -> Cluster:
        """Return the cluster after the change.

        Raises
        ------
        ClusterError
            If a device that leaves is not in the cluster, one that comes is in it already, none is
            left, or a link does not exist.
        """
        for name in self.leaving:
            if name not in cluster.index:
                close = candidates(name, cluster.names)
                raise ClusterError(f"change: no device {name!r} can leave{close}")
        staying = [device for device in cluster.devices if device.name not in {*self.leaving}]
        if not staying:
            raise ClusterError("change: no device stays; one must")
        left = Losses(self.leaving).cluster(cluster) if self.leaving else cluster
        overrides = (*left.network.overrides, *self.links)
        return Cluster([*staying, *self.coming], replace(left.network, overrides=overrides))

    def forced(self, assignment: Mapping[str, str]) -> tuple[str, ...]:
        """Return the operators whose device leaves, in the order of an assignment."""
        leaving = {*self.leaving}
        return tuple(name for name, device in assignment.items() if device in leaving)
