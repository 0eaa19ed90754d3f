"""Comparison of the report page's engine of schedules with that of Python."""

from typing import Any, NamedTuple

import numpy as np

from streamplace.makespan.page import order_to, tasks_to
from streamplace.reports.html import SCHEDULE
from streamplace.sim.schedule.passes import Timetable, divide, timetable
from streamplace.sim.schedule.state import Order
from streamplace.sim.schedule.task_graph import TaskGraph
from streamplace.util.arrays import Floats, Ints
from tests.support.browser_engines import PAGE

PARTS = ("work", "messages", "overheads", "devices", "channels", "levels")
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
