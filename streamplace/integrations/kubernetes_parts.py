"""Operators that share a Deployment of Kubernetes, and those that share a pod."""

import re
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from streamplace.integrations.pes import shown
from streamplace.problem.placement import Placement
from streamplace.util.arrays import Ints

MAX_LENGTH = 63  # characters
DIGITS = 8  # of a hash
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?")


def dns_label(text: str, max_length: int = MAX_LENGTH) -> str:
    """Return a DNS label of RFC 1123: lower-case letters, digits and single hyphens inside.

    Text that is not a label keeps its valid characters and gets a suffix, the start of its hash.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if plain == text and 0 < len(text) <= max_length:
        return text
    kept = plain[: max_length - DIGITS - 1].strip("-")
    return f"{kept}-{_hash(text)}" if kept else f"x{_hash(text)}"


def label_value(text: str) -> str:
    """Return the text if it is a valid label value, else a DNS label made from it."""
    return text if LABEL_VALUE.fullmatch(text) else dns_label(text)


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:DIGITS]


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
    return shown(names)
