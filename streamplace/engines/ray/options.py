"""Writer of options for Ray actors, which tie each actor to the node of its device."""

import json
import re
import shlex
from math import ceil
from typing import Any

from streamplace.errors import ProblemError
from streamplace.formats.format import Format
from streamplace.formats.losses import resources
from streamplace.problem.graph_checks import listed
from streamplace.problem.instances import members_of
from streamplace.problem.logical import instance_names
from streamplace.problem.placement import Placement

UNIT = 1e-4  # Ray's smallest amount of a resource
MOST = 10_000  # actors on a node that offers 1
RESERVED = re.compile(r"CPU|GPU|memory|object_store_memory|(node|accelerator_type):.*|.*_group_.*")


def write(placement: Placement) -> str:
    """Return JSON with the options of each operator's actors, and how to start each node.

    A node offers 1 of a custom resource with the name of its device, and each actor takes 0.0001 of
    the one where it is placed. An actor takes no logical CPU, since the placement has counted what
    it needs, and the memory that the graph states.

    Raises
    ------
    ProblemError
        If a device has the name of one of Ray's own resources, or more than 10,000 actors.
    """
    problem = placement.problem
    devices = placement.pes
    if own := [name for name in devices if RESERVED.fullmatch(name)]:
        raise ProblemError(f"Ray has resources of its own named {listed(own)}: rename the devices")
    actors: dict[str, list[dict[str, Any]]] = {}
    counts: dict[str, int] = dict.fromkeys(devices, 0)
    for operator, members in members_of(problem.graph).items():
        rows = actors[operator] = []
        for name, v in zip(instance_names(operator, len(members)), members, strict=True):
            device = problem.cluster.names[placement.devices[v]]
            memory = _memory(float(problem.graph.memory_bytes[v]))
            rows.append({"name": name, "num_cpus": 0, "resources": {device: UNIT}, **memory})
            counts[device] += 1
    if full := [name for name, count in counts.items() if count > MOST]:
        raise ProblemError(f"more than {MOST:,} actors on {listed(full)}: use fewer instances")
    nodes = {name: shlex.join(["ray", "start", _offer(name)]) for name in devices}
    return json.dumps({"nodes": nodes, "actors": actors}, indent=1, ensure_ascii=False) + "\n"


def _offer(device: str) -> str:
    return f"--resources={json.dumps({device: 1})}"


def _memory(needed: float) -> dict[str, int]:
    return {"memory": ceil(needed)} if needed else {}


FORMAT = Format(
    "ray",
    about="Ray: options of each operator's actors, JSON",
    write=write,
    losses=(resources,),
)
