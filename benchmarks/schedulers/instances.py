"""Scheduling problems as plain numbers, which every scheduler compared here can read.

They are those of the library SAGA: tasks with costs, messages with sizes, and devices and links
with speeds. A task takes its cost over the speed of its device, and a message its size over the
speed of its link. Messages neither wait nor cost anything on one device.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

import streamplace as sp
from streamplace.errors import ProblemError
from streamplace.makespan.compiled_pass import CompiledPass, compiled_pass
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.problem.makespan import DispatchOrder
from streamplace.problem.network import NetworkKind
from streamplace.sim.schedule.bounds import times_on
from streamplace.sim.schedule.task_graph import FREE, TaskGraph
from streamplace.util.arrays import Floats

ROUNDING = 1e-9  # relative difference of times that counts as none
INSTRUCTIONS, BYTES = 1e6, 125_000.0  # of a cost and of a size of 1: a second at a speed of 1


@dataclass(frozen=True)
class Instance:
    """A problem of V tasks on D devices.

    Parameters
    ----------
    costs, speeds
        (V,) cost of each task, (D,) speed of each device.
    edges
        Source, target and size of each message.
    links
        Two devices and the speed of the link between them, once for every pair, in both
        directions alike.
    """

    name: str
    costs: list[float]
    edges: list[tuple[int, int, float]]
    speeds: list[float]
    links: list[tuple[int, int, float]]

    @classmethod
    def of(cls, row: dict[str, Any]) -> "Instance":
        """Return an instance from JSON, without links of a device to itself."""
        edges = [(v, w, size) for v, w, size in row["edges"]]
        links = [(a, b, speed) for a, b, speed in row["links"] if a != b]
        return cls(row["name"], row["costs"], edges, row["speeds"], links)

    def to_dict(self) -> dict[str, Any]:
        """Return the instance as JSON has it."""
        return asdict(self)

    @property
    def has_equal_devices(self) -> bool:
        """Whether all devices are alike, and all links."""
        return len(set(self.speeds)) == 1 and len({speed for *_, speed in self.links}) <= 1

    def problem(
        self,
        order: DispatchOrder = "any",
        listed: Sequence[int] | None = None,
        kind: NetworkKind = "free",
    ) -> sp.Problem:
        """Return the problem for streamplace; an operator ``t3`` is task 3.

        Parameters
        ----------
        listed
            The tasks in the order in which the graph lists its operators; 0, 1, … if None.
        kind
            What messages wait for. Unless it is ``free``, all links have one speed, and the
            consumers on a device share a message.
        """
        tasks = range(len(self.costs)) if listed is None else listed
        graph = sp.StreamGraph(
            [sp.Operator(f"t{v}", INSTRUCTIONS * self.costs[v], 0.0) for v in tasks],
            [sp.Stream(f"t{v}", f"t{w}", payload_bytes=BYTES * size) for v, w, size in self.edges],
            firing="all",
            multicast="none" if kind == "free" else "device",
        )
        devices = [sp.Device(f"d{d}", speed) for d, speed in enumerate(self.speeds)]
        cluster = sp.Cluster(devices, self._network(kind))
        return sp.Problem(graph, cluster, objective=sp.Makespan(order=order))

    def _network(self, kind: NetworkKind) -> sp.Network:
        if kind != "free":
            speed = self.links[0][2]
            return sp.Network(kind, bandwidth_mbps=speed, latency_s=0.0)
        overrides = tuple(
            sp.LinkOverride(f"d{one}", f"d{other}", speed if np.isfinite(speed) else None)
            for a, b, speed in self.links
            for one, other in ((a, b), (b, a))
        )
        return sp.Network(kind, latency_s=0.0, overrides=overrides)

    def on_equal_devices(self) -> "Instance":
        """Return the instance with the mean speeds of its devices and links."""
        speed, link = float(np.mean(self.speeds)), float(np.mean([s for *_, s in self.links]))
        links = [(a, b, link) for a, b, _ in self.links]
        return replace(self, speeds=[speed] * len(self.speeds), links=links)

    def replayed(
        self, devices: Sequence[int], listed: Sequence[int], kind: NetworkKind = "free"
    ) -> float:
        """Return the makespan of a schedule of another library in our simulator, in seconds.

        Every device starts its tasks in the order of the list, and waits for the next one in it.

        Parameters
        ----------
        devices
            (V,) device of each task.
        listed
            (V,) tasks by their starts; a task stands after those whose messages it gets.
        """
        problem = self.problem("sequence", listed, kind)
        return float(MakespanEvaluator(problem).makespans(np.array(devices)[list(listed)])[0])


def instance_of(name: str, problem: sp.Problem) -> Instance:
    """Return a makespan problem as an instance.

    Raises
    ------
    ProblemError
        If it has constraints, or anything else that the other libraries do not know.
    """
    compiled = compiled_pass(problem)
    tasks = compiled.tasks
    speeds, costs = _rank_one(name, compiled)
    if reason := _unknown(problem, tasks):
        raise ProblemError(f"{name}: other libraries do not know {reason}")
    rate = np.broadcast_to(tasks.rate, tasks.devices**2).reshape(tasks.devices, tasks.devices)
    pairs = zip(*np.triu_indices(tasks.devices, 1), strict=True)
    sizes = np.where(tasks.silent, 0.0, tasks.bits) / (8 * BYTES)
    ends = zip(tasks.source.tolist(), tasks.target.tolist(), sizes.tolist(), strict=True)
    links = [(int(a), int(b), float(rate[a, b]) / (8 * BYTES)) for a, b in pairs]
    return Instance(name, costs.tolist(), list(ends), speeds.tolist(), links)


def _rank_one(name: str, compiled: CompiledPass) -> tuple[Floats, Floats]:
    """Return speeds, (D,), and costs, (V,), whose quotients are the times of the tasks."""
    times = times_on(compiled.tasks.columns, *compiled.masks)
    costs = times[:, 0]
    busiest = int(np.argmax(costs))
    with np.errstate(divide="ignore", invalid="ignore"):
        speeds = costs[busiest] / times[busiest]
        same = np.allclose(costs[:, None] / speeds, times, rtol=ROUNDING, atol=0.0)
    if not (same and np.isfinite(times).all() and costs[busiest] > 0):
        raise ProblemError(f"{name}: the times of operators are not costs over speeds of devices")
    return speeds, costs


def _unknown(problem: sp.Problem, tasks: TaskGraph) -> str | None:
    """Return the first property of a problem that no instance has; None if there is none."""
    rate = tasks.rate.reshape(tasks.devices, -1) if len(tasks.rate) > 1 else tasks.rate
    known = {
        "constraints": problem.constraints == sp.Constraints(),
        "messages that wait": tasks.network == FREE,
        "latency": not tasks.latency_s.any(),
        "CPU time of messages": not tasks.has_jobs,
        "times to start": not tasks.startup_s.any(),
        "several cores": bool((tasks.device_cores == 1).all()),
        "barriers": not tasks.barrier,
        "links of two speeds": rate.ndim == 1 or bool((rate == rate.T).all()),
    }
    return next((reason for reason, holds in known.items() if not holds), None)


def by_start(problem: sp.Problem, start: Sequence[float] | Floats) -> list[int]:
    """Return the operators by their starts, (V,), each after those whose messages it gets.

    Of those that start at one time, operators that take no time come first.
    """
    takes_time = [bool(each.instructions) for each in problem.graph.operators]
    level = compiled_pass(problem).tasks.level
    return [int(v) for v in np.lexsort((level, np.asarray(takes_time), np.asarray(start)))]
