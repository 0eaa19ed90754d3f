"""Data of a report: placements and their problems as one JSON value for the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from streamplace.errors import UsageError
from streamplace.files.clusters import cluster_to
from streamplace.files.graphs import constraints_to, graph_to
from streamplace.files.reading import name_of
from streamplace.problem.assumptions import guesses
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objectives import only_throughput, text_of
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.reports.loads import (
    heaviest_work,
    irreplaceable,
    plain_work,
    streams_on,
    sums_of,
)
from streamplace.reports.schedules import (
    DRAWN,
    SHOWN,
    ScheduleEntry,
    TitledPlacement,
    is_drawn,
    schedule_row,
    schedule_to,
    violated,
)
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import throughput_evaluator
from streamplace.scoring.score import ROUNDING, ThroughputScore
from streamplace.scoring.throughput import simulate
from streamplace.sim.work import work_of
from streamplace.util.checks import finite
from streamplace.workflows.explain_losses import shares_left


@dataclass(frozen=True)
class Entry(TitledPlacement):
    """A placement in a report whose objective is throughput, under any model.

    Parameters
    ----------
    score
        Score under ``bottleneck``, the model that the page computes.
    own
        Score under the problem's own model; equal to `score` if that is ``bottleneck``.
    bound
        Upper bound in tuples/s on the throughput of any placement under ``bottleneck``.
    ceiling
        The bound in tuples/s at an unlimited source rate; may be infinite.
    bound_is_loose
        Whether it may be far from the optimum; see `ThroughputEvaluator.bound_is_loose`.
    """

    score: ThroughputScore
    own: ThroughputScore
    bound: float
    ceiling: float
    bound_is_loose: bool = False

    @property
    def gap(self) -> float:
        """How far throughput is below the bound, as a share of the bound."""
        return self.score.gap_to(self.bound)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures that `report --json` prints."""
        return {
            "throughput": self.score.throughput,
            "relative_throughput": self.score.relative_throughput,
            "bound": self.bound,
            "gap": self.gap,
            "proven": self.score.reaches(self.bound),
            "drawn": self.drawn,
        }


def entry(
    title: str, placement: Placement, placer: str = "", proven: float | None = None
) -> Entry | ScheduleEntry:
    """Score a placement for a report.

    Parameters
    ----------
    proven
        The bound in tuples/s stored with the placement, which a prover may have made tighter than
        the computed one. It holds for the problem's own model, and is ignored if it is below the
        throughput. Under objectives of single passes, see `schedule_entry`.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    SimulationError
        If the problem's own model could not be solved.
    UsageError
        If the page cannot compute the objective, such as a user's, or the graph of a schedule is
        too large for it.
    """
    objective = placement.problem.objective
    make = objective.function("report")
    if make is None:
        raise UsageError(f"report: {SHOWN}, not objective {text_of(objective)!r}")
    made: Entry | ScheduleEntry = make(title, placement, placer, proven)
    return made


def throughput_entry(
    title: str, placement: Placement, placer: str = "", proven: float | None = None
) -> Entry:
    """Score a placement under the throughput objective for a report; see `entry`."""
    only_throughput(placement.problem.objective, f"report: {SHOWN}")
    own = simulate(placement)
    objective = placement.problem.throughput_objective.with_changes(model="bottleneck")
    problem = placement.problem.with_objective(objective)  # the same object if nothing changes
    same = problem is placement.problem
    score = own if same else simulate(Placement(problem, placement.devices))
    bounds = throughput_evaluator(problem)
    upper, unlimited = bounds.bound, bounds.ceiling
    if same and proven is not None and proven >= score.throughput * (1 - ROUNDING):
        upper = min(upper, proven)
        if proven < problem.source_rate * (1 - ROUNDING):  # otherwise only the rate limits it
            unlimited = min(unlimited, proven)
    return Entry(title, placer, placement, score, own, upper, unlimited, bounds.bound_is_loose)


def data_of(entries: Sequence[Entry | ScheduleEntry], written: str = "") -> dict[str, Any]:
    """Return the data of the page, with each distinct graph and problem of schedules once.

    `written` is the time at which the page is written, in words.

    A graph of more than `DRAWN` operators is left out unless its schedule is shown: the page then
    computes everything from sums over devices and links, whose size grows with the cluster and not
    with the graph.
    """
    graphs: list[StreamGraph] = []
    scheduled: list[Problem] = []
    rows: list[dict[str, Any]] = []
    for one in entries:
        problem = one.placement.problem
        row: dict[str, Any] = {"graph": _number_of(problem.graph, graphs)}
        if one.jobs:
            row["jobs"] = list(one.jobs)
        if guessed := guesses(problem.graph):
            row["guesses"] = guessed
        if isinstance(one, ScheduleEntry):
            row["schedule"] = _number_of_problem(problem, scheduled)
            rows.append(row | schedule_row(one))
        else:
            rows.append(row | _row(one))
    of_schedules = [problem.graph for problem in scheduled]
    return {
        "drawn": DRAWN,
        "written": written or None,
        "graphs": [_graph(graph, graph in of_schedules) for graph in graphs],
        "schedules": [schedule_to(problem) for problem in scheduled],
        "placements": rows,
    }


