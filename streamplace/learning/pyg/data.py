"""A stream graph as a PyTorch Geometric `Data`."""

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from streamplace.errors import GraphError, ProblemError
from streamplace.problem.counts import expanded
from streamplace.problem.graph import StreamGraph
from streamplace.problem.placement import Placement
from streamplace.sim.flow import run_down
from streamplace.util.arrays import Floats
from streamplace.util.checks import check_type
from streamplace.workflows.result import PlacementResult

OPERATOR_COLUMNS = (
    "instructions",  # per tuple processed
    "payload_bytes",  # per tuple emitted
    "memory_bytes",
    "source_share",  # of the source rate, 0 for operators with inputs
    "tuples",  # processed per tuple offered to all sources together
)
STREAM_COLUMNS = (
    "selectivity",  # tuples per tuple that the source operator processes
    "payload_bytes",  # per tuple on the stream
    "tuples",  # per tuple offered to all sources together
)


def to_pyg(graph: StreamGraph, placement: Placement | PlacementResult | None = None) -> Data:
    """Return a graph of V operators and E streams for PyTorch Geometric.

    The numbers are in the graph's units and differ in size by many orders of magnitude: scale them
    for a network, for example with ``torch.log1p``. The load in instructions/s is the source rate
    times the columns ``tuples`` and ``instructions``; the traffic in bytes/s is the source rate
    times ``tuples`` and ``payload_bytes``.

    Parameters
    ----------
    graph
        The graph. Unknown numbers of operators and streams that get no tuples are 0. If its
        operators have several instances and there is a placement, which has a device for each
        instance, the data are those of the graph of instances, ``name[0]``, ``name[1]``, …, in the
        order of the placement's ``problem.graph``. Without a placement, an operator is one node,
        whatever its number of instances.
    placement
        A placement of this graph, or the result of `place` with one, to use as labels ``y``.

    Returns
    -------
    Data
        - ``x`` (V, 5) float32, columns `OPERATOR_COLUMNS`, in the graph's order;
        - ``edge_index`` (2, E) int64, source and target, in the graph's order of streams;
        - ``edge_attr`` (E, 3) float32, columns `STREAM_COLUMNS`;
        - ``source_rate`` (1,) float32, tuples/s, NaN if the graph has none;
        - ``name`` text;
        - ``y`` (V,) int64 device of each operator or instance, with a placement.

    Raises
    ------
    GraphError
        If a number is unknown, or too large for 32 bits; with a placement, also if a number of
        instances is free.
    ProblemError
        If the placement is of another graph, or an argument has another type.
    """
    check_type("to_pyg: graph", graph, StreamGraph, ProblemError)
    if isinstance(placement, PlacementResult):
        placement = placement.placement
    if placement is not None:
        check_type("to_pyg: placement", placement, Placement, ProblemError)
    if graph.lacking:
        raise GraphError(f"unknown: {'; '.join(graph.lacking)}")
    if placement is not None:
        graph = _placed_graph(graph, placement)
    # what is still unknown cannot matter, except for work that is stated in times
    instructions = np.where(graph.flowing, graph.instructions, np.nan_to_num(graph.instructions))
    selectivity, payload, of_streams = (
        np.nan_to_num(column)
        for column in (graph.selectivity, graph.payload_bytes, graph.stream_payload_bytes)
    )
    tuples = run_down(graph.source_share, graph.stream_source, graph.stream_target, selectivity)
    on_streams = tuples[graph.stream_source] * selectivity
    operator_columns = (
        instructions,
        payload,
        graph.memory_bytes,
        graph.source_share,
        tuples,
    )
    ends = np.stack([graph.stream_source, graph.stream_target]).astype(np.int64)
    data = Data(
        x=_single(operator_columns),
        edge_index=torch.from_numpy(ends),
        edge_attr=_single((selectivity, of_streams, on_streams)),
    )
    rate = float("nan") if graph.source_rate is None else graph.source_rate
    data.source_rate = torch.tensor([rate], dtype=torch.float32)
    data.name = graph.name
    if placement is not None:
        data.y = torch.from_numpy(placement.devices.astype(np.int64))
    return data


def _placed_graph(graph: StreamGraph, placement: Placement) -> StreamGraph:
    """Return the graph, or that of its instances, whichever the placement belongs to."""
    own = placement.problem.graph.sha256
    if own != graph.sha256:
        graph = expanded(graph)
        if own != graph.sha256:
            raise ProblemError("the placement belongs to another graph")
    return graph


def _single(columns: tuple[Floats, ...]) -> Tensor:
    with np.errstate(over="ignore"):
        table = np.stack(columns, axis=1).astype(np.float32)
    if not np.isfinite(table).all():
        raise GraphError("a number of the graph is too large for 32 bits")
    return torch.from_numpy(table)
