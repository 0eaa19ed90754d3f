"""Sizes of jobs with thousands of instances: packing on devices, with factored loads."""

from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from math import inf
from operator import le

import numpy as np

from streamplace.capacity.sizing.attempts import Task
from streamplace.capacity.sizing.choices import Choices, Counts, with_parallelism
from streamplace.capacity.sizing.factored import (
    INSTRUCTIONS_PER_MI,
    Instances,
    Loads,
    check_supported,
    loads_of,
)
from streamplace.capacity.sizing.needs import SPEED, Need, conditions_of
from streamplace.capacity.sizing.requirements import Requirement
from streamplace.capacity.sizing.result import SizeResult
from streamplace.capacity.sizing.shortage import check_needs
from streamplace.capacity.sizing.unfound import unfound
from streamplace.capacity.subset.conditions import Kinds
from streamplace.capacity.subset.price_bound import fluid_bound
from streamplace.placers.budget import Budget
from streamplace.problem.graph import StreamGraph
from streamplace.problem.limits import SLOTS
from streamplace.problem.logical import instance_names
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats, Ints

# Streams between instances up to which all are listed and searched; beyond, they take gigabytes.
MOST_STREAMS = 500_000
ADDED = 1 / 16  # devices added after the first attempt, as a share of those before
ROUNDING = 1e-9


@dataclass(frozen=True)
class Packed:
    """Instances on devices.

    Parameters
    ----------
    on
        The device of each instance of each operator, (p,) each.
    devices
        The devices that are used, in increasing order.
    loads
        Their utilisations.
    cut_off
        Whether fewer devices were left to try when the time was up.
    """

    on: list[Ints]
    devices: tuple[int, ...]
    loads: Loads
    cut_off: bool = False


@dataclass(frozen=True)
class PackedSize:
    """A size of thousands of instances.

    Parameters
    ----------
    counts
        Operator -> number of instances.
    packed
        Their devices.
    bound
        A lower bound on what is minimised.
    """

    counts: Counts
    packed: Packed
    bound: float

    def result(self, task: Task, limits: tuple[Requirement, ...], seconds: float) -> SizeResult:
        """Return the result at the planned source rate."""
        names, rate, target = task.cluster.names, task.planned, task.objective.target_utilisation
        assignment = {
            name: names[d]
            for (operator, count), where in zip(self.counts.items(), self.packed.on, strict=True)
            for name, d in zip(instance_names(operator, count), where.tolist(), strict=True)
        }
        highest = self.packed.loads.largest * rate / task.objective.source_rate
        return SizeResult(
            parallelism=self.counts,
            graph=with_parallelism(task.graph, self.counts),
            cluster=task.cluster,
            assignment=assignment,
            source_rate=rate,
            throughput=rate * min(1.0, target / max(highest, 1e-300)),
            placement=None,
            score=None,
            minimise=task.settings.minimise,
            bound=self.bound,
            limits=limits,
            devices=tuple(names[d] for d in self.packed.devices),
            seconds=seconds,
            cut_off=self.packed.cut_off,
        )


def packed_size(task: Task, choices: Choices, budget: Budget) -> PackedSize:
    """Return the fewest instances, on few devices, and a bound.

    Raises
    ------
    UsageError
        If the graph or the cluster has something that factored loads do not support.
    InfeasibleError
        If all devices together are too small.
    PlacementError
        If no placement was found.
    """
    counts = choices.counts(choices.first)
    needs = _needs(task, counts)
    if not (task.graph.seconds_on or task.graph.semantics):  # which `_needs` does not count
        check_needs(task, counts, needs, _needs)
    check_supported(task, sum(counts.values()))
    ones = task.problem(dict.fromkeys(counts, 1))
    kinds = Kinds(ones, task.prices)
    instances = Instances(task.graph, counts, task.objective.source_rate)
    least = fluid_bound(conditions_of(needs, kinds), kinds, 0)
    everywhere = float(task.prices.sum())
    packed = pack_on_fewest(
        task,
        ones,
        instances,
        everywhere if task.settings.minimise == "instances" else least,
        budget,
    )
    if packed is None:
        raise unfound(task)
    bound = float(sum(counts.values())) if task.settings.minimise == "instances" else least
    return PackedSize(counts, packed, bound)


def _needs(task: Task, counts: Counts) -> list[Need]:
    """Return the work, memory, slots and resources that all instances need together."""
    (needs, room), everywhere = _limits(task), np.ones(len(task.cluster.devices), bool)
    instances = Instances(task.graph, counts, task.objective.source_rate)
    work = sum(float(instances.work(v).sum()) for v in range(len(instances.counts)))
    target = task.objective.target_utilisation
    found = [Need(SPEED, (), everywhere, target * _capacity(task) / work)] if work else []
    total = (needs * instances.counts[:, None]).sum(axis=0)
    for k, name in enumerate(("memory", SLOTS, *task.graph.resource_names)):
        if total[k] > 0.0:
            found.append(Need(name, (), everywhere, np.minimum(room[:, k], total[k]) / total[k]))
    return found


