"""Pods of Kubernetes: the operators that share one, its labels, and its extended resources."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from math import ceil

import numpy as np

from streamplace.errors import ProblemError
from streamplace.integrations.instances import shown
from streamplace.problem.graph_checks import listed
from streamplace.problem.limits import used_counts
from streamplace.problem.placement import Placement
from streamplace.util.arrays import Floats, Ints

MAX_LABEL_LENGTH = 63  # characters
DIGITS = 8  # of a hash
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?")
GPU = "nvidia.com/gpu"
DOMAIN = "streamplace"
KNOWN = {"gpu": GPU}
"""Resources whose extended resource differs from ``streamplace/NAME``."""
OWN = re.compile("ephemeral-storage|hugepages-[1-9][0-9]*[KMG]i")
"""Kubernetes's own resources, in bytes, without those that the export computes (CPU, memory)."""
PREFIX = re.compile(r"(?=.{1,244}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
QUOTA = "requests."  # precedes the name of an extended resource in a quota, so no name may have it
RESERVED = "kubernetes.io"  # Kubernetes takes every domain that ends in this for its own


def dns_label(text: str, max_length: int = MAX_LABEL_LENGTH) -> str:
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


def extended_name(resource: str) -> str:
    """Return the resource of Kubernetes that stands for a resource.

    A name with a slash, such as ``amd.com/gpu``, is one already, and so are ``ephemeral-storage``
    and ``hugepages-2Mi``, which nodes offer by themselves; ``gpu`` stands for ``nvidia.com/gpu``,
    and any other NAME for ``streamplace/NAME``.

    Raises
    ------
    ProblemError
        If a name with a slash is not one that Kubernetes accepts.
    """
    if OWN.fullmatch(resource):
        return resource
    if "/" not in resource:
        return KNOWN.get(resource, f"{DOMAIN}/{label_value(resource)}")
    prefix, _, name = resource.partition("/")
    valid = PREFIX.fullmatch(prefix) and LABEL_VALUE.fullmatch(name)
    if not valid or prefix.endswith(RESERVED) or prefix.startswith(QUOTA):
        raise ProblemError(
            f"resource {resource!r:.80}: not an extended resource of Kubernetes, which is "
            "DOMAIN/NAME outside of kubernetes.io, where NAME has at most 63 letters, digits, '-', "
            "'_' and '.'"
        )
    return resource


def extended_resources(placement: Placement) -> list[dict[str, int]]:
    """Return, for each pod, extended resource -> the whole amount that its operators take.

    Raises
    ------
    ProblemError
        If a name is not valid, or two resources stand for the same extended resource.
    """
    names = extended_names(placement)
    found: list[dict[str, int]] = [{} for _ in range(int(pod_numbers(placement).max()) + 1)]
    for resource, counts, steps in _counts(placement):
        for pod in np.flatnonzero(counts).tolist():
            found[pod][names[resource]] = ceil(counts[pod] / steps)
    return found


def assumed_names(placement: Placement) -> str:
    """Return which extended resources stand for other names, as text; empty if none do."""
    changed = {name: to for name, to in extended_names(placement).items() if name != to}
    return ", ".join(f"{to} stands for {shown([name])}" for name, to in changed.items())


def rounded_up(placement: Placement) -> str:
    """Return the resources of which fractions are rounded up, as text; empty if there are none."""
    names = [name for name, counts, steps in _counts(placement) if (counts % steps).any()]
    if not names:
        return ""
    each = "pod" if has_replicas(placement) else "PE"
    text = ", ".join(shown([name]) for name in names)
    return f"fractions of {text} are rounded up for each {each}, since Kubernetes counts whole ones"


def _counts(placement: Placement) -> Iterator[tuple[str, Floats, float]]:
    """Yield the resources that operators take, the counts of each pod, and counts per 1."""
    graph, cluster = placement.problem.graph, placement.problem.cluster
    pod_of = pod_numbers(placement)
    device = np.zeros(int(pod_of.max()) + 1, dtype=np.int32)
    device[pod_of] = placement.devices
    for name in sorted(graph.resource_names):
        counts, _, steps = used_counts(graph.resource(name), pod_of, cluster.resource(name)[device])
        yield name, counts, steps


def extended_names(placement: Placement) -> dict[str, str]:
    """Return resource -> extended resource, for resources that operators take.

    Raises
    ------
    ProblemError
        If a name is not valid, or two resources stand for the same extended resource.
    """
    names: dict[str, str] = {}
    for resource in [name for name, counts, _ in _counts(placement) if counts.any()]:
        name = extended_name(resource)
        if name in names.values():
            same = [known for known, to in names.items() if to == name]
            raise ProblemError(f"resources {listed([*same, resource])}: both stand for {name!r}")
        names[resource] = name
    return names
