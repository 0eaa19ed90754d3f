"""Writer of Kubernetes manifests, one Deployment per PE."""

import json
from math import ceil
from typing import Any

import numpy as np

from streamplace.errors import ProblemError
from streamplace.integrations.kubernetes_names import dns_label, label_value
from streamplace.integrations.kubernetes_resources import extended_resources
from streamplace.integrations.parsing.yaml_writer import to_yaml
from streamplace.integrations.pes import cores_needed, pe_numbers
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


def write(placement: Placement) -> str:
    """Return one YAML document per PE, in the order of the cluster's devices.

    CPU requests are the cores that the PE needs at the source rate, in millicores; they may exceed
    the device's cores. Memory requests are the sum over the operators, in bytes; a sum of 0 is left
    out. Limits and requests have the whole amounts of extended resources, which must be equal.

    Raises
    ------
    ProblemError
        If the names of a PE's operators do not fit into an environment variable, or a resource has
        a name that Kubernetes refuses.
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    name = placement.problem.graph.name
    job = dns_label(name, MAX_JOB_NAME) if name else "job"
    cores = cores_needed(placement, "kubernetes")
    memory, extended = _memory(placement), extended_resources(placement)
    pes = placement.pes
    documents = [
        _deployment(
            {JOB: job, PE: f"pe{number}"},
            device,
            _operators_value(pes[device], device),
            _resources(cores[device], memory[device], extended.get(device, {})),
            several=len(pes) > 1,
        )
        for device, number in pe_numbers(placement).items()
    ]
    return HEADER + to_yaml(documents, marked=True)


def _operators_value(operators: tuple[str, ...], device: str) -> str:
    """Return the value of the container's environment variable: the operators as JSON."""
    text = json.dumps(operators)
    if len(f"{VARIABLE}={text}") >= MAX_VARIABLE_BYTES:
        raise ProblemError(
            f"the names of the {len(operators):,} operators on {device!r:.80} take {len(text):,} "
            f"bytes, but an environment variable holds {MAX_VARIABLE_BYTES:,}; use more devices"
        )
    return text


def _memory(placement: Placement) -> dict[str, float]:
    """Return device -> memory of its operators, bytes."""
    graph, devices = placement.problem.graph, placement.problem.cluster.names
    sums = np.bincount(placement.devices, weights=graph.memory_bytes, minlength=len(devices))
    return dict(zip(devices, sums.tolist(), strict=True))


def _resources(cores: float, memory_bytes: float, extended: dict[str, str]) -> dict[str, Any]:
    requests = {"cpu": f"{ceil(round(cores * 1000, 6))}m"}  # without rounding noise
    memory = {"memory": str(ceil(memory_bytes))} if memory_bytes else {}
    limits = {"limits": dict(extended)} if extended else {}
    return {"requests": requests | memory | extended, **limits}


def _deployment(
    labels: dict[str, str],
    device: str,
    operators: str,
    resources: dict[str, Any],
    several: bool,
) -> dict[str, Any]:
    pod: dict[str, Any] = {"nodeSelector": {DEVICE: label_value(device)}}
    if several:
        pod["affinity"] = {"podAntiAffinity": _no_other_pe(labels)}
    source = {"fieldRef": {"fieldPath": f"metadata.annotations['{OPERATORS}']"}}
    pod["containers"] = [
        {
            "name": labels[PE],
            "image": "job-image",
            "env": [{"name": VARIABLE, "valueFrom": source}],
            "resources": resources,
        }
    ]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": f"{labels[JOB]}-{labels[PE]}", "labels": dict(labels)},
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},  # two pods of one PE would process tuples twice
            "selector": {"matchLabels": dict(labels)},
            "template": {
                "metadata": {
                    "labels": dict(labels),
                    "annotations": {DEVICE: device, OPERATORS: operators},
                },
                "spec": pod,
            },
        },
    }


def _no_other_pe(labels: dict[str, str]) -> dict[str, Any]:
    """Return the anti-affinity term that keeps other PEs of the job off the node."""
    others = [
        {"key": JOB, "operator": "In", "values": [labels[JOB]]},
        {"key": PE, "operator": "NotIn", "values": [labels[PE]]},
    ]
    term = {"labelSelector": {"matchExpressions": others}, "topologyKey": HOST}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
