"""The transfers of the study: workloads on which a policy of another workload is used."""

from collections.abc import Sequence

from streamplace.studies.doppler.published import PUBLISHED_DEVICES, TRANSFER
from streamplace.studies.doppler.workloads import Workload


def targets_of(trained_on: Workload, workloads: Sequence[Workload]) -> list[Workload]:
    """Return the workloads to which a policy is transferred.

    They are those of the paper on as many devices, and the same graph on more devices.

    Parameters
    ----------
    workloads
        All workloads of the study.
    """
    return [one for one in workloads if _is_transfer(trained_on, one)]


def _is_transfer(trained_on: Workload, target: Workload) -> bool:
    if trained_on.limited or target.limited or trained_on.source != target.source:
        return False
    if trained_on.graph == target.graph:
        return trained_on.devices < target.devices
    published = (trained_on.graph, target.graph) in TRANSFER
    return published and trained_on.devices == target.devices == PUBLISHED_DEVICES
