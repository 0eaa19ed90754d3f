"""Readers of DREAM benchmark graphs, which CEPSim's runner also takes."""

from typing import Any

from streamplace.errors import FormatError
from streamplace.files import cepsim
from streamplace.files.dream import graph_from, looks_like
from streamplace.files.reading import check, parse
from streamplace.files.schema import ForeignForm
from streamplace.problem.logical import LogicalGraph


def read_dream(text: str, where: str) -> LogicalGraph:
    """Read one published graph: work in instructions, payloads in Mbit, rates from selectivities.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    """
    return _logical_graph(parse(text, where), where)


def read_cepsim(text: str, where: str) -> LogicalGraph:
    """Read the graph of CEPSim's runner, which has DREAM's format.

    The runner's other file, a placement, contains only indices: `simulate` and `export` read it
    together with its graph.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    """
    value = parse(text, where)
    if cepsim.looks_like(value) and not looks_like(value):
        raise FormatError(
            f"{where}: a CEPSim placement contains no graph; "
            "pass it to simulate together with its graph"
        )
    return _logical_graph(value, where)


def _logical_graph(value: Any, where: str) -> LogicalGraph:
    if isinstance(value, dict) and not looks_like(value):
        raise FormatError(f"{where}: must have 'operators' and 'connections', not 'streams'")
    check(ForeignForm, value, where)
    return LogicalGraph(graph_from(value, where, ""))
