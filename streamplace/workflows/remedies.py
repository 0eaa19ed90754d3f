"""Changes that would help where operators are too heavy, tried by placing the changed problem."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from math import ceil, inf
from typing import Literal, NamedTuple

import numpy as np

from streamplace.errors import GraphError, StreamplaceError
from streamplace.placers.repair import feasible
from streamplace.placers.search.chains import starts
from streamplace.problem.cluster import Cluster
from streamplace.problem.counts import expanded
from streamplace.problem.device import Device
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import MAX_RATE, Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.rules import RuledParts, constraints_with
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import max_source_rate
from streamplace.sim.closed_form.bottleneck import utilisations
from streamplace.util.arrays import Ints
from streamplace.workflows.constraint_costs import EVALUATIONS, MIN_GAIN, most_carrying

LARGE = 50_000  # operators and streams above which the known placement is only adapted
RULES_TRIED = 8  # of these, one by one, before all of them together
KEEPING = "colocate", "pins"  # rules that keep operators together
MARGIN = 1e-9  # utilisation beyond 1 that is rounding
MOST_ADDED = 64  # devices that a plan may add
MOST_INSTANCES = 256  # of an operator; the streams between more of them take too much memory
EVEN = 1e-6  # relative difference of the work of instances that share their tuples evenly

Remedy = Literal["instances", "devices", "faster", "apart", "cores"]
"""More instances of an operator; these and further devices; a faster device; fewer operators that
are kept together; more cores that an operator can use."""
Change = tuple[Remedy, RuledParts]
"""A changed problem, and what the change is called."""


class Heavy(NamedTuple):
    """Operators that are too heavy for a device.

    Parameters
    ----------
    operators
        Their names.
    device
        The device that suits them best.
    load
        Their utilisation of it, relative to what may be used.
    enough_mips
        The speed of that device, or of the cores that they can use, that would be enough.
    cores
        Cores of that device that they can use.
    timed
        Whether all of them have times for its kind.
    """

    operators: tuple[str, ...]
    device: str
    load: float
    enough_mips: float
    cores: int
    timed: bool

    @property
    def instances(self) -> int:
        """Number of instances, each of one operator now, of which each would carry its part."""
        return ceil(self.load - MARGIN)


def remedies(
    problem: Problem, heavy: Heavy, known: Ints | None = None, *, grows: bool = False
) -> tuple[Remedy, ...]:
    """Return which changes let placements carry more than any that was found without them.

    Loads are those of ``bottleneck``. The same problem gives the same result.

    Parameters
    ----------
    known
        (V,) devices of a placement to start from, if there is one.
    grows
        Whether devices like the others may be added, as in a plan on equal devices.
    """
    objective = Throughput(problem.objective.rates, "bottleneck", problem.target_utilisation)
    rules = problem.constraints.stated
    plain = Problem(problem.graph, problem.cluster, objective=objective, constraints=rules)
    with suppress(StreamplaceError):  # no placement was found, so that no change can be judged
        rows = [known] if known is not None else starts(plain, np.random.default_rng(0), None)
        return _changes_that_help(Placement(plain, rows[0]), _changes(plain, heavy, grows=grows))
    return ()


def remedies_of_core(placement: Placement, operator: str) -> tuple[Remedy, ...]:
    """Return which changes let placements carry more where an operator fills the core that it uses.

    These are ``cores`` and ``instances``; see `remedies`.
    """
    problem = placement.problem
    objective = Throughput(problem.objective.rates, "bottleneck", problem.target_utilisation)
    plain = Placement(problem.with_objective(objective), placement.devices)
    graph, cluster, v = problem.graph, problem.cluster, problem.graph.index[operator]
    device = cluster.devices[int(placement.devices[v])]
    carried = max_source_rate(plain.problem, plain.devices) or MAX_RATE
    heavy = Heavy((operator,), device.name, plain.problem.source_rate / carried, inf, 1, False)
    parts = RuledParts.of(plain.problem)
    cores = graph.cores.copy()
    cores[[of == graph.owners[v] for of in graph.owners]] = max(d.cores for d in cluster.devices)
    changes: list[Change] = [("cores", parts._replace(graph=graph.with_numbers(cores=cores)[0]))]
    if (several := _with_instances(plain.problem, heavy)) is not None:
        changes.append(("instances", parts._replace(graph=several)))
    return _changes_that_help(plain, changes)


def _changes_that_help(known: Placement, changes: Iterable[Change]) -> tuple[Remedy, ...]:
    """Return which changes let placements carry more than any that was found without them."""
    found: dict[Remedy, None] = {}
    before, objective = _rate_carried(known.problem, known), known.problem.objective
    for remedy, parts in changes:
        if remedy in found or (remedy == "devices" and "instances" in found):
            continue
        with suppress(StreamplaceError):  # a change that cannot be made does not help
            graph, cluster, kept = parts
            changed = Problem(graph, cluster, objective=objective, constraints=kept)
            if _rate_carried(changed, _adapt(changed, known)) > before * (1.0 + MIN_GAIN):
                found[remedy] = None
    return tuple(found)


def _rate_carried(problem: Problem, start: Placement) -> float:
    """Return the source rate in tuples/s that the best placement found carries."""
    if len(problem.graph.names) + len(problem.graph.selectivity) > LARGE:
        return max_source_rate(problem, start.devices) or MAX_RATE
    best = most_carrying(problem, np.random.default_rng(0), [start.devices], EVALUATIONS)
    return max_source_rate(problem, best) or MAX_RATE


def _adapt(problem: Problem, old: Placement) -> Placement:
    """Return a placement of a changed problem; operators that are new go to idle devices."""
    on = dict(zip(old.problem.graph.names, old.devices.tolist(), strict=True))
    used = utilisations(flow(old.problem), old.devices)[0]
    idle = [*range(len(used), len(problem.cluster.devices)), *np.argsort(used, kind="stable")]
    row, taken = np.empty(len(problem.graph.names), dtype=np.int32), 0
    for v, name in enumerate(problem.graph.names):
        if name in on:
            row[v] = on[name]
        elif name.endswith("[0]") and name.removesuffix("[0]") in on:
            row[v] = on[name.removesuffix("[0]")]
        else:
            row[v] = idle[taken % len(idle)]
            taken += 1
    return feasible(problem, row)


def _changes(problem: Problem, heavy: Heavy, *, grows: bool) -> Iterator[Change]:
    """Yield changes of a problem, with what they are called."""
    parts = RuledParts.of(problem)
    graph, cluster, rules = parts
    device = cluster.devices[cluster.index[heavy.device]]
    if len(heavy.operators) == 1:
        several = _with_instances(problem, heavy)
        if several is not None:
            added = len(several.names) - len(graph.names)
            wider = wider_by(cluster, device, added) if grows else cluster
            yield "instances", RuledParts(several, wider, rules)
            resources = {name: float(graph.resource(name).sum()) for name in graph.resource_names}
            ample = replace(device, memory_bytes=None, slots=None, resources=resources)
            yield "devices", RuledParts(several, wider_by(cluster, ample, added + 1), rules)
    else:
        wider = wider_by(cluster, device, len(heavy.operators)) if grows else cluster
        for left in _apart(parts, heavy):
            yield "apart", left._replace(cluster=wider)
    if heavy.timed:
        yield "faster", RuledParts(_with_times(graph, heavy, device), cluster, rules)
        return
    fast = replace(device, mips=heavy.enough_mips / heavy.cores)
    devices = [  # of equal devices, the plan chooses the kind
        replace(fast, name=each.name) if grows or each is device else each
        for each in cluster.devices
    ]
    yield "faster", RuledParts(graph, Cluster(devices, cluster.network), rules)


def _with_instances(problem: Problem, heavy: Heavy) -> StreamGraph | None:
    """Return the graph with so many instances that none is too heavy; None if that is not known.

    Instances of a parallel operator are divided if all of them have the same work. Otherwise, keys
    or key groups decide what further instances would get, and instances do not tell.
    """
    graph = problem.graph
    owner = graph.owners[graph.index[heavy.operators[0]]]
    members = [v for v, of in enumerate(graph.owners) if of == owner]
    tuples = flow(problem).operator_tuples[members]
    is_uneven = np.ptp(tuples) > EVEN * tuples.max()
    if is_uneven or heavy.instances * len(members) > MOST_INSTANCES:
        return None
    try:
        return expanded(graph, {graph.names[v]: heavy.instances for v in members})
    except GraphError:  # as where operators take a tuple from each of their inputs
        return None


def wider_by(cluster: Cluster, device: Device, count: int) -> Cluster:
    """Return the cluster with further devices like one."""
    names = (f"{device.name}+{i}" for i in range(len(cluster.devices) + count))
    free = [name for name in names if name not in cluster.index]
    added = [replace(device, name=name) for name in free[: min(count, MOST_ADDED)]]
    return Cluster([*cluster.devices, *added], cluster.network)


def _apart(parts: RuledParts, heavy: Heavy) -> Iterator[RuledParts]:
    """Yield the parts without each rule that keeps the operators together, then without all."""
    names = {*heavy.operators}
    keeping = [
        rule
        for rule in parts.rules()
        if rule.kind in KEEPING and not names.isdisjoint(parts.operators_of(rule))
    ]
    yield from (parts.without(rule) for rule in keeping[:RULES_TRIED])
    kept = {*parts.rules()} - {*keeping}
    yield parts._replace(constraints=constraints_with(parts.constraints, kept))


def _with_times(graph: StreamGraph, heavy: Heavy, device: Device) -> StreamGraph:
    """Return the graph in which the operators take less time on the kind of a device."""
    times = {v: dict(seconds.items()) for v, seconds in graph.seconds_on.items()}
    for v in (graph.index[name] for name in heavy.operators):
        own = graph.seconds_on[v][device.kind]
        if device.kind is not None and own is not None:
            times[v][device.kind] = own / heavy.load
    return graph.with_numbers(seconds_on=times)[0]
