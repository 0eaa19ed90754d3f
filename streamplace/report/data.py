"""Data of a report: placements and their problems as one JSON value for the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from streamplace.files.clusters import cluster_to
from streamplace.files.graphs import constraints_to, graph_to
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objectives import only_throughput
from streamplace.problem.placement import Placement
from streamplace.report.loads import heaviest_work, plain_work, sums_of
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput import bound, ceiling, simulate

ROUNDING = 1e-9  # relative tolerance of throughput, as in proofs
DRAWN = 500  # operators of the largest graph that is drawn; of larger ones, the page has sums only


@dataclass(frozen=True)
class Entry:
    """A placement in a report.

    Parameters
    ----------
    title
        Title on the page: the name of the placement's file.
    placer
        Name of the placer; empty if unknown.
    placement
        The placement with its problem, under any model.
    score
        Score under ``bottleneck``, the model that the page computes.
    own
        Score under the problem's own model; equal to `score` if that is ``bottleneck``.
    bound
        Upper bound in tuples/s on the throughput of any placement under ``bottleneck``.
    ceiling
        The bound in tuples/s at an unlimited source rate; may be infinite.
    """

    title: str
    placer: str
    placement: Placement
    score: ThroughputScore
    own: ThroughputScore
    bound: float
    ceiling: float

    @property
    def gap(self) -> float:
        """How far throughput is below the bound, as a share of the bound."""
        return max(0.0, 1.0 - self.score.throughput / self.bound)

    @property
    def drawn(self) -> bool:
        """Whether the page draws the graph and lets users move operators."""
        return len(self.placement.devices) <= DRAWN


def entry(title: str, placement: Placement, placer: str = "", proven: float | None = None) -> Entry:
    """Score a placement for a report.

    Parameters
    ----------
    proven
        The bound in tuples/s stored with the placement, which a prover may have made tighter than
        the computed one. It holds for the problem's own model, and is ignored if it is below the
        throughput.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    SimulationError
        If the problem's own model could not be solved.
    UsageError
        If the objective is not throughput, the only one that the page computes.
    """
    only_throughput(placement.problem.objective, "report: the page shows throughput")
    own = simulate(placement)
    objective = placement.problem.throughput_objective.with_changes(model="bottleneck")
    problem = placement.problem.with_objective(objective)  # the same object if nothing changes
    same = problem is placement.problem
    score = own if same else simulate(Placement(problem, placement.devices))
    upper, unlimited = bound(problem), ceiling(problem)
    if same and proven is not None and proven >= score.throughput * (1 - ROUNDING):
        upper = min(upper, proven)
        if proven < problem.source_rate * (1 - ROUNDING):  # otherwise only the rate limits it
            unlimited = min(unlimited, proven)
    return Entry(title, placer, placement, score, own, upper, unlimited)


def data_of(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return the data of the page, with each distinct graph included once.

    A graph of more than `DRAWN` operators is left out: the page then computes everything from sums
    over devices and links, whose size grows with the cluster and not with the graph.
    """
    graphs: list[StreamGraph] = []
    rows = [_row(one, _number_of(one.placement.problem.graph, graphs)) for one in entries]
    return {
        "drawn": DRAWN,
        "graphs": [_graph(graph) for graph in graphs],
        "placements": rows,
    }


def _number_of(graph: StreamGraph, graphs: list[StreamGraph]) -> int:
    """Return the index of a graph in `graphs`, appending it if it is new."""
    if graph not in graphs:
        graphs.append(graph)
    return graphs.index(graph)


def _graph(graph: StreamGraph) -> dict[str, Any]:
    drawn = len(graph.names) <= DRAWN
    return {
        "name": graph.name,
        "sha256": graph.sha256,
        "operators": len(graph.names),
        "streams": len(graph.stream_source),
        "file": graph_to(graph) if drawn else None,
    }


def _row(one: Entry, graph: int) -> dict[str, Any]:
    problem = one.placement.problem
    row: dict[str, Any] = {
        "title": one.title,
        "placer": one.placer,
        "graph": graph,
        "cluster": cluster_to(problem.cluster),
        "source_rate": problem.source_rate,
        "source_rates": list(problem.source_rates),
        "constraints": constraints_to(problem.constraints),
        "model": problem.model,
        "target_utilisation": problem.target_utilisation,
        "own": {
            "throughput": one.own.throughput,
            "relative_throughput": one.own.relative_throughput,
        },
        "bound": one.bound,
        "ceiling": one.ceiling if isfinite(one.ceiling) else None,
        "violation": problem.feasibility.violation(one.placement.devices),
    }
    if one.drawn:
        return row | {"assignment": np.asarray(one.placement.devices).tolist()}
    sums = {"sums": sums_of(one.placement), "heaviest": heaviest_work(problem)}
    return row | sums | {"plain_work": plain_work(problem)}
