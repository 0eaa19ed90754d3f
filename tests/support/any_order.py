"""The shortest makespan over all placements and all orders of operators, by brute force."""

from itertools import product
from math import inf

from streamplace.sim.flow import Ints
from streamplace.sim.schedule.task_graph import ALL, DEVICE, TaskGraph


def shortest_in_any_order(tasks: TaskGraph, allowed: list[list[int]], unit_of: Ints) -> float:
    """Return the shortest makespan in seconds, with links `free` and devices of one core.

    Parameters
    ----------
    allowed
        The devices that each unit may run on.
    unit_of
        (V,) unit of each operator.
    """
    best = inf
    for units in product(*allowed):
        devices = [units[u] for u in unit_of.tolist()]
        best = _Orders(tasks, devices, best).shortest()
    return best


class _Orders:
    """All orders in which the operators of one placement may start."""

    def __init__(self, tasks: TaskGraph, devices: list[int], best: float) -> None:
        self.tasks, self.devices, self.best = tasks, devices, best
        self.delay = [self._delay(e) for e in range(len(tasks.source))]
        self.end: dict[int, float] = {}
        self.free = [0.0] * tasks.devices

    def shortest(self) -> float:
        """Return the shortest makespan, or the best one before if none is shorter."""
        self._start_next(0.0)
        return self.best

    def _start_next(self, makespan: float) -> None:
        tasks = self.tasks
        if makespan >= self.best:
            return
        if len(self.end) == tasks.operators:
            self.best = makespan
        for v in range(tasks.operators):
            inputs = [e for e, w in enumerate(tasks.target.tolist()) if w == v]
            if v in self.end or any(int(tasks.source[e]) not in self.end for e in inputs):
                continue
            d = self.devices[v]
            arrivals = [self.end[int(tasks.source[e])] + self.delay[e] for e in inputs]
            before, start = self.free[d], max([self.free[d], *arrivals])
            lasts = float(tasks.measured_s[v, d])
            self.end[v] = start + lasts
            self.free[d] = start + lasts + float(tasks.startup_s[d])
            self._start_next(max(makespan, self.end[v]))
            del self.end[v]
            self.free[d] = before

    def _delay(self, e: int) -> float:
        """Return the time from the end of a stream's source to the arrival of its message."""
        tasks, devices = self.tasks, self.devices
        a = devices[tasks.source[e]]
        streams = [e]
        if tasks.multicast in (DEVICE, ALL):
            streams = [k for k, v in enumerate(tasks.source) if v == tasks.source[e]]
        elsewhere = [k for k in streams if devices[tasks.target[k]] != a and not tasks.silent[k]]
        if e not in elsewhere:
            return 0.0
        b = devices[tasks.target[e]]
        served = [k for k in elsewhere if tasks.multicast == ALL or devices[tasks.target[k]] == b]
        links = [self._link(a, devices[tasks.target[k]]) for k in served]
        size = max(float(tasks.bits[k]) for k in served)
        transfer = max(size / float(tasks.rate[link]) for link in links)
        return transfer + max(float(tasks.latency_s[link]) for link in links)

    def _link(self, a: int, b: int) -> int:
        return a * self.tasks.devices + b if len(self.tasks.rate) > 1 else 0
