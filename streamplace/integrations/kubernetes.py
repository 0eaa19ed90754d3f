"""Writer of Kubernetes manifests: a Deployment per PE, and per parallel operator and node."""

import json
from collections.abc import Sequence
from math import ceil
from typing import Any

from streamplace.errors import ProblemError
from streamplace.integrations.kubernetes_names import dns_label, label_value
from streamplace.integrations.kubernetes_parts import has_replicas
from streamplace.integrations.kubernetes_pods import Pods, pods_of
from streamplace.integrations.parsing.yaml_writer import to_yaml
from streamplace.problem.placement import Placement

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
