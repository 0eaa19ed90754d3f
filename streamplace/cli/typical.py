"""The option --typical-costs of commands that place: what it fills, and what answers rest on."""

from collections.abc import Sequence
from typing import Any

from streamplace.cli.command import print_json, print_note
from streamplace.cli.terminal import print_result
from streamplace.problem.assumptions import GuessedCosts
from streamplace.problem.graph import StreamGraph
from streamplace.problem.placement import Placement
from streamplace.util.plugins import load_ours

FILLED = "streamplace.formats.typical_costs:fill"
BASIS = "streamplace.latency.cost_basis:cost_basis"


def with_typical_costs(graph: StreamGraph, *, wanted: bool) -> StreamGraph:
    """Return a graph with typical values for unknown costs if they are wanted."""
    if not wanted:
        return graph
    if not graph.unknown:
        print_note("--typical-costs has no effect: the graph lacks no cost")
    filled: StreamGraph = load_ours(FILLED)(graph).graph
    return filled


def basis_of(graph: StreamGraph, placement: Placement | None, seed: int) -> Any:
    """Return what an answer rests on, a `CostBasis`; None if the graph has no typical value.

    Parameters
    ----------
    placement
        The placement of the answer; None: it has none.
    """
    if not any((*graph.typical.values(), *graph.typical_streams.values())):
        return None
    found = GuessedCosts.of(graph)
    return load_ours(BASIS)(found.typical, found.costs, placement, seed)


def print_answer(
    results: Sequence[Any], basis: Any, *, as_json: bool, to_stderr: bool = False
) -> None:
    """Print results, of which the last has the JSON value, with the `CostBasis` if there is one."""
    if as_json:
        rest = {} if basis is None else {"typical_costs": basis.to_dict()}
        print_json(results[-1].to_dict() | rest)
        return
    for each in (*results, *([] if basis is None else [basis])):
        print_result(each, to_stderr)
