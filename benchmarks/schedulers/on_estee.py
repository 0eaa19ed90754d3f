"""The schedulers of Estee, for `benchmarks.schedulers`, which runs this script.

It runs in an environment that has Estee, and not streamplace; see `serving`. Estee knows devices
only by their cores and one bandwidth for all links, so that a task takes the same time on each. It
has one core. Its messages of one size are one object, which a device downloads once.

Estee's worker has at most four downloads at a time, and two from one other worker. `FREE` lifts
both limits, so that no message waits for another one.
"""

import collections
import random
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

vars(np)["float"] = float  # Estee needs this name, which numpy 1.24 has removed
vars(collections)["Iterable"] = Iterable  # likewise, which Python 3.10 has removed

from estee import schedulers  # noqa: E402
from estee.common import DataObject, TaskGraph  # noqa: E402
from estee.generators import elementary, irw, pegasus  # noqa: E402
from estee.schedulers import others, queue  # noqa: E402
from estee.simulator import MaxMinFlowNetModel, SimpleNetModel, Simulator, Worker  # noqa: E402
from estee.simulator.trace import TaskStartTraceEvent  # noqa: E402
from serving import serve  # noqa: E402

FREE = {"max_downloads": sys.maxsize, "max_downloads_per_worker": sys.maxsize}
NETWORKS = {
    "free": (SimpleNetModel, FREE),
    "max-min": (MaxMinFlowNetModel, {}),
}
"""Messages at the full bandwidth, and Estee's own default: shared bandwidth, limited downloads."""
SCHEDULERS = {
    "all-on-one": schedulers.AllOnOneScheduler,
    "random": schedulers.RandomAssignScheduler,
    "random-queue": schedulers.RandomScheduler,
    "random-gt": schedulers.RandomGtScheduler,
    "blevel": others.BlevelScheduler,
    "tlevel": others.TlevelScheduler,
    "blevel-gt": schedulers.BlevelGtScheduler,
    "tlevel-gt": queue.TlevelGtScheduler,
    "dls": schedulers.DLSScheduler,
    "etf": schedulers.ETFScheduler,
    "mcp": schedulers.MCPScheduler,
    "mcp-gt": others.MCPGTScheduler,
    "camp": schedulers.Camp2Scheduler,
    "ws": schedulers.WorkStealingScheduler,
    "genetic": schedulers.GeneticScheduler,
    "lc": schedulers.LcScheduler,
}
GRAPHS: dict[str, Callable[[], TaskGraph]] = {
    "merge-neighbours": lambda: elementary.merge_neighbours(20),
    "merge-small-big": lambda: elementary.merge_small_big(12),
    "fork": lambda: elementary.fork1(12),
    "splitters": lambda: elementary.splitters(5),
    "conflux": lambda: elementary.conflux(5),
    "grid": lambda: elementary.grid(7),
    "fern": lambda: elementary.fern(15),
    "gridcat": lambda: irw.gridcat(5),
    "crossv": lambda: irw.crossv(5),
    "mapreduce": lambda: irw.mapreduce(8),
    "montage": lambda: pegasus.montage(12),
    "cybershake": lambda: pegasus.cybershake(16),
    "epigenomics": lambda: pegasus.epigenomics(10),
    "ligo": lambda: pegasus.ligo((8, 4)),
    "sipht": lambda: pegasus.sipht(1),
}
BANDWIDTHS = (32.0, 128.0, 512.0)


class Placed(schedulers.StaticScheduler):  # type: ignore[misc]
    """Tasks on given devices, each of which starts the ready task that is first in a list."""

    def __init__(self, devices: list[int], listed: list[int]) -> None:
        super().__init__("placed", "0")
        self.devices, self.listed = devices, listed

    def static_schedule(self) -> None:
        """Assign every task, once the graph is known, which is after the workers."""
        if not self.task_graph.tasks:
            return
        for i, v in enumerate(self.listed):
            task, worker = self.task_graph.tasks[v], self.workers[self.devices[v]]
            self.assign(worker, task, priority=len(self.listed) - i)


def main() -> None:
    """Answer requests."""
    parts = {"names": _names, "schedule": _schedule, "replay": _replay, "graphs": _graphs}
    serve(parts, np.random.seed)


def _names(_: dict[str, Any]) -> list[str]:
    return list(SCHEDULERS)


def _schedule(request: dict[str, Any]) -> dict[str, Any]:
    """Return what a scheduler does in Estee's simulator."""
    instance = request["instance"]
    run = _run(instance, SCHEDULERS[request["name"]](), request["network"])
    started = [event for event in run.trace_events if isinstance(event, TaskStartTraceEvent)]
    started.sort(key=lambda event: event.task.id)
    return {
        "makespan": run.env.now,
        "devices": [event.worker.id for event in started],
        "start": [event.time for event in started],
    }


def _replay(request: dict[str, Any]) -> float:
    """Return the makespan of a placement whose devices start their tasks in a given order."""
    placed = Placed(request["devices"], request["listed"])
    return float(_run(request["instance"], placed, request["network"]).env.now)


def _run(instance: dict[str, Any], scheduler: Any, network: str) -> Simulator:
    model, limits = NETWORKS[network]
    workers = [Worker(cpus=1, **limits) for _ in instance["speeds"]]
    bandwidth = min((speed for *_, speed in instance["links"]), default=1.0)
    made = Simulator(_graph(instance), workers, scheduler, model(bandwidth), trace=True)
    made.run()
    return made


def _graph(instance: dict[str, Any]) -> TaskGraph:
    made = TaskGraph()
    sizes: list[list[float]] = [[] for _ in instance["costs"]]
    for v, _, size in instance["edges"]:
        if size not in sizes[v]:
            sizes[v].append(size)
    for v, cost in enumerate(instance["costs"]):
        outputs = [DataObject(None, size, size) for size in sizes[v]]
        seconds = cost / instance["speeds"][0]
        made.new_task(f"t{v}", outputs, duration=seconds, expected_duration=seconds)
    for v, w, size in instance["edges"]:
        made.tasks[w].add_input(made.tasks[v].outputs[sizes[v].index(size)])
    return made


def _graphs(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return instances with Estee's graphs, a round of all kinds at a time, on equal devices."""
    return [
        _plain(f"estee {kind}", draw(), random.choice((4, 8)), random.choice(BANDWIDTHS))
        for _ in range(request["rounds"])
        for kind, draw in GRAPHS.items()
    ]


def _plain(name: str, graph: TaskGraph, devices: int, bandwidth: float) -> dict[str, Any]:
    """Return an instance; several objects from one task to another are one message."""
    size: dict[tuple[int, int], float] = {}
    for task in graph.tasks.values():
        for item in task.inputs:
            ends = item.parent.id, task.id
            size[ends] = size.get(ends, 0.0) + float(item.size)
    pairs = [(a, b) for a in range(devices) for b in range(a + 1, devices)]
    return {
        "name": name,
        "costs": [float(task.duration) for task in graph.tasks.values()],
        "edges": [[v, w, total] for (v, w), total in sorted(size.items())],
        "speeds": [1.0] * devices,
        "links": [[a, b, bandwidth] for a, b in pairs],
    }


if __name__ == "__main__":
    main()
