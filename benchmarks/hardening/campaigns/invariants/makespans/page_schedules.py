"""Comparison of the report page's engine of schedules with that of Python."""

from typing import Any, NamedTuple

import numpy as np

from benchmarks.hardening.campaigns.invariants.browser_engines import (
    NONE_FOUND,
    PAGE,
    Evaluate,
    engines,
)
from benchmarks.hardening.campaigns.invariants.deviations import Deviations
from benchmarks.hardening.campaigns.invariants.makespans.numbered_passes import drawn
from sim.schedule.passes import Timetable, divide, timetable
from sim.schedule.state import Order
from sim.schedule.task_graph import TaskGraph
from streamplace.reports.html import SCHEDULE
from streamplace.reports.schedules import order_to, tasks_to
from streamplace.scoring.registry import makespan_evaluator
from streamplace.util.arrays import Floats, Ints

ROW_NAME = "makespans: the report page's schedules against Python"
PARTS = ("work", "messages", "overheads", "devices", "channels", "levels")
MOVES = 9  # placements of a problem after the first, each one move away from the one before
TIMETABLES = """(batch) => batch.map(({ tasks: data, order, placements }) => {
  const tasks = SP.tasks.tasksOf(data);
  return placements.map((devices) => {
    const run = SP.engine.timetable(tasks, order, devices);
    if (run === null) return null;
    const arrives = (e) => run.delivery[e] === e;
    return {
      makespan: run.makespan,
      start: [...run.start],
      end: [...run.end],
      delivery: [...run.delivery],
      begin: [...run.begin].map((at, e) => (arrives(e) && run.message[e] === e ? at : null)),
      arrival: [...run.arrival].map((at, e) => (arrives(e) ? at : null)),
      path: SP.critical
        .pathOf(run)
        .map(({ kind, number, start, end, waitedFor }) => [kind, number, start, end, waitedFor]),
      division: SP.division.divide(run),
    };
  });
})"""


class Scheduled(NamedTuple):
    """A task graph and the order in which its operators start."""

    tasks: TaskGraph
    order: Order


def script() -> str:
    """Return the scripts of the page's engine, preceded by the shared namespace."""
    files = ((PAGE / f"{name}.js").read_text() for name in SCHEDULE)
    return "const SP = {};\n" + "\n".join(files)


def against_page(placements: int, seed: int) -> Deviations:
    """Schedule placements in Python, and in Chromium or else in Node.js."""
    with engines(script(), TIMETABLES) as (where, evaluate):
        if evaluate is not None:
            return compared(placements, seed, where, evaluate)
    return Deviations(ROW_NAME, figures={"not run": NONE_FOUND})


def compared(placements: int, seed: int, where: str, evaluate: Evaluate) -> Deviations:
    """Schedule placements in the page and in Python; every number must be the same."""
    tally = Deviations(ROW_NAME, tolerance=0.0, figures={"in": where})
    number = 0
    while tally.tried < placements:
        _, first = drawn(number, seed)
        evaluator = makespan_evaluator(first.problem)
        one = Scheduled(evaluator.tasks, evaluator.best(first.devices)[1])
        rows = moved(first.devices, evaluator.tasks.devices, number)[: placements - tally.tried]
        [shown] = evaluate([page_input(one, rows)])
        for row, schedule in zip(rows, shown, strict=True):
            if not tally.record(0.0 if schedule == expected(one, row) else np.inf):
                tally.add_fault(f"numbered_passes.drawn({number}, {seed}), {row.tolist()}")
        number += 1
    return tally


def moved(devices: Ints, count: int, seed: int) -> Ints:
    """Return a placement on a number of devices, and random moves of it one after another."""
    rng, rows = np.random.default_rng(seed), [devices]
    for _ in range(MOVES):
        row = rows[-1].copy()
        row[rng.integers(len(row))] = rng.integers(count)
        rows.append(row)
    return np.array(rows, np.int32)


def page_input(one: Scheduled, placements: Ints) -> dict[str, Any]:
    """Return the page's input for placements, (K, V), of a task graph."""
    return {
        "tasks": tasks_to(one.tasks),
        "order": order_to(one.order),
        "placements": placements.tolist(),
    }


def expected(one: Scheduled, devices: Ints) -> dict[str, Any] | None:
    """Return what the page should compute: Python's timetable; None if an operator cannot run."""
    found = timetable(one.tasks, one.order, devices)
    if not np.isfinite(found.run.duration).all():
        return None
    run, delivery = found.run, found.run.delivery.tolist()
    arrives = [k == e for e, k in enumerate(delivery)]
    leads = [here and m == e for e, (here, m) in enumerate(zip(arrives, run.message, strict=True))]
    return {
        "makespan": found.makespan,
        "start": found.start.tolist(),
        "end": found.end.tolist(),
        "delivery": delivery,
        "begin": _where(leads, run.begin),
        "arrival": _where(arrives, run.arrival),
        "path": [list(step) for step in found.critical_path],
        "division": _divided(found),
    }


def _divided(found: Timetable) -> dict[str, Any]:
    """Return what the makespan consists of, as the page writes it."""
    chain, *parts = divide(found)
    return {"chain": list(chain), "parts": dict(zip(PARTS, parts, strict=True))}


def _where(condition: list[bool], values: Floats) -> list[float | None]:
    return [
        value if holds else None for holds, value in zip(condition, values.tolist(), strict=True)
    ]
