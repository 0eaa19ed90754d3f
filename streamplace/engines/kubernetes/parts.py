"""The operators that share a pod: a PE of a device, or an instance of a parallel operator."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from streamplace.formats.instances import ascii_names
from streamplace.problem.placement import Placement
from streamplace.util.arrays import Ints


@dataclass(frozen=True)
class Part:
    """The operators of one Deployment.

    Parameters
    ----------
    device
        Index of the device.
    operator
        Name of the parallel operator; empty for the PE of a device's other operators.
    members
        Indices of the PE's operators, or of the parallel operator's instances.
    """

    device: int
    operator: str
    members: tuple[int, ...]

    @property
    def replicas(self) -> int:
        """Number of pods: one for a PE, one for each instance of a parallel operator."""
        return len(self.members) if self.operator else 1


def parts_of(placement: Placement) -> list[Part]:
    """Return the parts in the order of the cluster's devices, the PE of each device first.

    An operator is parallel if it has several instances, on one device or on several.
    """
    owners = placement.problem.graph.owners
    count = Counter(owners)
    members: dict[tuple[int, str], list[int]] = {}
    for v, (owner, device) in enumerate(zip(owners, placement.devices.tolist(), strict=True)):
        members.setdefault((device, owner if count[owner] > 1 else ""), []).append(v)
    by_device = sorted(members, key=lambda key: (key[0], key[1] != ""))  # the sort is stable
    return [Part(*key, tuple(members[key])) for key in by_device]


def pod_numbers(placement: Placement) -> Ints:
    """Return the number of the pod of each operator, (V,): 0, 1, … in the order of the parts."""
    numbers = np.empty(len(placement.devices), dtype=np.int32)
    first = 0
    for part in parts_of(placement):
        numbers[[*part.members]] = first + np.arange(len(part.members)) if part.operator else first
        first += part.replicas
    return numbers


def has_replicas(placement: Placement) -> bool:
    """Return whether some operator is parallel."""
    return any(part.operator for part in parts_of(placement))


def shared_requests(placement: Placement) -> str:
    """Return what the pods of parallel operators request, as text; empty without such operators."""
    if not (names := _parallel(placement)):
        return ""
    return (
        f"each pod of {names} runs one instance, and requests what the busiest instance on its "
        "node needs"
    )


def lost_numbers(placement: Placement) -> str:
    """Return whose instances lose their numbers, as text; empty if none do."""
    if not (names := _parallel(placement)):
        return ""
    return f"pods of {names} are alike: how many instances a node runs is kept, but not which"


def _parallel(placement: Placement) -> str:
    """Return the names of parallel operators for a message."""
    names = list(dict.fromkeys(part.operator for part in parts_of(placement) if part.operator))
    return ascii_names(names)
