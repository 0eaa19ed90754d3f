"""What is computed once per problem under objectives of one pass."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from streamplace.errors import GraphError
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import Multicast
from streamplace.problem.makespan import CHOICES, DispatchOrder, PassObjective
from streamplace.problem.network import NetworkKind
from streamplace.problem.objective import Throughput
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import identical_devices
from streamplace.scoring.arrays import check_no_overflow, make_flow, make_instance
from streamplace.scoring.rules import rules_of
from streamplace.sim.closed_form.bounds import least_shares
from streamplace.sim.exact import LoadBounds
from streamplace.sim.flow import run_down
from streamplace.sim.rules import Rules
from streamplace.sim.schedule.bounds import Bounds, lower_bounds
from streamplace.sim.schedule.ranks import (
    FastestPaths,
    by_rank,
    fastest_paths,
    mean_messages,
    mean_seconds,
    upward_rank,
)
from streamplace.sim.schedule.state import FIFO, RANKED, SEQUENCE, Noise, Order
from streamplace.sim.schedule.task_graph import (
    ALL,
    DEVICE,
    EGRESS,
    FREE,
    NIC,
    NONE,
    PAIR,
    TaskGraph,
)
from streamplace.sim.schedule.together import together_bound
from streamplace.sim.search.instance import with_messages
from streamplace.util.arrays import Bools, Floats, Ints

NETWORKS: dict[NetworkKind, int] = {"free": FREE, "egress": EGRESS, "pair": PAIR, "nic": NIC}
MULTICASTS: dict[Multicast, int] = {"none": NONE, "device": DEVICE, "all": ALL}


class Masks(NamedTuple):
    """The devices that may run each operator."""

    allowed: Bools  # (M, D) masks of devices
    row_of: Ints  # (V,) int32 index of each operator's mask


def mean_rank(tasks: TaskGraph, masks: Masks) -> Floats:
    """Return HEFT's upward rank of each operator, (V,) seconds.

    Means are over the devices that may run an operator (Topcuoglu et al. 2002); see
    `streamplace.sim.schedule.ranks`.
    """
    return upward_rank(tasks, mean_seconds(tasks, *masks), mean_messages(tasks, *masks))


def dispatch_order(tasks: TaskGraph, masks: Masks, topological: Ints, name: DispatchOrder) -> Order:
    """Return an order by its name; ``any`` is none.

    Parameters
    ----------
    topological
        (V,) int32 operators in Kahn's order, the smallest index first.
    """
    indices = np.arange(tasks.operators, dtype=np.int32)
    if name == "fifo":
        return Order(FIFO, indices, indices)
    sequence = np.ascontiguousarray(topological, np.int32)
    if name == "b-level":
        sequence = by_rank(mean_rank(tasks, masks))
    elif name == "sequence":
        return in_sequence(tasks, sequence)
    return Order(RANKED, _positions(sequence), sequence.copy())


def in_sequence(tasks: TaskGraph, operators: Ints) -> Order:
    """Return the order in which every device waits for the next of its operators in a list.

    Parameters
    ----------
    operators
        (V,) all operators; one follows its inputs.
    """
    sequence = np.array(operators, np.int32)
    if tasks.barrier:  # a level waits for all of the level before
        sequence = sequence[np.argsort(tasks.level[sequence], kind="stable")]
    return Order(SEQUENCE, _positions(sequence), sequence)


def _positions(sequence: Ints) -> Ints:
    """Return the position of each operator, (V,)."""
    position = np.empty_like(sequence)
    position[sequence] = np.arange(len(sequence), dtype=np.int32)
    return position


def names_of(order: DispatchOrder) -> tuple[DispatchOrder, ...]:
    """Return the orders among which a score chooses: `CHOICES` for ``any``, else the order."""
    return CHOICES if order == "any" else (order,)


def make_tasks(graph: StreamGraph, cluster: Cluster, objective: PassObjective) -> TaskGraph:
    """Return one pass of a graph on a cluster as a task graph.

    Raises
    ------
    GraphError
        If loads overflow.
    """
    tuples, on_stream = tuples_of_pass(graph, objective.batch)
    with np.errstate(over="ignore", invalid="ignore"):
        check_no_overflow(graph, tuples, on_stream)
        # NaN: unknown, and either replaced by a time (see `_times_by_kind`) or without effect
        work = np.nan_to_num(graph.instructions) * tuples
        bits = np.nan_to_num(graph.stream_payload_bytes) * 8.0 * on_stream
        check_no_overflow(graph, work, bits)
    rows, table, kinds = _times_by_kind(graph, cluster, tuples)
    silent = on_stream == 0.0
    if objective.inputs_everywhere:
        is_source = np.bincount(graph.stream_target, minlength=len(tuples)) == 0
        silent |= is_source[graph.stream_source]
    devices, is_nic = cluster.devices, cluster.network.kind == "nic"
    rate, latency, gap, overhead = (
        cluster.link_column(name) for name in ("bandwidth_mbps", "latency_s", "gap_s", "overhead_s")
    )
    rate = rate * 1e6
    count = len(devices)
    sides = (rate[count:], gap[count:]) if is_nic else (np.zeros(0), np.zeros(0))
    overhead_in = overhead
    if is_nic:
        rate, gap, overhead_in = rate[:count], gap[:count], np.tile(overhead[count:], count)
        latency = np.maximum.outer(latency[:count], latency[count:]).ravel()
        rate, gap, overhead = (np.repeat(each, count) for each in (rate, gap, overhead[:count]))
    links = [rate, latency, gap, overhead, overhead_in]
    if all((column == column[0]).all() for column in links):
        links = [column[:1].copy() for column in links]
    return TaskGraph(
        work=work,
        cores=graph.cores.astype(np.int32),
        source=graph.stream_source,
        target=graph.stream_target,
        bits=bits,
        silent=silent,
        speed=np.array([device.mips * 1e6 for device in devices]),
        device_cores=np.array([device.cores for device in devices], np.int32),
        startup_s=np.array([device.startup_s for device in devices]),
        kind=kinds,
        measured_row=rows,
        measured_s=table,
        network=NETWORKS[cluster.network.kind],
        multicast=MULTICASTS[graph.multicast],
        rate=links[0],
        latency_s=links[1],
        gap_s=links[2],
        overhead_s=links[3],
        overhead_in_s=links[4],
        overhead_s_per_bit=cluster.overhead_s_per_byte / 8.0,
        rate_in=sides[0].copy(),
        gap_in_s=sides[1].copy(),
        barrier=objective.barrier,
    )


def tuples_of_pass(graph: StreamGraph, batch: int) -> tuple[Floats, Floats]:
    """Return the tuples of each operator, (V,), and of each stream, (E,), in one pass.

    With `firing` ``all``, that is the batch for each of them. Otherwise sources share the batch,
    and operators emit tuples by their selectivities.
    """
    operators, streams = len(graph.names), len(graph.stream_source)
    if graph.firing == "all":
        return np.full(operators, float(batch)), np.full(streams, float(batch))
    ends = graph.stream_source, graph.stream_target
    with np.errstate(over="ignore", invalid="ignore"):
        selectivity = np.nan_to_num(graph.selectivity)  # unknown only where it cannot matter
        tuples = run_down(graph.source_share * float(batch), *ends, selectivity)
        return tuples, tuples[graph.stream_source] * selectivity


def _times_by_kind(
    graph: StreamGraph, cluster: Cluster, tuples: Floats
) -> tuple[Ints, Floats, Ints]:
    """Return the operators' rows in the table of measured times, the table, and devices' kinds.

    The parts are `measured_row`, `measured_s` and `kind` of `TaskGraph`.
    """
    kinds = list(dict.fromkeys(device.kind for device in cluster.devices))
    number = np.array([kinds.index(device.kind) for device in cluster.devices], np.int32)
    rows = np.full(len(graph.names), -1, np.int32)
    table = np.full((len(graph.seconds_on), len(kinds)), np.nan)
    for row, (v, seconds) in enumerate(graph.seconds_on.items()):
        rows[v] = row
        known = graph.has_plain_work(v)
        for k, kind in enumerate(kinds):
            time = None if kind is None else seconds.get(kind)
            if time is not None:
                table[row, k] = time * tuples[v]
            elif not seconds.runs_on(kind, with_instructions=known):
                table[row, k] = np.inf
    return rows, table, number


class CompiledPass:
    """Intermediate results of scheduling; see `compiled.Compiled`."""

    def __init__(self, problem: Problem) -> None:
        self._graph, self._cluster = problem.graph, problem.cluster
        self._objective, self._rules = problem.makespan_objective, problem.feasibility
        self._constraints = problem.constraints
        self._orders: dict[DispatchOrder, Order] = {}

    @cached_property
    def tasks(self) -> TaskGraph:
        """One pass as arrays."""
        return make_tasks(self._graph, self._cluster, self._objective)

    def columns(self) -> Iterator[Any]:
        """Yield the arrays of the pass."""
        yield from self.tasks.columns

    @property
    def work(self) -> Floats:
        """The mean execution time of each operator in seconds, (V,)."""
        return mean_seconds(self.tasks, *self.masks)

    @property
    def mean_times(self) -> tuple[Floats, Floats]:
        """HEFT's mean execution times, (V,), and mean message times, (E,), in seconds."""
        return self.work, mean_messages(self.tasks, *self.masks)

    @cached_property
    def masks(self) -> Masks:
        """The devices that may run each operator."""
        allowed, row_of = self._rules.unit_masks
        return Masks(np.array(allowed, order="C"), row_of[self._rules.unit_of])

    @cached_property
    def rules(self) -> Rules:
        """The constraints, as kernels of list scheduling and search take them."""
        return rules_of(self._rules, self._cluster)

    def order(self, name: DispatchOrder) -> Order:
        """Return an order of operators by its name; ``any`` is none."""
        if name not in self._orders:
            topological = self._graph.order
            self._orders[name] = dispatch_order(self.tasks, self.masks, topological, name)
        return self._orders[name]

    def follow(self, other: "CompiledPass", names: Iterable[DispatchOrder]) -> None:
        """Take orders from the same graph on other devices, where mean times may differ."""
        self._orders |= {name: other.order(name) for name in names}

    @cached_property
    def bounds(self) -> Bounds:
        """Lower bounds on the makespan of every placement without noise, in seconds."""
        return lower_bounds(self.tasks, *self.masks)

    @cached_property
    def together_s(self) -> float:
        """The lower bound by operators that short passes keep on one device, in seconds."""
        return together_bound(self.tasks, *self.masks, self._rules.unit_of, self.bounds.best)

    @cached_property
    def busiest_s(self) -> float:
        """A lower bound on the time that the busiest device or channel needs, in seconds.

        Every pass takes at least as long, without noise. It is the bound on the largest utilisation
        by a stream of one batch per second (`streamplace.sim.exact.bounds`), where messages cost
        nothing but their bytes, and those that wait for nothing (``free``) cost nothing. It is 0 if
        the graph has no such stream, as without a sink that tuples reach.
        """
        batch = Throughput.of(float(self._objective.batch), "bottleneck")
        try:
            flow = make_flow(self._graph, self._cluster, batch)
        except GraphError:
            return 0.0
        instance = make_instance(flow, self._cluster, self._rules)
        if self.tasks.network == FREE or self._objective.inputs_everywhere:
            instance = with_messages(instance, 0.0, 0.0)
        costs = "gap_s", "overhead_s", "overhead_s_per_bit"
        free = {name: np.zeros_like(getattr(instance, name)) for name in costs}
        instance = instance._replace(taxing=False, **free)
        identical = identical_devices(self._cluster, self._constraints)
        bounds = LoadBounds(instance, identical, least_shares(flow).total / instance.reference)
        return bounds.full * instance.reference

    @cached_property
    def fastest(self) -> FastestPaths:
        """Paths with every operator on its fastest device, in seconds."""
        return fastest_paths(self.tasks, *self.masks)

    @cached_property
    def noises(self) -> tuple[Noise, ...]:
        """The factors of each repeated pass; one without factors if there is no noise."""
        aim = self._objective
        if not aim.noise:
            return (Noise(np.zeros(0), np.zeros(0)),)
        sizes = self.tasks.operators, len(self.tasks.source)
        drawn = []
        for repeat in range(aim.repeats):
            rng = np.random.default_rng([aim.seed, repeat])
            drawn.append(Noise(*(rng.uniform(1 - aim.noise, 1 + aim.noise, n) for n in sizes)))
        return tuple(drawn)


def compiled_pass(problem: Problem) -> CompiledPass:
    """Return the intermediate results of a problem under an objective of one pass."""
    return problem.once(CompiledPass)
