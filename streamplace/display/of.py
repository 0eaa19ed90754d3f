"""What is shown of each kind of thing."""

from functools import singledispatch

import numpy as np

from streamplace.display.mixins import number, quoted
from streamplace.display.view import NAME_LENGTH, Grid, View, grid, plain
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.engine_score import EngineScore
from streamplace.scoring.score import ThroughputScore
from streamplace.workflows.capacity_plan import Plan
from streamplace.workflows.comparison import HEAD, Comparison
from streamplace.workflows.migrate import Migration
from streamplace.workflows.result import Result

ROWS, NAMES = 12, 8
TABLE_ROWS = 60  # of what is a table to begin with


@singledispatch
def view(thing: object) -> View:
    """Return what is shown of a thing: its repr, unless there is more to tell below."""
    return View(repr(thing).removeprefix("<").removesuffix(">"))


@view.register
def _(graph: StreamGraph) -> View:
    head = ("operator", "instructions", "payload, bytes", "memory, bytes", "streams to")
    rows = []
    for v in graph.order[:ROWS].tolist():
        one = graph.operators[v]
        targets = graph.stream_target[graph.stream_source == v]
        numbers = map(number, (one.instructions, one.payload_bytes, one.memory_bytes))
        rows.append((_name(one.name), *numbers, _names([graph.names[t] for t in targets])))
    return View(_line(graph), (grid(head, rows, len(graph.names) - ROWS),))


@view.register
def _(cluster: Cluster) -> View:
    head = ("device", "MIPS", "cores", "memory, bytes", "labels")
    rows = [
        (
            _name(device.name),
            number(device.mips),
            str(device.cores),
            "no limit" if device.memory_bytes is None else number(device.memory_bytes),
            _names(list(device.labels)),
        )
        for device in cluster.devices[:ROWS]
    ]
    return View(_line(cluster), (grid(head, rows, len(cluster.devices) - ROWS),))


@view.register
def _(problem: Problem) -> View:
    return View(_line(problem), (*view(problem.graph).grids, *view(problem.cluster).grids))


@view.register
def _(placement: Placement) -> View:
    cluster = placement.problem.cluster
    used = np.unique(placement.devices)
    rows = [(_name(cluster.names[d]), *_crew(placement, int(d))) for d in used[:ROWS]]
    count = f"{len(placement.devices):,} operators on {len(used)} of {len(cluster.devices)} devices"
    head = ("device", "operators", "")
    return View(f"Placement: {count}", (grid(head, rows, len(used) - ROWS),))


@view.register
def _(score: ThroughputScore) -> View:
    rows = [
        (_name(load.name), f"{load.utilisation:.1%}", f"{load.operators:,}")
        for load in score.devices[:ROWS]
    ]
    devices = grid(("device", "utilisation", "operators"), rows, len(score.devices) - ROWS)
    return View(_line(score), (devices, *_links(score), *_of_run(score)))


@view.register
def _(result: Result) -> View:
    placement, score = result.placement, result.score
    top = score.bottleneck
    rows = [
        (_name(load.name), f"{load.utilisation:.1%}", *_crew(placement, d))
        for d, load in enumerate(score.devices[:ROWS])
    ]
    head = ("device", "utilisation", "operators", "")
    devices = grid(head, rows, len(score.devices) - ROWS)
    limit = f"bottleneck {top.kind} {quoted(top.name)} at {top.utilisation:.1%}"
    return View(
        f"Result: {result.headline}; {limit}",
        (devices, *_links(score), *_of_run(score)),
    )


@view.register
def _(comparison: Comparison) -> View:
    rows = comparison.rows
    cells = [row.cells() for row in rows[:TABLE_ROWS]]
    return View(f"Comparison: {comparison.headline}", (grid(HEAD, cells, len(rows) - TABLE_ROWS),))


@view.register
def _(plan: Plan) -> View:
    head = ("devices", "sustain, tuples/s", "no more than", "relative")
    rows = [
        (
            str(row.devices),
            number(row.max_source_rate),
            number(row.bound),
            f"{row.relative_throughput:.1%}",
        )
        for row in plan.rows[:TABLE_ROWS]
    ]
    return View(f"Plan: {plan.headline}", (grid(head, rows, len(plan.rows) - TABLE_ROWS),))


@view.register
def _(found: Migration) -> View:
    moves = [(move, "has to") for move in found.forced] + [(move, "") for move in found.chosen]
    rows = [
        (*map(_name, (move.operator, move.source, move.target)), why)
        for move, why in moves[:TABLE_ROWS]
    ]
    table = grid(("operator", "from", "to", ""), rows, len(moves) - TABLE_ROWS)
    return View(f"Replacement: {found.headline}", (table,) if rows else ())


def _line(thing: object) -> str:
    return repr(thing).removeprefix("<").removesuffix(">")


def _crew(placement: Placement, device: int) -> tuple[str, str]:
    """Return how many operators a device runs, and the first of them."""
    crew = np.flatnonzero(placement.devices == device)
    names = [placement.problem.graph.names[v] for v in crew[:NAMES]]
    return f"{len(crew):,}", _names(names, len(crew))


def _links(score: ThroughputScore) -> tuple[Grid, ...]:
    """Return the busiest links, if any carries traffic."""
    busiest = sorted(score.links, key=lambda load: -load.utilisation)
    if not busiest:
        return ()
    rows = [(_name(load.name), f"{load.utilisation:.1%}") for load in busiest[:NAMES]]
    return (grid(("link", "utilisation"), rows, len(busiest) - NAMES),)


def _of_run(score: ThroughputScore) -> tuple[Grid, ...]:
    """Return what a run of the engine tells besides."""
    if not isinstance(score, EngineScore) or score.latency_s is None:
        return ()
    told = score.latency_s
    cells = (*(f"{told[name]:.4g}" for name in ("mean", "p50", "p99")), number(score.queued))
    settled = "yes" if score.settled else "no"
    head = ("mean latency, s", "half within", "99% within", "queued tuples", "settled")
    return (grid(head, [(*cells, settled)]),)


def _names(names: list[str], count: int | None = None) -> str:
    more = (len(names) if count is None else count) - NAMES
    return ", ".join(map(_name, names[:NAMES])) + (f" and {more:,} more" if more > 0 else "")


def _name(name: str) -> str:
    return plain(name, NAME_LENGTH)
