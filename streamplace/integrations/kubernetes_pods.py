"""What the pods of a placement on Kubernetes run and request."""

from dataclasses import dataclass

import numpy as np

from streamplace.integrations.comments import shown
from streamplace.integrations.kubernetes_names import dns_label
from streamplace.integrations.kubernetes_parts import Part, parts_of, pod_numbers
from streamplace.integrations.kubernetes_resources import extended_resources
from streamplace.integrations.pes import operator_cores, pe_numbers
from streamplace.problem.placement import Placement


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
