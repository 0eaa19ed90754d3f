"""Reader of the nodes of a Kubernetes cluster, less what its pods request."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field

from streamplace.engines.devices import Devices
from streamplace.engines.kubernetes.deployments import CPU, HOST, MEMORY
from streamplace.engines.kubernetes.quantity import Quantity
from streamplace.engines.kubernetes.resources import KNOWN
from streamplace.errors import FormatError
from streamplace.files.reading import check, parse
from streamplace.files.schema import ForeignForm, Name, Title
from streamplace.formats.format import Format, Signs
from streamplace.problem.cluster import Cluster
from streamplace.problem.resources import IN_BYTES
from streamplace.util.text import counted

ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
PODS = "pods"
KEEPS_AWAY = ("NoSchedule", "NoExecute")  # PreferNoSchedule does not
ENDED = ("Succeeded", "Failed")
COMMAND = "kubectl get nodes,pods -A -o json"
_BETWEEN = re.compile(r"(?<=\})[ \t\r]*\n\s*(?=\{)")
"""What divides documents of several commands; texts in JSON contain no line ends."""
_OWN_NAMES = {to: name for name, to in KNOWN.items()}


class _Metadata(ForeignForm):
    name: Name
    labels: dict[Name, Title] | None = None


class _Taint(ForeignForm):
    key: Name
    effect: Title = ""


class _NodeSpec(ForeignForm):
    unschedulable: bool | None = None
    taints: list[_Taint] | None = None


class _Condition(ForeignForm):
    type: Title
    status: Title


class _NodeStatus(ForeignForm):
    allocatable: dict[Name, Quantity]
    conditions: list[_Condition] | None = None


class _Node(ForeignForm):
    metadata: _Metadata
    spec: _NodeSpec
    status: _NodeStatus


class _Resources(ForeignForm):
    requests: dict[Name, Quantity] | None = None


class _Container(ForeignForm):
    resources: _Resources | None = None
    restart_policy: Title | None = Field(None, alias="restartPolicy")

    @property
    def requests(self) -> Counter[str]:
        """Resource -> what it requests."""
        return _requests(self.resources)


class _PodSpec(ForeignForm):
    node: Title | None = Field(None, alias="nodeName")
    containers: list[_Container]
    init: list[_Container] | None = Field(None, alias="initContainers")
    overhead: dict[Name, Quantity] | None = None
    resources: _Resources | None = None

    @property
    def requests(self) -> Counter[str]:
        """Resource -> what the pod requests, as Kubernetes counts it.

        Containers run together, after the init containers, which run one after the other; those
        that restart always go on beside what follows. Requests of the pod replace those.
        """
        beside, most = Counter[str](), Counter[str]()
        for each in self.init or ():
            most |= beside + each.requests
            if each.restart_policy == "Always":
                beside += each.requests
        together = sum((each.requests for each in self.containers), beside)
        of_containers = together | most
        return Counter({**of_containers, **_requests(self.resources)}) + _amounts(self.overhead)


class _PodStatus(ForeignForm):
    phase: Title = ""


class _Pod(ForeignForm):
    spec: _PodSpec
    status: _PodStatus


def _requests(resources: _Resources | None) -> Counter[str]:
    return _amounts(resources.requests if resources else None)


def _amounts(stated: Mapping[str, float] | None) -> Counter[str]:
    return Counter(stated or {})  # amounts are fractions


def read(text: str, where: str) -> tuple[Cluster, list[str]]:
    """Read what ``kubectl get nodes`` prints as JSON, perhaps with the pods.

    The nodes and pods may be in one list, or in documents one after the other. Nodes that are not
    ready, or that keep pods away, are left out. The zone of a node is its group.

    Raises
    ------
    FormatError
        If the text is not valid, or no node is left. The message names `where`, the place in it and
        the fault.
    """
    nodes, pods, others = list[tuple[str, _Node]](), list[_Pod](), 0
    for kind, value, place in _objects(text, where):
        at = ": ".join(filter(None, (where, place)))
        if kind == "Node":
            nodes.append((place, check(_Node, value, at)))
        elif kind == "Pod":
            pods.append(check(_Pod, value, at))
        else:
            others += 1
    if not nodes:
        raise FormatError(f"{where}: has no node; '{COMMAND}' prints them")
    devices = Devices(where, "node")
    taken = _requests_by_node(pods, devices)
    if others:
        devices.note(f"{counted(others, 'object')} that are neither nodes nor pods are not read")
    for place, node in nodes:
        _add(devices, node, taken.get(node.metadata.name, Counter()), place)
    return devices.cluster()


def _objects(text: str, where: str) -> Iterator[tuple[str, Any, str]]:
    """Yield (kind, object, place in the file) of each object in lists, or alone."""
    documents = _BETWEEN.split(text)
    for number, document in enumerate(documents, 1):
        own = "" if len(documents) == 1 else f"document {number}"
        at = ": ".join(filter(None, (where, own)))
        value = parse(document, at)
        kind = value.get("kind") if isinstance(value, dict) else None
        if not isinstance(kind, str):
            raise FormatError(f"{at}: has no kind; expected what '{COMMAND}' prints")
        if not kind.endswith("List"):
            yield kind, value, own
            continue
        items = value.get("items")
        if not isinstance(items, list):
            raise FormatError(f"{at}: items: must be a list")
        for i, item in enumerate(items):
            stated = item.get("kind") if isinstance(item, dict) else None
            place = ": ".join(filter(None, (own, f"items[{i}]")))
            yield str(stated or kind.removesuffix("List")), item, place


def _requests_by_node(pods: list[_Pod], devices: Devices) -> dict[str, Counter[str]]:
    """Return node -> what the pods on it request; note what is not known."""
    if not pods:
        devices.note(f"no pods are listed, so what runs is not deducted; '{COMMAND}' lists them")
        return {}
    running = [each for each in pods if each.status.phase not in ENDED]
    taken: dict[str, Counter[str]] = {}
    waiting, silent = 0, 0
    for pod in running:
        requests = pod.spec.requests
        if pod.spec.node:
            taken.setdefault(pod.spec.node, Counter()).update(requests | Counter({PODS: 1}))
            silent += not requests[CPU]
        waiting += not pod.spec.node
    if waiting:
        devices.note(f"{counted(waiting, 'pod')} without a node: not deducted")
    placed = counted(len(running) - waiting, "pod")
    devices.note(
        f"deducted: what is requested by {placed}"
        + (f"; without a request for CPU, and so counted as none: {silent:,}" if silent else "")
    )
    return taken


def _add(devices: Devices, node: _Node, taken: Counter[str], place: str) -> None:
    name, allocatable = node.metadata.name, node.status.allocatable
    if why := _unusable(node):
        devices.leave_out(name, why)
        return
    if allocatable.get(PODS, taken[PODS] + 1) <= taken[PODS]:
        devices.leave_out(name, "without room for a pod")
        return
    labels = node.metadata.labels or {}
    group = next((labels[key] for key in ZONES if labels.get(key)), None)
    free = {key: amount - taken[key] for key, amount in allocatable.items()}
    devices.add(
        name,
        free.get(CPU, 0.0),
        free.get(MEMORY),
        labels=[f"{k}={v}" if v else k for k, v in labels.items() if k != HOST],
        group=group,
        resources={
            _OWN_NAMES.get(key, key): n
            for key, n in free.items()
            if "/" in key or IN_BYTES.fullmatch(key)
        },
        place=f"{place}.metadata.name" if place.endswith("]") else f"{place}: metadata.name",
    )


def _unusable(node: _Node) -> str:
    """Return why no pod may start on a node; empty if one may."""
    ready = [each.status for each in node.status.conditions or () if each.type == "Ready"]
    if ready and ready[-1] != "True":
        return "not ready"
    if node.spec.unschedulable:
        return "cordoned"
    taints = (each.key for each in node.spec.taints or () if each.effect in KEEPS_AWAY)
    taint = next(taints, "")
    return f"tainted {taint}" if taint else ""


FORMAT = Format(
    "kubernetes-nodes",
    about="Kubernetes: a cluster, of kubectl get nodes,pods -A -o json",
    read_cluster=read,
    signs=Signs(
        text=re.compile(r'\A\s*\{\s*"apiVersion": "v1",\s*"items": \[\s*\{\s*"apiVersion": "v1",'),
        fields=(
            frozenset({"apiVersion", "items[].status", "items[].metadata"}),
            frozenset({"apiVersion", "*.allocatable"}),
        ),
    ),
)
