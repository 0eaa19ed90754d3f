"""Readers of DREAM benchmark graphs, which CEPSim's runner also takes."""

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
    return _logical_graph(parse(text, where), where)


def read_cepsim(text: str, where: str) -> LogicalGraph:
    """Read the graph of CEPSim's runner, which has DREAM's format.

    The runner's other document, a placement, contains only indices: `simulate` and `export` read it
    together with its graph.

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
    return _logical_graph(value, where)


def _logical_graph(value: Any, where: str) -> LogicalGraph:
    if isinstance(value, dict) and not dream.looks_like(value):
        raise FormatError(f"{where}: must have operators and connections, and no streams")
    check(ForeignForm, value, where)
    return LogicalGraph(dream.graph_from(value, where, ""))
