"""Writer of Kubernetes manifests: a Deployment per PE, and per parallel operator and node."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from streamplace.errors import ProblemError
from streamplace.integrations.kubernetes_parts import (
    LABEL_VALUE,
    Part,
    dns_label,
    has_replicas,
    label_value,
    parts_of,
    pod_numbers,
)
from streamplace.integrations.pes import operator_cores, pe_numbers, shown
from streamplace.integrations.yaml import to_yaml
from streamplace.problem.graph_checks import listed
from streamplace.problem.limits import used_counts
from streamplace.problem.placement import Placement
from streamplace.util.arrays import Floats

GPU = "nvidia.com/gpu"
DOMAIN = "streamplace"
KNOWN = {"gpu": GPU}
"""Resources whose extended resource differs from ``streamplace/NAME``."""
OWN = re.compile("ephemeral-storage|hugepages-[1-9][0-9]*[KMG]i")
"""Kubernetes's own resources, in bytes, without those that the export computes (CPU, memory)."""
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
    names = _names(placement)
    found: list[dict[str, int]] = [{} for _ in range(int(pod_numbers(placement).max()) + 1)]
    for resource, counts, steps in _counts(placement):
        for pod in np.flatnonzero(counts).tolist():
            found[pod][names[resource]] = ceil(counts[pod] / steps)
    return found


def assumed_names(placement: Placement) -> str:
    """Return which extended resources stand for other names, as text; empty if none do."""
    changed = {name: to for name, to in _names(placement).items() if name != to}
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


def _names(placement: Placement) -> dict[str, str]:
    """Return resource -> extended resource, for resources that operators take."""
    names: dict[str, str] = {}
    for resource in [name for name, counts, _ in _counts(placement) if counts.any()]:
        name = extended_name(resource)
        if name in names.values():
            same = [known for known, to in names.items() if to == name]
            raise ProblemError(f"resources {listed([*same, resource])}: both stand for {name!r}")
        names[resource] = name
    return names


@dataclass(frozen=True)
class Pods:
    """Equal pods on one node, which one Deployment makes.

    Parameters
    ----------
    component
        A DNS label, distinct within the job: ``peN``, or ``peN-OPERATOR`` for a parallel operator.
    operators
        What each pod runs: the operators of a PE, or one instance of a parallel operator.
    cores, memory_bytes, extended
        What each pod requests: the needs of the PE, or the largest needs of any instance here.
    """

    component: str
    device: str
    operators: tuple[str, ...]
    replicas: int
    cores: float
    memory_bytes: float
    extended: dict[str, int]


def pods_of(placement: Placement) -> list[Pods]:
    """Return the pods of each Deployment, in the order of the cluster's devices.

    Raises
    ------
    ProblemError
        If the objective is a makespan, or a resource has a name that Kubernetes refuses.
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    graph, devices = placement.problem.graph, placement.problem.cluster.names
    pod_of, numbers = pod_numbers(placement), pe_numbers(placement)
    cores = np.bincount(pod_of, operator_cores(placement, "kubernetes"))
    memory = np.bincount(pod_of, graph.memory_bytes)
    extended = extended_resources(placement)
    found, first = [], 0
    for part in parts_of(placement):
        device = devices[part.device]
        pods = slice(first, first + part.replicas)
        found.append(
            Pods(
                _component(part, numbers[device]),
                device,
                (part.operator,) if part.operator else tuple(graph.names[v] for v in part.members),
                part.replicas,
                float(cores[pods].max()),
                float(memory[pods].max()),
                _largest(extended[pods]),
            )
        )
        first += part.replicas
    return found


def assumed_nodes(placement: Placement) -> str:
    """Return on which nodes pods do not fit, as text; empty if there are none."""
    devices, used = placement.problem.cluster.devices, operator_cores(placement, "kubernetes")
    cores = np.bincount(placement.devices, used, minlength=len(devices))
    full = [device.name for device, n in zip(devices, cores, strict=True) if n >= device.cores]
    if not full:
        return ""
    return (
        f"the nodes of {shown(full)} have more cores than their devices; pods stay pending "
        "otherwise, since they request all cores or more; place with a lower --target-utilisation"
    )


def _component(part: Part, number: int) -> str:
    return dns_label(f"pe{number}-{part.operator}") if part.operator else f"pe{number}"


def _largest(of_pods: list[dict[str, int]]) -> dict[str, int]:
    """Return the largest amount of each resource."""
    names = dict.fromkeys(name for taken in of_pods for name in taken)
    return {name: max(taken.get(name, 0) for taken in of_pods) for name in names}


JOB, PE = "app.kubernetes.io/part-of", "app.kubernetes.io/component"
DEVICE = "streamplace/device"
OPERATORS = "streamplace/operators"
HOST = "kubernetes.io/hostname"
MAX_JOB_NAME = 54  # characters; leaves room for -pe and a number
VARIABLE = "STREAMPLACE_OPERATORS"
MAX_VARIABLE_BYTES = 128 * 1024  # NAME=value and its NUL on Linux; annotations hold 256 KiB
HEADER = f"""\
# One Deployment per PE. It runs on the node whose label {DEVICE} names the PE's device.
# ${VARIABLE} holds the names of the PE's operators, a JSON list.
# Replace job-image with your image.
"""
WITH_REPLICAS = f"""\
# One Deployment per PE, and one per node for each parallel operator, with a replica per instance.
# Each runs on the node whose label {DEVICE} names its device.
# ${VARIABLE} holds the names of the operators that a pod runs, a JSON list. A replica runs
# one instance of its operator.
# Replace job-image with your image.
"""


def write(placement: Placement) -> str:
    """Return one YAML document per Deployment, in the order of the cluster's devices.

    Operators with several instances have a Deployment of their own on each device that runs some,
    with a replica per instance. The other operators on a device are one Deployment, a PE. CPU
    requests are the cores that a pod needs at the source rate, in millicores; those of a node may
    exceed the device's cores. Memory requests are the sum over a PE's operators, in bytes; a sum of
    0 is left out. Limits and requests have the whole amounts of extended resources, which must be
    equal.

    Raises
    ------
    ProblemError
        If the names of a PE's operators do not fit into an environment variable, or a resource has
        a name that Kubernetes refuses.
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    name = placement.job or placement.problem.graph.name
    job = dns_label(name, MAX_JOB_NAME) if name else "job"
    several = pods_of(placement)
    components: dict[str, list[str]] = {}  # of each device
    for pods in several:
        components.setdefault(pods.device, []).append(pods.component)
    documents = [
        _deployment(job, pods, components[pods.device] if len(components) > 1 else ())
        for pods in several
    ]
    header = WITH_REPLICAS if has_replicas(placement) else HEADER
    return header + to_yaml(documents, marked=True)


