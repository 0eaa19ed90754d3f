"""Reader of the nodes of a Ray cluster."""

import re
from collections import Counter

from pydantic import Field

from streamplace.engines.devices import Devices
from streamplace.engines.ray.dashboard import ALIVE
from streamplace.errors import FormatError
from streamplace.files.reading import check, parse
from streamplace.files.schema import Amounts, ForeignForm, Name, Title
from streamplace.formats.format import Format, Signs
from streamplace.problem.cluster import Cluster

CPU, MEMORY, STORE, GPU = "CPU", "memory", "object_store_memory", "GPU"
ZONE = "ray.io/availability-zone"
OWN_LABEL = re.compile(r"ray\.io/node[-_]id")  # the id of one node
OF_ONE_NODE = "node:"  # begins resources that tie a task to a node
TYPE = "accelerator_type:"


class _Node(ForeignForm):
    node_id: Name
    node_name: Title | None = ""
    state: Title
    resources: Amounts | None = Field(None, alias="resources_total")
    labels: dict[Name, Title] | None = None


def read(text: str, where: str) -> tuple[Cluster, list[str]]:
    """Read what ``ray list nodes --format json`` prints.

    A device has the name of its node, or the node's id where several have the name. The resource
    GPU is called gpu, as in graphs.

    Raises
    ------
    FormatError
        If the text is not valid, or no node is left. The message names `where`, the place in it and
        the fault.
    """
    value = parse(text, where)
    if not isinstance(value, list):
        raise FormatError(f"{where}: must be a list; 'ray list nodes --format json' prints it")
    nodes = [check(_Node, each, f"{where}: [{i}]") for i, each in enumerate(value)]
    names = Counter(each.node_name for each in nodes if each.state == ALIVE)
    devices = Devices(where, "node")
    for i, each in enumerate(nodes):
        if each.state != ALIVE:
            devices.leave_out(each.node_id, f"in state {each.state!r:.40}")
            continue
        name = each.node_name or each.node_id
        _add(devices, name if names[name] <= 1 else each.node_id, each, f"[{i}].node_id")
    devices.note("Ray does not list what runs on nodes, so it is not deducted")
    return devices.cluster()


def _add(devices: Devices, name: str, node: _Node, place: str) -> None:
    offered, labels = node.resources or {}, node.labels or {}
    found = [f"{k}={v}" if v else k for k, v in labels.items() if not OWN_LABEL.fullmatch(k)]
    others = {key: amount for key, amount in offered.items() if key not in (CPU, MEMORY, STORE)}
    devices.add(
        name,
        offered.get(CPU, 0.0),
        offered.get(MEMORY),
        labels=[*found, *(key for key in others if key.startswith(TYPE))],
        group=labels.get(ZONE) or None,
        resources={
            "gpu" if key == GPU else key: amount
            for key, amount in others.items()
            if not key.startswith((OF_ONE_NODE, TYPE))
        },
        place=place,
    )


FORMAT = Format(
    "ray-nodes",
    about="Ray: a cluster, of ray list nodes --format json",
    read_cluster=read,
    signs=Signs(
        text=re.compile(r'\A\s*\[\s*\{\s*"node_id":'),
        fields=(frozenset({"[].node_id", "[].resources_total"}),),
    ),
)
