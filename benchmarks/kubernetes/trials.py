"""Trials of manifests: where kube-scheduler lets each pod run."""

import copy
import json
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml

from benchmarks.kubernetes.api import Api, Object
from streamplace.engines.kubernetes.deployments import DEVICE, HOST, OPERATORS
from streamplace.engines.kubernetes.resources import GPU
from streamplace.formats.documents import export_text
from streamplace.problem.placement import Placement

PATIENCE_S = 60.0  # for the scheduler to decide about all pods, on a busy machine
SETTLES_S = 1.5  # changes of nodes and of pods come over two connections, in any order
LARGE = {"cpu": "1000", "memory": "1000Gi", GPU: "1000"}
OTHER = "other-node"
"""The node that no device stands for, which is the most attractive: it is empty and large."""


@dataclass
class Trial:
    """The manifests of a placement on nodes of their own, one for each device and another one.

    The nodes stay until `end`. A device's node has its name as a label, as the docs say, its memory
    and GPUs, and a millicore less than its cores, since a node's own processes take some.
    """

    api: Api
    placement: Placement
    prefix: str
    is_large: bool = False
    """Whether nodes have more than any device."""
    pods: dict[str, Object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Add the nodes."""
        text = export_text(self.placement, "kubernetes")
        self.deployments: list[Object] = [*yaml.safe_load_all(text)]
        self.label_of = {
            annotations(each)[DEVICE]: each["spec"]["template"]["spec"]["nodeSelector"][DEVICE]
            for each in self.deployments
        }
        self.devices = [
            name for name in self.placement.problem.cluster.names if name in self.label_of
        ]
        for device in self.placement.problem.cluster.devices:
            room = {
                "cpu": f"{device.cores * 1000 - 1}m",
                "memory": f"{int(device.memory_bytes or 0)}",
                GPU: f"{int(device.resources.get('gpu', 0))}",
            }
            self._add_node(self.node(device.name), LARGE if self.is_large else room, device.name)
        self._add_node(f"{self.prefix}-{OTHER}", LARGE, "")

    def node(self, device: str) -> str:
        """Return the name of a device's node."""
        return f"{self.prefix}-node-{self.placement.problem.cluster.names.index(device)}"

    def label(self, device: str, as_device: str) -> None:
        """Change the label of a device's node to that of another device; empty: to none."""
        node = copy.deepcopy(self.api.get("nodes", self.node(device)))
        node["metadata"]["labels"] = self._labels(self.node(device), as_device)
        self.api.put("nodes", node)

    def apply(self, devices: Iterable[str], *, without: str = "") -> None:
        """Add the pods of some devices, as Deployments would, once the scheduler knows the nodes.

        Parameters
        ----------
        without
            A field of the pods' spec that is left out.
        """
        time.sleep(SETTLES_S)
        chosen = {*devices}
        for deployment in self.deployments:
            template = copy.deepcopy(deployment["spec"]["template"])
            template["spec"].pop(without, None)
            if annotations(deployment)[DEVICE] in chosen:
                for number in range(deployment["spec"]["replicas"]):
                    name = f"{self.prefix}-{deployment['metadata']['name']}-{number}"
                    self._add_pod(name, template["metadata"], template["spec"])

    def fill(self, device: str) -> str:
        """Add a pod that takes all CPU time of a device's node; return its name."""
        name = f"{self.prefix}-other"
        cpu = self.api.get("nodes", self.node(device))["status"]["allocatable"]["cpu"]
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
        self._add_pod(name, {}, {"nodeName": self.node(device), "containers": [container]})
        return name

    def delete(self, *names: str) -> None:
        """Delete pods."""
        for name in names:
            self.api.delete("pods", name)
            del self.pods[name]

    def decided(self) -> bool:
        """Wait until the scheduler has decided about each pod; return whether it has in time."""
        return self.api.wait(lambda: all(map(self._is_decided, self.pods)), PATIENCE_S)

    def run_on(self, pods: Iterable[str]) -> bool:
        """Wait until pods have a node; return whether they have in time."""
        return self.api.wait(lambda: all(map(self.node_of, pods)), PATIENCE_S)

    def node_of(self, pod: str) -> str:
        """Return the node of a pod, or an empty text while it is pending."""
        return str(self.api.get("pods", pod)["spec"].get("nodeName", ""))

    def of(self, device: str) -> list[str]:
        """Return the names of a device's pods."""
        return [name for name in self.pods if device_of(self.pods[name]) == device]

    def requests_cpu(self, pod: str) -> bool:
        """Return whether a pod requests CPU time, which operators without load do not."""
        containers = self.pods[pod]["spec"]["containers"]
        return any(each["resources"]["requests"]["cpu"] != "0m" for each in containers)

    def misplaced(self) -> list[str]:
        """Return the pods that run on another node than their device's."""
        return [
            name
            for name, pod in self.pods.items()
            if (device := device_of(pod)) and self.node_of(name) not in ("", self.node(device))
        ]

    def pending(self) -> list[str]:
        """Return the pods without a node."""
        return [name for name in self.pods if not self.node_of(name)]

    def contents(self) -> Counter[tuple[str, tuple[str, ...]]]:
        """Return (node, what a pod runs) -> number of such pods."""
        return Counter(
            (self.node_of(name), tuple(json.loads(pod["metadata"]["annotations"][OPERATORS])))
            for name, pod in self.pods.items()
            if device_of(pod)
        )

    def end(self) -> None:
        """Delete the pods and nodes."""
        self.delete(*self.pods)
        for name in self.api.names("nodes"):
            self.api.delete("nodes", name)

    def _add_node(self, name: str, room: dict[str, str], device: str) -> None:
        room = room | {"pods": "110"}
        ready = [{"type": "Ready", "status": "True"}]
        status = {"allocatable": room, "capacity": room, "conditions": ready}
        labels = self._labels(name, device)
        self.api.put("nodes", {"metadata": {"name": name, "labels": labels}, "status": status})

    def _labels(self, node: str, device: str) -> dict[str, str]:
        label = {DEVICE: self.label_of[device]} if device in self.label_of else {}
        return {HOST: node} | label

    def _add_pod(self, name: str, metadata: Object, spec: Object) -> None:
        spec = {"schedulerName": "default-scheduler", "restartPolicy": "Always"} | spec
        self.pods[name] = {"metadata": metadata | {"name": name}, "spec": spec}
        self.api.put("pods", self.pods[name])

    def _is_decided(self, pod: str) -> bool:
        return bool(self.node_of(pod) or self.reason(pod))

    def reason(self, pod: str) -> str:
        """Return why a pod is pending; empty if it runs or is undecided."""
        conditions = self.api.get("pods", pod).get("status", {}).get("conditions", [])
        return " ".join(each.get("message", "") for each in conditions)


def annotations(deployment: Object) -> dict[str, Any]:
    """Return the annotations of a Deployment's pods."""
    found: dict[str, Any] = deployment["spec"]["template"]["metadata"]["annotations"]
    return found


def device_of(pod: Object) -> str:
    """Return the device of a pod, or an empty text if it is none of a placement's."""
    return str(pod["metadata"].get("annotations", {}).get(DEVICE, ""))
