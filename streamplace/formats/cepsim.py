"""Graphs of DREAM and of CEPSim's runner, which have one format, and the runner's placements."""

from typing import Any

from streamplace.errors import FormatError
from streamplace.files import cepsim
from streamplace.files.json_text import to_json
from streamplace.files.reading import check, parse
from streamplace.files.schema import ForeignForm
from streamplace.formats.format import Format, Signs
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement


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
    if cepsim.is_placement(value) and not cepsim.is_graph(value):
        raise FormatError(
            f"{where}: a CEPSim placement contains no graph; "
            "pass it to simulate together with its graph"
        )
    return _logical_graph(value, where)


def _logical_graph(value: Any, where: str) -> LogicalGraph:
    if isinstance(value, dict) and not cepsim.is_graph(value):
        raise FormatError(f"{where}: must have 'operators' and 'connections', not 'streams'")
    check(ForeignForm, value, where)
    return LogicalGraph(cepsim.graph_from(value, where, ""))


def write(placement: Placement) -> str:
    """Return a placement as JSON text for CEPSim's runner."""
    return to_json(cepsim.placement_to(placement))


DREAM = Format(
    "dream",
    about="a file of the published DREAM benchmark (Ni et al., AAAI 2020), JSON",
    read=read_dream,
    signs=Signs(fields=(frozenset({"operators[].idx", "connections[].from_vertex"}),)),
)
CEPSIM = Format(  # its graphs look the same
    "cepsim",
    about="CEPSim's runner: a graph, or for export the placement, JSON",
    read=read_cepsim,
    write=write,
)