def _operators_value(operators: tuple[str, ...], device: str) -> str:
    """Return the value of the container's environment variable: the operators as JSON."""
    text = json.dumps(operators)
    if len(f"{VARIABLE}={text}") >= MAX_VARIABLE_BYTES:
        raise ProblemError(
            f"the names of the {len(operators):,} operators on {device!r:.80} take {len(text):,} "
            f"bytes, but an environment variable holds {MAX_VARIABLE_BYTES:,}; use more devices"
        )
    return text


def _resources(pods: Pods) -> dict[str, Any]:
    extended = {name: str(amount) for name, amount in pods.extended.items()}
    requests = {"cpu": f"{ceil(round(pods.cores * 1000, 6))}m"}  # without rounding noise
    memory = {"memory": str(ceil(pods.memory_bytes))} if pods.memory_bytes else {}
    limits = {"limits": dict(extended)} if extended else {}
    return {"requests": requests | memory | extended, **limits}


def _deployment(job: str, pods: Pods, neighbours: Sequence[str]) -> dict[str, Any]:
    """Return the Deployment of some pods.

    Parameters
    ----------
    neighbours
        The job's components on the same node, this one included; empty if there is only one node.
    """
    labels = {JOB: job, PE: pods.component}
    pod: dict[str, Any] = {"nodeSelector": {DEVICE: label_value(pods.device)}}
    if neighbours:
        pod["affinity"] = {"podAntiAffinity": _no_others(job, neighbours)}
    source = {"fieldRef": {"fieldPath": f"metadata.annotations['{OPERATORS}']"}}
    pod["containers"] = [
        {
            "name": pods.component,
            "image": "job-image",
            "env": [{"name": VARIABLE, "valueFrom": source}],
            "resources": _resources(pods),
        }
    ]
    annotations = {DEVICE: pods.device, OPERATORS: _operators_value(pods.operators, pods.device)}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": dns_label(f"{job}-{pods.component}"), "labels": dict(labels)},
        "spec": {
            "replicas": pods.replicas,
            "strategy": {"type": "Recreate"},  # more pods than instances would process tuples twice
            "selector": {"matchLabels": dict(labels)},
            "template": {
                "metadata": {"labels": dict(labels), "annotations": annotations},
                "spec": pod,
            },
        },
    }


def _no_others(job: str, neighbours: Sequence[str]) -> dict[str, Any]:
    """Return the anti-affinity term that keeps components of other devices off the node."""
    others = [
        {"key": JOB, "operator": "In", "values": [job]},
        {"key": PE, "operator": "NotIn", "values": [*neighbours]},
    ]
    term = {"labelSelector": {"matchExpressions": others}, "topologyKey": HOST}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
