"""Facts of a placement that several formats lose."""

import re

from streamplace.formats.instances import ascii_names
from streamplace.problem.placement import Placement

ACCELERATOR = re.compile(r"gpu|tpu|npu|fpga|cuda|accelerator", re.IGNORECASE)


def accelerators(placement: Placement) -> str:
    """Return whose work on accelerators is counted as CPU; empty if there is none."""
    graph = placement.problem.graph
    names = [
        graph.names[v]
        for v, labels in graph.requires.items()
        if any(ACCELERATOR.search(label) for label in labels) and v not in graph.resources
    ]
    if not names:
        return ""
    who, require, need = (
        ("it", "requires", "needs") if len(names) == 1 else ("they", "require", "need")
    )
    return (
        f"the work of {ascii_names(names)}, which {require} an accelerator, is counted as CPU; "
        f"set what {who} {need} by hand"
    )


def resources(placement: Placement) -> str:
    """Return which resources a file does not reserve; empty if operators take none."""
    names = placement.problem.graph.resource_names
    if not names:
        return ""
    return (
        f"the file does not reserve {ascii_names(names)}, which the placement counts; "
        "reserve what is needed by hand"
    )
