"""Extended resources of pods."""

import re
from collections.abc import Iterator
from math import ceil

import numpy as np

from streamplace.engines.kubernetes.parts import has_replicas, pod_numbers
from streamplace.errors import ProblemError
from streamplace.formats.instances import ascii_names
from streamplace.formats.labels import label_value
from streamplace.problem.graph_checks import listed
from streamplace.problem.limits import used_counts
from streamplace.problem.placement import Placement
from streamplace.problem.resources import IN_BYTES
from streamplace.util.arrays import Floats

GPU = "nvidia.com/gpu"
DOMAIN = "streamplace"
KNOWN = {"gpu": GPU}
"""Resources whose extended resource differs from ``streamplace/NAME``."""
PREFIX = re.compile(r"(?=.{1,244}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
QUOTA = "requests."  # precedes the name of an extended resource in a quota, so no name may have it
RESERVED = "kubernetes.io"  # Kubernetes takes every domain that ends in this for its own


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
    if IN_BYTES.fullmatch(resource):
        return resource
    if "/" not in resource:
        return KNOWN.get(resource, f"{DOMAIN}/{label_value(resource)}")
    prefix, _, name = resource.partition("/")
    valid = PREFIX.fullmatch(prefix) and label_value(name) == name
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
    return ", ".join(f"{to} stands for {ascii_names([name])}" for name, to in changed.items())


def rounded_up(placement: Placement) -> str:
    """Return the resources of which fractions are rounded up, as text; empty if there are none."""
    names = [name for name, counts, steps in _counts(placement) if (counts % steps).any()]
    if not names:
        return ""
    each = "pod" if has_replicas(placement) else "PE"
    text = ", ".join(ascii_names([name]) for name in names)
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
