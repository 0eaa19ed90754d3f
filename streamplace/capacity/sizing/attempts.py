"""Attempts to place one choice of numbers of instances on the cheapest devices."""

from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from streamplace.capacity.settings import SizeSettings
from streamplace.capacity.sizing.choices import Counts
from streamplace.capacity.subset.cheapest import EFFORTS, Cheapest, Search
from streamplace.capacity.subset.conditions import Counts as Devices
from streamplace.capacity.subset.conditions import Kinds
from streamplace.capacity.subset.examination import Examiner, Verdict
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.budget import Budget
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.counts import expanded
from streamplace.problem.graph import StreamGraph
from streamplace.problem.instances import colocate_instances
from streamplace.problem.objective import Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats


@dataclass(frozen=True)
class Task:
    """What is sized, and how long it may take.

    Parameters
    ----------
    graph
        A graph whose operators may state numbers of instances.
    objective
        The objective, at the source rate that the devices must sustain.
    planned
        The planned source rate, which is lower if restarts must be caught up with.
    prices
        (D,) price of each device in what is minimised.
    free
        Names of the operators whose numbers of instances may be chosen.
    """

    graph: StreamGraph
    cluster: Cluster
    objective: Throughput
    planned: float
    constraints: Constraints
    prices: Floats
    free: frozenset[str]
    settings: SizeSettings
    _latest: dict[object, Problem] = field(default_factory=dict, init=False, repr=False)

    @property
    def wanted(self) -> Throughput:
        """The objective at the planned source rate."""
        return self.objective.with_changes(source_rate=self.planned)

    def at(self, planned: float) -> "Task":
        """Return the task at another planned source rate in tuples/s."""
        needed = self.objective.source_rate * planned / self.planned
        return replace(
            self, objective=self.objective.with_changes(source_rate=needed), planned=planned
        )

    def problem(self, counts: Counts, *, apart: bool = False) -> Problem:
        """Return the problem of some numbers of instances on the whole cluster.

        Parameters
        ----------
        apart
            Leave out the constraints ``colocate``, and that operators stay whole. They are the
            only ones that may be easier to obey with more instances: between equal numbers,
            ``colocate`` holds number by number.

        Raises
        ------
        InfeasibleError
            If provably no placement satisfies the constraints.
        """
        apart = apart and bool(self.settings.whole_operators or self.constraints.colocate)
        key = apart, tuple(counts.items())
        if key not in self._latest:
            rules = replace(self.constraints, colocate=()) if apart else self.constraints
            graph = expanded(self.graph, counts)
            if self.settings.whole_operators and not apart:
                rules = colocate_instances(graph, rules)
            made = Problem(graph, self.cluster, objective=self.objective, constraints=rules)
            self._latest.clear()
            self._latest[key] = made
        return self._latest[key]


@dataclass(frozen=True)
class Attempt:
    """What is known about one choice of numbers of instances.

    Parameters
    ----------
    counts
        Operator -> number of instances.
    price
        The price of the cheapest devices found; inf if none were found.
    bound
        A lower bound on the price of any devices for these numbers; inf if there are none.
    placement
        A placement on the whole cluster that uses only these devices; None if none was found.
    devices
        Their indices, with spare ones if some may be lost.
    search
        The search that found them, which can go on.
    """

    counts: Counts
    price: float
    bound: float
    placement: Placement | None
    devices: tuple[int, ...] = ()
    search: Search | None = field(default=None, repr=False, compare=False)

    @property
    def instances(self) -> int:
        """The number of instances."""
        return sum(self.counts.values())

    @property
    def rank(self) -> tuple[float, int]:
        """A key by which an attempt is better: its price, and then its number of instances."""
        return self.price, self.instances


def attempt(
    task: Task,
    counts: Counts,
    budget: Budget,
    *,
    everywhere: bool = False,
    most: int | None = None,
) -> Attempt:
    """Place some numbers of instances on the cheapest devices that a search finds.

    Parameters
    ----------
    everywhere
        Use the whole cluster instead, since the price of its devices does not matter.
    most
        Largest number of devices; None: any.
    """
    try:
        problem = task.problem(counts)
    except InfeasibleError:
        return Attempt(counts, inf, inf, None)
    kinds = Kinds(problem, task.prices)
    examiner = Examiner(problem, kinds, task.settings.seed, task.settings.evaluations, budget)
    if everywhere:
        return _everywhere(task, counts, examiner)
    search = Search(examiner, task.settings.survive, task.settings.seed, most)
    return _of_search(task, counts, search, search.run())


def go_on(task: Task, own: Attempt, budget: Budget) -> Attempt:
    """Return an attempt whose search for devices had more time."""
    if own.search is None:  # it needs no devices in particular
        return own
    return _of_search(task, own.counts, own.search, own.search.go_on(budget))


def _of_search(task: Task, counts: Counts, search: Search, found: Cheapest) -> Attempt:
    if found.counts is None:
        return Attempt(counts, inf, inf if found.refuted else found.bound, None)
    placement = _placement(search.examiner, found.counts)
    if placement is None:
        return Attempt(counts, inf, found.bound, None)
    devices = _needed(task, placement, search.examiner.kinds.devices(found.counts))
    price = float(task.prices[list(devices)].sum())
    return Attempt(counts, price, found.bound, placement, devices, search)


def _everywhere(task: Task, counts: Counts, examiner: Examiner) -> Attempt:
    """Return an attempt on the whole cluster, whose price is 0."""
    everything = examiner.kinds.everything
    for effort in range(EFFORTS):
        verdict = examiner.survives(everything, task.settings.survive, effort)
        if verdict is Verdict.REFUTED:
            return Attempt(counts, inf, inf, None)
        if verdict is Verdict.CARRIES:
            placement = _placement(examiner, everything)
            if placement is not None:
                whole = tuple(range(len(task.cluster.devices)))
                return Attempt(counts, 0.0, 0.0, placement, _needed(task, placement, whole))
        if examiner.budget.seconds_left() <= 0:
            break
    return Attempt(counts, inf, 0.0, None)


def _placement(examiner: Examiner, devices: Devices) -> Placement | None:
    """Return a placement on some devices that carries everything, as one on the whole cluster."""
    known = examiner.results.get(devices)
    if known is None or not known.carries_all:
        try:
            known = examiner.measure(devices, enough=True)
        except PlacementError:
            return None
    if known is None or not known.carries_all:
        return None
    return _on_all(examiner.problem, known.carrying)


def _needed(task: Task, placement: Placement, devices: tuple[int, ...]) -> tuple[int, ...]:
    """Return the devices of a set that are needed; those that run nothing may be spares."""
    if task.settings.survive:
        return devices
    return tuple(sorted({*placement.devices.tolist()}))


def _on_all(problem: Problem, placement: Placement) -> Placement:
    own, index = placement.problem.cluster.names, problem.cluster.index
    where = np.array([index[name] for name in own], dtype=np.int32)
    return Placement(problem, where[placement.devices])
