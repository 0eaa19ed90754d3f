"""Graphs of the DREAM benchmark, which is also what CEPSim's runner takes."""

from typing import Any

from streamplace.errors import FormatError
from streamplace.files import cepsim, dream
from streamplace.files.reading import check, parse
from streamplace.files.schema import ForeignForm
from streamplace.problem.logical import LogicalGraph


def read_dream(text: str, where: str) -> LogicalGraph:
    """Read one released graph: work in instructions, payloads in Mbit, rates by selectivity.

    Raises
    ------
    FormatError
        Naming `where`, the place in it and the fault.
    """
    return _job(parse(text, where), where)


def read_cepsim(text: str, where: str) -> LogicalGraph:
    """Read the graph that CEPSim's runner is given; it is one of DREAM's.

    The runner's other document, a placement, holds indices alone and so no graph: `simulate` and
    `export` read it beside its graph.

    Raises
    ------
    FormatError
        Naming `where`, the place in it and the fault.
    """
    value = parse(text, where)
    if cepsim.looks_like(value) and not dream.looks_like(value):
        raise FormatError(
            f"{where}: is a CEPSim placement, which carries no graph; simulate takes one beside it"
        )
    return _job(value, where)


def _job(value: Any, where: str) -> LogicalGraph:
    if isinstance(value, dict) and not dream.looks_like(value):
        raise FormatError(f"{where}: must have operators and connections, and no streams")
    check(ForeignForm, value, where)
    return LogicalGraph(dream.graph_from(value, where, ""))
