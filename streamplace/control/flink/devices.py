"""Names of devices for TaskManagers."""

from collections.abc import Sequence

from streamplace.integrations.flink.applying.documents import Cluster
from streamplace.integrations.flink.groups import label_names


class Devices:
    """The devices that the TaskManagers of a cluster stand for.

    A TaskManager that offers the label of a device (``dev_x``) is this device. Others are
    interchangeable: each gets a device that none stands for, and keeps it while it is there.

    Parameters
    ----------
    names
        Names of all devices, as in the cluster that plans are made for.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._by_label = {label: name for name, label in label_names(names, "dev_").items()}
        self._names = list(names)
        self._taken: dict[str, str] = {}

    def update(self, cluster: Cluster) -> dict[str, str]:
        """Return TaskManager -> device; TaskManagers for which no device is left are absent."""
        found: dict[str, str] = {}
        for each in cluster.task_managers:
            offered = [name for label, name in self._by_label.items() if label in each.total.labels]
            if len(offered) == 1:
                found[each.id] = offered[0]
        rest = [each.id for each in cluster.task_managers if each.id not in found]
        kept = {id_: self._taken[id_] for id_ in rest if id_ in self._taken}
        found |= {id_: name for id_, name in kept.items() if name not in found.values()}
        left = iter([name for name in self._names if name not in found.values()])
        for id_ in rest:
            if id_ not in found and (name := next(left, None)) is not None:
                found[id_] = name
        self._taken = found
        return dict(found)
