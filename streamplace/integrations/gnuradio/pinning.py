"""Writers for GNU Radio: cores of blocks in a copy of a flowgraph, and the program that counts."""

import re
from importlib.resources import files
from typing import Any

from streamplace.errors import ProblemError
from streamplace.integrations.gnuradio.flowgraph import DISABLED, flowgraph_from
from streamplace.integrations.pes import operator_devices
from streamplace.integrations.yaml import parse_yaml, to_yaml
from streamplace.problem.graph_checks import listed
from streamplace.problem.placement import Placement

CORES = re.compile(r"core(0|[1-9][0-9]{0,4})(?:-(0|[1-9][0-9]{0,4}))?", re.ASCII)
RULE = "name each device after its core, as in core0, or its cores, as in core0-3"


def write(placement: Placement, text: str, where: str) -> str:
    """Return a flowgraph whose blocks have the cores of their devices as ``affinity``.

    A device is named ``core`` and the number of its core, or those of its first and last one.
    Blocks that the placement lacks keep their affinity.

    Parameters
    ----------
    text
        The flowgraph.

    Raises
    ------
    FormatError
        If the text is not a flowgraph. The message names `where`, the place in it and the fault.
    ProblemError
        If a device has another name, two have the same core, the flowgraph lacks a block, or an
        operator has several instances.
    """
    value: Any = parse_yaml(text, where)
    flowgraph = flowgraph_from(value, where)
    devices = operator_devices(placement)
    if lacking := [name for name in devices if name not in flowgraph.blocks]:
        raise ProblemError(f"{where} has no blocks that run named {listed(lacking)}")
    if len(devices) < len(placement.devices):
        raise ProblemError("a block of GNU Radio has one instance only: place with one of each")
    owner: dict[int, str] = {}
    for device in dict.fromkeys(devices.values()):
        for core in cores_of(device):
            if owner.setdefault(core, device) != device:
                raise ProblemError(
                    f"devices {owner[core]!r} and {device!r} both have core {core}: give each core "
                    "to one device"
                )
    for block in value["blocks"]:
        name, states = block["name"], block.get("states") or {}
        if name in devices and states.get("state") not in DISABLED:
            block.setdefault("parameters", {})["affinity"] = str(cores_of(devices[name]))
    return to_yaml([value])


def cores_of(device: str) -> list[int]:
    """Return the numbers of a device's cores.

    Raises
    ------
    ProblemError
        If its name does not say which.
    """
    found = CORES.fullmatch(device)
    first = int(found[1]) if found else 0
    last = int(found[2] or first) if found else -1
    if last < first:
        raise ProblemError(f"device {device!r:.40} does not say which cores it has: {RULE}")
    return list(range(first, last + 1))


def write_counters(placement: Placement) -> str:
    """Return ``streamplace_counters.py``, which is the same for every placement."""
    return helper_source()


def helper_source() -> str:
    """Return the text of ``streamplace_counters.py``, which depends on GNU Radio only."""
    return files(__package__).joinpath("streamplace_counters.py").read_text(encoding="utf-8")
