"""Windows of measurements and a plain planner for tests of the controller."""

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, inf
from typing import Any

import numpy as np

from streamplace.control.controller import Controller
from streamplace.control.decisions import Decision
from streamplace.control.observation import Observation, Reading
from streamplace.control.plans import Deployment, Plan
from streamplace.control.settings import ControllerSettings
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph

WINDOW_S = 300.0
DEVICES = frozenset({"a", "b", "c", "d"})
HOSTS = {"decode": ("a",), "count": ("b",)}
MORE = {"decode": ("a", "b"), "count": ("c",)}
SETTINGS = ControllerSettings()
COSTS = {"decode": 1e-3, "count": 2e-4}  # one instance of decode carries 1,000 tuples/s
Acting = tuple[Controller, Decision]
"""A controller, and its decision on which it acts."""


def observed(
    busiest: float,
    window: int = 10,
    *,
    hosts: Mapping[str, tuple[str, ...]] | None = None,
    offered_s: float | None = 1000.0,
    backpressured: float = 0.0,
    **others: Any,
) -> Observation:
    """Return a window in which the operator ``decode`` is the busiest, and others half as busy.

    Parameters
    ----------
    window
        Its number; windows of 5 min follow each other, and the job has run since time 0.
    others
        Further fields of `Observation`.
    """
    on = HOSTS if hosts is None else hosts
    readings = {
        name: Reading(
            offered_s or 0.0,
            busiest if name == "decode" else busiest / 2,
            busiest if name == "decode" else busiest / 2,
            backpressured if name == "decode" else 0.0,
            len(devices),
        )
        for name, devices in on.items()
    }
    plain = Observation(
        at_s=(window + 1) * WINDOW_S,
        seconds=WINDOW_S,
        started_s=0.0,
        readings=readings,
        offered_s=offered_s,
        waiting=0.0,
        devices=DEVICES,
        hosts=on,
    )
    return replace(plain, **others)


class PlainPlanner:
    """A planner by the rule of DS2, p = ⌈rate x cost / target⌉, with one instance per device core.

    Parameters
    ----------
    costs
        Operator -> busy seconds of one instance per tuple.
    most
        The largest number of instances of an operator.
    """

    def __init__(
        self, costs: Mapping[str, float], settings: ControllerSettings, most: int = 1000
    ) -> None:
        self.costs, self.settings, self.most = costs, settings, most
        self.rates: list[float] = []

    def carries(self, numbers: Mapping[str, int]) -> float:
        """Return the tuples per second that numbers of instances sustain."""
        return min(numbers[name] / cost for name, cost in self.costs.items())

    def __call__(self, observation: Observation, rate_s: float, seconds: float = inf) -> Plan | str:
        """Return the plan, with instances dealt to the devices that are there."""
        self.rates.append(rate_s)
        devices = sorted(observation.devices)
        if not devices:
            return "all devices are gone"
        hosts, dealt = dict[str, tuple[str, ...]](), 0
        for name, cost in sorted(self.costs.items()):
            count = min(ceil(rate_s * cost / self.settings.target), self.most)
            hosts[name] = tuple(devices[(dealt + i) % len(devices)] for i in range(count))
            dealt += count
        after, before = Deployment(hosts), Deployment(observation.hosts)
        return Plan(
            after,
            rate_s,
            self.carries(after.parallelism),
            self.carries(before.parallelism),
            float(len(after.devices)),
            float(len(before.devices)),
        )


def measured(
    graph: StreamGraph,
    cluster: Cluster,
    hosts: Mapping[str, tuple[str, ...]],
    rate_s: float,
    **others: Any,
) -> Observation:
    """Return a window of a job whose instances have equal shares, on devices that they do not fill.

    Parameters
    ----------
    graph
        A graph with one source, without ``broadcast``.
    rate_s
        Tuples per second at the source.
    others
        Further fields of `Observation`.
    """
    rates = np.zeros(len(graph.names))
    for v in graph.order.tolist():
        into = np.flatnonzero(graph.stream_target == v)
        rates[v] = (rates[graph.stream_source[into]] * graph.selectivity[into]).sum()
        rates[v] = rates[v] if len(into) else rate_s
    readings = {}
    for v, name in enumerate(graph.names):
        each = float(rates[v]) / len(hosts[name]) * float(graph.instructions[v])
        busy = [each / (cluster.devices[cluster.index[on]].mips * 1e6) for on in hosts[name]]
        mean = float(np.mean(busy))
        readings[name] = Reading(float(rates[v]), mean, max(busy), 0.0, len(busy))
    window = observed(0.5, hosts=hosts, offered_s=rate_s, devices=frozenset(cluster.names))
    return replace(window, readings=readings, **others)


def controller(**options: bool) -> Controller:
    """Return a controller with the default settings."""
    return Controller(SETTINGS, PlainPlanner(COSTS, SETTINGS), **options)


def last(of: Controller, *windows: Observation) -> Decision:
    """Return the decision on the last of some windows."""
    return [of.step(window) for window in windows][-1]


def overloads(first: int = 10, count: int = 2, offered_s: float = 1200.0) -> list[Observation]:
    """Return windows in which more tuples wait every second, of those that are offered."""
    growth = (offered_s - 1000.0) * WINDOW_S
    return [observed(1.0, first + i, offered_s=offered_s, waiting=i * growth) for i in range(count)]