def _number_of(graph: StreamGraph, graphs: list[StreamGraph]) -> int:
    """Return the index of a graph in `graphs`, appending it if it is new."""
    if graph not in graphs:
        graphs.append(graph)
    return graphs.index(graph)


def _number_of_problem(problem: Problem, problems: list[Problem]) -> int:
    """Return the index of a problem with equal parts in `problems`, appending it if it is new."""
    for number, other in enumerate(problems):
        if _parts_of(problem) == _parts_of(other):
            return number
    problems.append(problem)
    return len(problems) - 1


def _parts_of(problem: Problem) -> tuple[Any, ...]:
    return problem.graph, problem.cluster, problem.objective, problem.constraints


def _graph(graph: StreamGraph, has_schedule: bool) -> dict[str, Any]:
    drawn = is_drawn(graph)
    return {
        "name": graph.name,
        "sha256": graph.sha256,
        "operators": len(graph.names),
        "streams": len(graph.stream_source),
        **({"logical": len({*graph.owners})} if graph.instance_of else {}),
        "drawn": drawn,
        "file": graph_to(graph) if drawn or has_schedule else None,
    }


OWN = ("throughput", "relative_throughput", "latency_s", "dropped")
"""Figures of the placement's own model on the page; the last two are those of engine runs."""


def _row(one: Entry) -> dict[str, Any]:
    problem, own = one.placement.problem, one.own.to_dict()
    row: dict[str, Any] = {
        "title": one.title,
        "placer": one.placer,
        "cluster": cluster_to(problem.cluster),
        "source_rate": problem.source_rate,
        "source_rates": list(problem.source_rates),
        "constraints": constraints_to(problem.constraints),
        "model": problem.model,
        "target_utilisation": problem.target_utilisation,
        "own": {key: own[key] for key in OWN if key in own},
        "bound": one.bound,
        "ceiling": finite(one.ceiling),
        "loose": one.bound_is_loose,
        "latency": one.latency or None,
        "inputs": list(one.inputs),
        "fewer_devices": one.fewer_devices,
        "irreplaceable": irreplaceable(problem),
        "violations": violated(one.placement),
    }
    if one.drawn:
        return row | {"assignment": np.asarray(one.placement.devices).tolist()}
    if problem.graph.instance_of:
        row["operators"] = operator_rows(one.placement)
    sums = {"sums": sums_of(one.placement), "heaviest": heaviest_work(problem)}
    known = {"streams": streams_on(one.placement), "left": _shares_without_each(one.placement)}
    return row | sums | {"plain_work": plain_work(problem)} | known


CASES = 10**8  # operators times devices; the cases of more would take about as many bytes


def _shares_without_each(placement: Placement) -> list[float] | None:
    """Return the share of the source rate that is left without each device; None of very many."""
    problem, devices = placement.problem, np.arange(len(placement.problem.cluster.devices))
    if len(devices) * len(problem.graph.names) > CASES:
        return None
    bottleneck = problem.with_objective(
        problem.throughput_objective.with_changes(model="bottleneck")
    )
    stopped = placement.devices == devices[:, np.newaxis]
    return shares_left(Placement(bottleneck, placement.devices), stopped)


class OperatorRow(NamedTuple):
    """An operator, its share of the CPU work of all operators, and its number of devices."""

    name: str
    instances: int
    share: float
    devices: int


def operator_rows(placement: Placement, most: int = DRAWN) -> list[OperatorRow]:
    """Return the operators with the most work, the heaviest first.

    Instances count with their operator; of equal ones, the first in the graph comes first.

    Parameters
    ----------
    most
        Largest number of rows.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    owners, devices = placement.problem.graph.owners, placement.devices
    index = {name: i for i, name in enumerate(dict.fromkeys(owners))}
    owner = np.array([index[name] for name in owners])
    work = np.bincount(owner, work_of(flow(placement.problem), devices))
    instances = np.bincount(owner)
    used = np.bincount(np.unique(np.stack([owner, devices]), axis=1)[0])
    total, names = float(work.sum()) or 1.0, list(index)
    return [
        OperatorRow(names[i], int(instances[i]), float(work[i]) / total, int(used[i]))
        for i in np.argsort(-work, kind="stable")[:most].tolist()
    ]


def titles(files: Sequence[str]) -> list[str]:
    """Return the names of files, preceded by the folders that differ if names are the same."""
    paths = [Path(name_of(file)) for file in files]
    shown = [path.name for path in paths]
    for name in {name for name in shown if shown.count(name) > 1}:
        alike = [i for i, path in enumerate(paths) if path.name == name]
        parts = [paths[i].absolute().parts for i in alike]
        depth = next(
            (n for n in range(2, max(map(len, parts)) + 1) if _differ(parts, n)),
            1,
        )
        for i, part in zip(alike, parts, strict=True):
            shown[i] = "/".join(part[-depth:]).lstrip("/")
    return shown


def _differ(paths: list[tuple[str, ...]], depth: int) -> bool:
    """Return whether the last `depth` parts of the paths distinguish all different files."""
    return len({parts[-depth:] for parts in paths}) == len(set(paths))
