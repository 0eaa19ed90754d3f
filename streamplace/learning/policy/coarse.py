"""Groups of operators that a policy places as wholes, and the refinement of what it placed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from streamplace.errors import InfeasibleError
from streamplace.placers.search.annealing import Annealer, levels_of, refined_below
from streamplace.placers.search.annealing import refine as short_chain
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.grouping import Grouping
from streamplace.problem.objective import Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.resources import MAX_AMOUNT
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import evaluator, qualities
from streamplace.sim.flow import Flow
from streamplace.util.arrays import Floats, Ints

BITS_PER_BYTE = 8.0
SLOTS = "slots of devices"
SHARE = 0.4  # maximum work of one group, as a share of the mean work per device
PER_DEVICE = 3  # groups per device of the coarsest level
CYCLES = 2  # times that a placement is coarsened and refined again


class ProblemOfGroups(NamedTuple):
    """A problem whose operators are the groups of a grouping, in the same order."""

    problem: Problem
    grouping: Grouping


def problem_of_groups(problem: Problem, grouping: Grouping) -> ProblemOfGroups | None:
    """Return a smaller problem whose operators are groups of a problem's operators.

    An operator of the smaller problem has the work, memory and resources of its group, and a stream
    the messages and bits of all streams between two groups. Groups are numbered anew, by the mean
    position of their operators in topological order. If no stream leads back to an earlier group,
    a placement of the groups causes the same utilisations as that of their operators. Streams that
    lead back are counted with those that lead forward; then the load of links is approximate, as it
    is where streams share messages.

    The objective is throughput under the closed form `bottleneck`, at the highest source rate.
    Operators with times of their own on kinds of devices count by their instructions.

    Parameters
    ----------
    grouping
        Groups of the problem's operators. Operators that constraints keep together belong to one
        group. The operators of a group have the same allowed devices, and no constraint keeps them
        apart.

    Returns
    -------
    None if limits, such as memory, allow no placement of whole groups, as far as this is known
    without a search.
    """
    arrays, graph, count = flow(problem), problem.graph, grouping.count
    group = _in_order(problem, grouping)
    ends, tuples, bits = _streams(arrays, group)
    sources = np.bincount(ends[:, 1], minlength=count) == 0
    rate = np.bincount(ends[:, 1], tuples, count).astype(float)  # integers if there is no stream
    rate[sources] = arrays.source_rate / sources.sum()
    names = [f"group {number}" for number in range(count)]
    smaller = StreamGraph.from_columns(
        names,
        np.bincount(group, arrays.work, count) / rate,
        np.zeros(count),
        ends,
        memory_bytes=np.bincount(group, graph.memory_bytes, count),
        cores=np.bincount(group, graph.cores, count),
        resources=_resources(problem, group),
        selectivity=tuples / rate[ends[:, 0]],
        stream_payload_bytes=bits / tuples / BITS_PER_BYTE,
        constraints=_constraints(problem, group, names),
    )
    share = problem.throughput_objective.target_utilisation
    objective = Throughput.of(arrays.source_rate, "bottleneck", share)
    try:
        of_groups = Problem(smaller, _cluster(problem.cluster), objective=objective)
    except InfeasibleError:
        return None
    return ProblemOfGroups(of_groups, Grouping(graph, group))


def _in_order(problem: Problem, grouping: Grouping) -> Ints:
    """Return the group of each operator, (V,), with groups numbered by their mean position."""
    position = np.empty(len(grouping.group_of))
    position[problem.graph.order] = np.arange(len(position))
    sums = np.bincount(grouping.group_of, position, grouping.count)
    number = np.empty(grouping.count, np.int32)
    mean = sums / np.bincount(grouping.group_of)
    number[np.argsort(mean, kind="stable")] = np.arange(grouping.count, dtype=np.int32)
    return number[grouping.group_of]


def _streams(flow: Flow, group: Ints) -> tuple[Ints, Floats, Floats]:
    """Return the ends of streams between groups, (Q, 2), their tuples/s and their bit/s, (Q,)."""
    ends = np.sort(np.stack([group[flow.source], group[flow.target]], axis=1), axis=1)
    kept = (ends[:, 0] != ends[:, 1]) & (flow.stream_tuples > 0.0)
    pairs, which = np.unique(ends[kept], axis=0, return_inverse=True)
    sums = np.zeros((2, len(pairs)))
    np.add.at(sums[0], which.ravel(), flow.stream_tuples[kept])
    np.add.at(sums[1], which.ravel(), flow.stream_bits[kept])
    return pairs.astype(np.int32), sums[0], sums[1]


def _cluster(cluster: Cluster) -> Cluster:
    """Return the cluster with slots as a resource, of which a group takes several."""
    if np.isinf(cluster.slots).all():
        return cluster
    devices = [
        replace(
            device,
            slots=None,
            resources={
                **device.resources,
                SLOTS: MAX_AMOUNT if device.slots is None else device.slots,
            },
        )
        for device in cluster.devices
    ]
    return Cluster(devices, cluster.network)


def _resources(problem: Problem, group: Ints) -> dict[int, dict[str, float]]:
    """Return group -> resource -> the amount that all its operators take, slots among them."""
    graph, total = problem.graph, dict[int, dict[str, float]]()
    if np.isfinite(problem.cluster.slots).any():
        total = {g: {SLOTS: float(count)} for g, count in enumerate(np.bincount(group).tolist())}
    for operator, amounts in graph.resources.items():
        of_group = total.setdefault(int(group[operator]), {})
        for name, amount in amounts.items():
            of_group[name] = of_group.get(name, 0.0) + amount
    return total


def _constraints(problem: Problem, group: Ints, names: Sequence[str]) -> Constraints:
    """Return the problem's constraints, between groups."""
    feasibility, devices = problem.feasibility, problem.cluster.devices
    of_unit = group[feasibility.first_of]

    def apart(sets: Sequence[Sequence[int]]) -> list[list[str]]:
        return [[names[of_unit[unit]] for unit in units] for units in sets]

    allowed = {
        names[of_unit[unit]]: [devices[d].name for d in np.flatnonzero(feasibility.allowed[unit])]
        for unit in np.flatnonzero(~feasibility.allowed.all(axis=1))
    }
    return Constraints(
        exlocate=apart(feasibility.excluding),
        apart_groups=apart(feasibility.separating),
        allowed=allowed,
    )


