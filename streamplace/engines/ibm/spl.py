"""Writers of placements for IBM Streams: clauses for SPL, and job configuration overlays."""

import json
from collections.abc import Sequence

from streamplace.files.json_text import to_json
from streamplace.formats.format import Format
from streamplace.formats.losses import resources
from streamplace.problem.graph_checks import listed
from streamplace.problem.instances import operator_devices
from streamplace.problem.placement import Placement

HEADER = """\
// One PE per device. Operators with the same partitionColocation are fused into one PE; the first
// operator of each PE also has a partitionExlocation, which keeps the PEs separate. Put each
// placement clause into the invocation of its operator. Put this clause into the main composite and
// replace the devices' names with the names of your hosts:
"""


def write(placement: Placement) -> str:
    """Return SPL with a host pool per PE and a placement clause per operator.

    Raises
    ------
    ProblemError
        If instances of an operator are on several devices, since all channels of a parallel region
        share the clauses of its operators.
    """
    device_of = operator_devices(placement)
    number = {device: n for n, device in enumerate(placement.pes)}
    pools = ",\n".join(f"  pe{n} = [{_text(device)}]" for device, n in number.items())
    parts = [f"{HEADER}config hostPool :\n{pools};\n"]
    started: set[str] = set()
    for operator, device in device_of.items():
        pe = f"pe{number[device]}"
        config = [f'partitionColocation("{pe}")', f"host({pe})"]
        if device not in started and len(number) > 1:
            config.insert(1, 'partitionExlocation("pes")')
        started.add(device)
        parts.append(f"// {_text(operator)}\nconfig placement : {', '.join(config)};\n")
    return "\n".join(parts)


def _text(name: str) -> str:
    """Return a name as a literal on one line."""
    return json.dumps(name)


def labels_note(tagged: Sequence[str]) -> list[str]:
    """Return the note about operators whose hosts must have tags; none without such operators."""
    if not tagged:
        return []
    return [
        f"{listed(tagged)}: resource tags of Streams are read as labels, in requires; devices that "
        "may run these operators need them, too"
    ]


def write_overlay(placement: Placement) -> str:
    """Return an overlay that requests the placement's number of PEs.

    The overlay does not assign operators to PEs; the clauses that ``ibm-spl`` writes do.
    """
    deployment = {"fusionScheme": "manual", "fusionTargetPeCount": len(placement.pes)}
    return to_json({"jobConfigOverlays": [{"jobConfig": {}, "deploymentConfig": deployment}]})


def _operators(placement: Placement) -> str:
    return "only the number of PEs is kept; use ibm-spl for which operator runs where"


SPL = Format(
    "ibm-spl",
    about="IBM Streams: placement clauses for SPL",
    write=write,
    comment="// ",
    losses=(resources,),
)
OVERLAY = Format(
    "ibm-overlay",
    about="IBM Streams: job configuration overlay with the number of PEs only",
    write=write_overlay,
    losses=(_operators,),
)
