"""The cluster of an imported file."""

from streamplace.files import write_cluster
from streamplace.integrations.kinds import ANY_COUNT
from streamplace.integrations.neural.devices import resized
from streamplace.problem.cluster import Cluster
from streamplace.util.text import counted


def write(cluster: Cluster, kind: str, file: str | None, count: int | None) -> list[str]:
    """Write the cluster of a file in the format `kind`; return notes for the user.

    Parameters
    ----------
    file
        The file to write; None: none.
    count
        The number of devices, if the format does not state it; None: that of `cluster`.
    """
    if file is None:
        return ["the cluster that belongs to the file is not written; write it with --cluster-out"]
    if count is not None:
        cluster = resized(cluster, count)
    write_cluster(file, cluster)
    devices = counted(len(cluster.devices), "device")
    assumed = kind in ANY_COUNT and count is None
    why = "; the file does not state how many, see --device-count" if assumed else ""
    return [f"the cluster has {devices}{why}"]