@dataclass(frozen=True)
class Part:
    """A problem that a policy places: a whole one, or that of the groups of its operators."""

    problem: Problem
    grouping: Grouping | None = None

    def expanded(self, rows: Ints) -> Ints:
        """Return the devices of operators, (N, V), for those of this problem's operators."""
        return rows if self.grouping is None else rows[:, self.grouping.group_of]


def parts_of(problem: Problem, largest: int) -> Iterator[Part]:
    """Yield the problems of groups that a policy can place, the one with most groups first.

    Groups are joined along heavy streams, level by level; see `placers.search.annealing`.

    Parameters
    ----------
    largest
        The largest number of groups; if every level has more, the coarsest is used.
    """
    group_of, levels = problem.feasibility.unit_of, list[Grouping]()
    for group in levels_of(compiled(problem).instance, SHARE, per_device=PER_DEVICE).groups:
        group_of = group[group_of]
        levels.append(Grouping(problem.graph, group_of))
    for grouping in levels:
        if grouping.count <= max(largest, levels[-1].count):
            made = problem_of_groups(problem, grouping)
            if made is not None:
                yield Part(*made)


def refined(
    problem: Problem, placement: Placement, rng: np.random.Generator, changes: int
) -> Placement:
    """Return the better of a feasible placement and of the one that short chains make of it.

    The chains begin on groups of operators that share a device, so that they also move what a
    policy has placed operator by operator as a whole.

    Parameters
    ----------
    changes
        Changes tried per group or unit on every level.
    """
    annealer, feasibility = Annealer(problem, rng, headroom=True), problem.feasibility
    on = placement.devices[feasibility.first_of]
    for _ in range(CYCLES):
        levels = levels_of(annealer.instance, SHARE, on, PER_DEVICE)
        chain = short_chain(annealer, levels.instances[-1], levels.up(on), changes)
        chain = refined_below(annealer, levels, len(levels.groups), chain, changes)
        on = chain.on
        if chain.enough:
            break
    candidate = Placement(problem, on[feasibility.unit_of])
    before, after = qualities(problem, [placement, candidate])
    return candidate if after >= before else placement


def supports_search(problem: Problem) -> bool:
    """Return whether the problem's objective supports local search."""
    return evaluator(problem).local_search() is not None