def _capacity(task: Task) -> Floats:
    """Return the instructions/s of each device, (D,)."""
    return np.array([d.mips * d.cores * INSTRUCTIONS_PER_MI for d in task.cluster.devices])


def is_large(graph: StreamGraph, counts: Counts) -> bool:
    """Return whether a graph of all streams between instances would be too large to search."""
    of, streams = [counts[name] for name in graph.names], 0
    ends = zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True)
    for e, (u, v) in enumerate(ends):
        is_forward = graph.partitioning.get(e) == "forward" and of[u] == of[v]
        streams += of[v] if is_forward else of[u] * of[v]
    return streams > max(MOST_STREAMS, len(graph.stream_source))


def pack_on_fewest(
    task: Task, ones: Problem, instances: Instances, least_price: float, budget: Budget
) -> Packed | None:
    """Return the instances on few devices; None if they do not fit on all of them.

    Devices that are cheap for their speed come first. The heaviest instances are placed first, each
    on the device with the lowest load that has room; this spreads the instances of an operator, and
    so its traffic, over all devices in use. If a device or link is overloaded, devices are added,
    each time twice as many. Then the smallest number between the last two is looked for by halving,
    while there is time. Without a time limit, the work is limited by these few numbers.

    Parameters
    ----------
    ones
        The problem with one instance of each operator, for constraints and room.
    least_price
        A lower bound on the price of the devices.
    """
    capacity = _capacity(task)
    order = np.lexsort((-capacity, task.prices / capacity))
    paid = np.cumsum(task.prices[order])
    first = int(np.searchsorted(paid, least_price * (1.0 - ROUNDING))) + 1
    target = task.objective.target_utilisation

    def on_first(number: int) -> Packed | None:
        chosen: Ints = np.sort(order[:number]).astype(np.int32)
        packed = _packed(task, ones, instances, chosen, capacity)
        fits = packed is not None and packed.loads.largest <= target * (1.0 + ROUNDING)
        return packed if fits else None

    number, added, failed = min(first, len(order)), max(1, round(ADDED * first)), first - 1
    while (best := on_first(number)) is None:
        if number == len(order):
            return None
        number, added, failed = min(first + added, len(order)), 2 * added, number
    while number - failed > 1 and budget.seconds_left() > 0:
        middle = (failed + number) // 2
        if (packed := on_first(middle)) is None:
            failed = middle
        else:
            best, number = packed, middle
    return replace(best, cut_off=number - failed > 1)


def _packed(
    task: Task, ones: Problem, instances: Instances, chosen: Ints, capacity: Floats
) -> Packed | None:
    """Return the instances on some devices; None if the room or the constraints forbid it."""
    feasibility, most = ones.feasibility, task.objective.target_utilisation * (1.0 + ROUNDING)
    needs, room = _limits(task)
    limited = (room < inf).any(axis=0) & (needs > 0.0).any(axis=0)
    least, fastest = needs[:, limited].min(axis=0).tolist(), float(capacity[chosen].max())
    needs_of, left, speed = needs[:, limited].tolist(), room[:, limited].tolist(), capacity.tolist()
    works = [instances.work(v) for v in range(len(instances.counts))]
    on: list[Ints] = [np.full(len(work), -1, np.int32) for work in works]
    owner = np.repeat(np.arange(len(works)), instances.counts).tolist()
    number = np.concatenate([np.arange(len(work)) for work in works]).tolist()
    every = np.concatenate(works)
    heap = [(0.0, int(d)) for d in chosen]
    heapify(heap)
    for i in np.argsort(-every, kind="stable").tolist():
        v, work, passed, found = owner[i], float(every[i]), list[tuple[float, int]](), -1
        allowed, taken = feasibility.allowed[feasibility.unit_of[v]], needs_of[v]
        while heap and heap[0][0] + work / fastest <= most:  # beyond, none has enough left
            load, d = heappop(heap)
            after = load + work / speed[d]
            if after <= most and allowed[d] and all(map(le, taken, left[d])):
                found = d
                left[d] = [has - need for has, need in zip(left[d], taken, strict=True)]
                if all(map(le, least, left[d])):
                    passed.append((after, d))
                break
            passed.append((load, d))
        for entry in passed:
            heappush(heap, entry)
        if found < 0:
            return None
        on[v][number[i]] = found
    used = tuple(sorted({int(d) for where in on for d in where}))
    return Packed(on, used, loads_of(instances, task.cluster, on))


def _limits(task: Task) -> tuple[Floats, Floats]:
    """Return what an instance of each operator takes, (V, K), and what devices have, (D, K).

    These are memory, slots and resources.
    """
    graph, cluster = task.graph, task.cluster
    names = graph.resource_names
    needs = [graph.memory_bytes, np.ones(len(graph.names)), *map(graph.resource, names)]
    room = [cluster.memory_bytes, cluster.slots, *map(cluster.resource, names)]
    return np.stack(needs, axis=1), np.stack(room, axis=1)
