"""Writer of Kubernetes manifests: a Deployment per PE, and per parallel operator and node."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Any

import numpy as np

from streamplace.engines.kubernetes.parts import (
    Part,
    has_replicas,
    lost_numbers,
    parts_of,
    pod_numbers,
    shared_requests,
)
from streamplace.engines.kubernetes.resources import (
    assumed_names,
    extended_names,
    extended_resources,
    rounded_up,
)
from streamplace.errors import ProblemError
from streamplace.formats.format import Format
from streamplace.formats.instances import ascii_names, operator_cores
from streamplace.formats.labels import dns_label, label_value
from streamplace.formats.losses import accelerators
from streamplace.formats.yaml import to_yaml
from streamplace.problem.placement import Placement

CPU, MEMORY = "cpu", "memory"
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

    @property
    def requests(self) -> dict[str, int]:
        """What each pod requests: CPU in millicores, memory in bytes, and extended resources."""
        millicores = ceil(round(self.cores * 1000, 6))  # without rounding noise
        memory = {MEMORY: ceil(self.memory_bytes)} if self.memory_bytes else {}
        return {CPU: millicores} | memory | self.extended


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
    pod_of = pod_numbers(placement)
    numbers = {device: n for n, device in enumerate(placement.pes)}
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


def crowded(placement: Placement) -> list[str]:
    """Return the devices whose pods request all cores or more, or more of anything else."""
    names, needs = extended_names(placement), dict[str, Counter[str]]()
    for pods in pods_of(placement):
        total = {name: amount * pods.replicas for name, amount in pods.requests.items()}
        needs.setdefault(pods.device, Counter()).update(total)
    found = []
    for device in placement.problem.cluster.devices:
        need = needs.get(device.name, Counter())
        room = {names[name]: n for name, n in device.resources.items() if name in names}
        room[MEMORY] = inf if device.memory_bytes is None else device.memory_bytes
        exceeded = any(need[name] > n for name, n in room.items())
        if need[CPU] >= 1000 * device.cores or exceeded:
            found.append(device.name)
    return found


def assumed_nodes(placement: Placement) -> str:
    """Return on which nodes pods do not fit, as text; empty if there are none."""
    if not (few := crowded(placement)):
        return ""
    return (
        f"the nodes of {ascii_names(few)} have more than their devices; pods stay pending "
        "otherwise, since they request all cores, or more memory or resources than the device has; "
        "place with a lower --target-utilisation, or with fewer instances on a device"
    )


def _component(part: Part, number: int) -> str:
    return dns_label(f"pe{number}-{part.operator}") if part.operator else f"pe{number}"


def _largest(of_pods: list[dict[str, int]]) -> dict[str, int]:
    """Return the largest amount of each resource."""
    names = dict.fromkeys(name for taken in of_pods for name in taken)
    return {name: max(taken.get(name, 0) for taken in of_pods) for name in names}


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
    requests = {name: str(amount) for name, amount in pods.requests.items()}
    requests[CPU] += "m"
    limits = {name: requests[name] for name in pods.extended}
    return {"requests": requests, **({"limits": limits} if limits else {})}


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


FORMAT = Format(
    "kubernetes",
    about="Deployments: one per PE, with replicas for operators of several instances",
    write=write,
    comment="# ",
    losses=(accelerators, rounded_up, lost_numbers),
    assumptions=(assumed_names, shared_requests, assumed_nodes),
)
