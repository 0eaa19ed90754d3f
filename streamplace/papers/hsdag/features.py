"""Features of vertices, each a group of operators, and the devices offered to each group."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.encoded import SortedBatch
from streamplace.learning.policy.partial import Costs
from streamplace.papers.hsdag.graphs import Graph, graph_of_grouping, relative
from streamplace.papers.hsdag.kernels import Draws, Groups, fractal_dimensions
from streamplace.papers.hsdag.sizes import HsdagFeature, HsdagSizes
from streamplace.problem.grouping import Grouping, feasible_chain_groups
from streamplace.problem.problem import Problem
from streamplace.sim.columns import by_operator
from streamplace.util.arrays import Bools, Floats, Ints

Single = NDArray[np.float32]
BASE = 10_000.0  # of the sinusoidal encoding
BYTES = 20.0  # by which logarithms of bytes are divided: e^20 bytes are half a GB
RANK = 4  # axes of a shape that are distinguished
EXTENT = 10.0  # by which logarithms of sizes of axes are divided: e^10 is 22,026
SUMMARY = 3  # columns that stand for the costs on any number of devices


def features_of(
    problem: Problem, grouping: Grouping, graph: Graph, costs: Costs, sizes: HsdagSizes
) -> Single:
    """Return the features of n vertices, (n, d) float32, scaled to about 0 to 1.

    Parameters
    ----------
    grouping, graph
        The vertices and their graph.
    """
    vertices = _Vertices(problem, grouping, graph, costs, sizes)
    return np.concatenate([MADE[name](vertices) for name in sizes.features], axis=1).astype(
        np.float32
    )


def feature_count(sizes: HsdagSizes) -> int:
    """Return d, the number of features of a vertex."""
    columns: Mapping[HsdagFeature, int] = {
        "type": len(sizes.types) + 1,
        "size": 1,
        "shape": RANK,
        "degree": 2 * sizes.degrees,
        "fractal": 1,
        "position": 1 + sizes.encoding,
        "cost": SUMMARY if sizes.capacity else sizes.devices,
        "stream": 4,
    }
    return sum(columns[name] for name in sizes.features)


@dataclass(frozen=True)
class _Vertices:
    """The vertices whose features are computed; see `features_of`."""

    problem: Problem
    grouping: Grouping
    graph: Graph
    costs: Costs
    sizes: HsdagSizes

    @cached_property
    def last(self) -> Ints:
        """(n,) the last operator of each vertex in topological order."""
        last = np.empty(self.grouping.count, np.int32)
        order = self.problem.graph.order
        last[self.grouping.group_of[order]] = order
        return last

    def sums(self, values: Floats) -> Floats:
        """Return the sums of values of operators, (V, …), over each vertex."""
        made = np.zeros((self.grouping.count, *values.shape[1:]))
        np.add.at(made, self.grouping.group_of, values)
        return made

    def type(self) -> Floats:
        """Return the share of each type among the operators, the last column for all others."""
        number = {name: i for i, name in enumerate(self.sizes.types)}
        types = self.problem.graph.type
        operators, others = len(self.grouping.group_of), len(number)
        column = [number.get(types.get(v, ""), others) for v in range(operators)]
        one_hot = np.eye(others + 1)[column]
        return self.sums(one_hot) / self.sums(np.ones((operators, 1)))

    def size(self) -> Floats:
        """Return the log of the bytes that the last operator emits per tuple."""
        payload = np.nan_to_num(self.problem.graph.payload_bytes[self.last])
        return np.log1p(payload)[:, None] / BYTES

    def shape(self) -> Floats:
        """Return the logs of the sizes of the last operator's output, padded with zeros.

        Of a shape with more axes, the first ones count as one.
        """
        shapes = self.problem.graph.output_shape
        made = np.zeros((len(self.last), RANK))
        for row, operator in zip(made, self.last.tolist(), strict=True):
            axes = shapes.get(operator, ())
            beyond = max(0, len(axes) - RANK + 1)
            kept = (prod(axes[:beyond]), *axes[beyond:]) if beyond > 1 else axes
            row[: len(kept)] = kept
        return np.log1p(made) / EXTENT

    def degree(self) -> Floats:
        """Return in- and out-degrees, each one-hot."""
        arrows = np.unique(self.graph.directed, axis=0)
        table = np.eye(self.sizes.degrees)
        counts = (np.bincount(arrows[:, i], minlength=self.grouping.count) for i in (1, 0))
        return np.concatenate(
            [table[np.minimum(count, self.sizes.degrees - 1)] for count in counts], axis=1
        )

    def fractal(self) -> Floats:
        """Return fractal dimensions."""
        return fractal_dimensions(self.graph.successors)[:, None]

    def position(self) -> Floats:
        """Return the place in the topological order, from 0 to 1, and its sinusoidal encoding."""
        place = np.arange(self.grouping.count)[:, None]
        half = np.arange(self.sizes.encoding // 2)
        angle = place / BASE ** (2 * half / max(1, self.sizes.encoding))
        encoding = np.stack([np.sin(angle), np.cos(angle)], axis=2).reshape(len(place), -1)
        return np.concatenate([place / max(1, len(place) - 1), encoding], axis=1)

    def cost(self) -> Floats:
        """Return the log of the cost on each device, relative to an average operator.

        A policy for any number of devices reads the least, the mean and the largest one.
        """
        scaled = np.log1p(self.sums(self.costs.seconds) / self.costs.unit)
        if not self.sizes.capacity:
            return scaled
        return np.stack([scaled.min(axis=1), scaled.mean(axis=1), scaled.max(axis=1)], axis=1)

    def stream(self) -> Floats:
        """Return logs of utilisation, of traffic in and out, and of the last one's selectivity."""
        graph = self.problem.graph
        used = self.sums(self.costs.mean[:, None]) / self.costs.unit
        sent, received = self._traffic()
        selectivity = np.bincount(
            graph.stream_source, np.nan_to_num(graph.selectivity), len(graph.names)
        )[self.last]
        return np.log1p(np.stack([used[:, 0], received, sent, selectivity], axis=1))

    def _traffic(self) -> tuple[Floats, Floats]:
        """Return what vertices send to others and receive from them, relative to a mean stream."""
        group_of = self.grouping.group_of
        ends = group_of[self.costs.source], group_of[self.costs.target]
        share = np.where(ends[0] != ends[1], relative(self.costs.amount), 0.0)
        sent, received = (
            np.bincount(end, share, self.grouping.count).astype(np.float64) for end in ends
        )
        return sent, received


MADE: Mapping[HsdagFeature, Callable[[_Vertices], Floats]] = {
    "type": _Vertices.type,
    "size": _Vertices.size,
    "shape": _Vertices.shape,
    "degree": _Vertices.degree,
    "fractal": _Vertices.fractal,
    "position": _Vertices.position,
    "cost": _Vertices.cost,
    "stream": _Vertices.stream,
}


@dataclass(frozen=True, eq=False)
class HsdagProblem:
    """A problem as HSDAG reads it: n vertices, each a group of operators that stays together.

    Attributes
    ----------
    grouping
        The vertices.
    graph
        Their graph.
    features
        (n, d) float32 features.
    allowed
        (n, D) the devices that may run all operators of a vertex.
    cost
        (n, D) cost on each device, in units of what an average device has if all work is shared
        evenly.
    message
        Cost of an average stream between two devices, in the same units.
    least
        The number of groups from which on none are joined.
    """

    problem: Problem
    grouping: Grouping
    graph: Graph
    features: Single
    allowed: Bools
    cost: Floats
    message: float
    least: int

    @property
    def size(self) -> int:
        """The number of operators."""
        return len(self.grouping.group_of)


HsdagBatch: TypeAlias = SortedBatch[HsdagProblem]


def encode(problem: Problem, sizes: HsdagSizes) -> HsdagProblem:
    """Return the features of a problem.

    Raises
    ------
    GraphError
        If loads overflow, or no tuple ever reaches a sink.
    """
    costs, feasibility = Costs.of(problem), problem.feasibility
    grouping = feasible_chain_groups(problem, chains=sizes.chains)
    ends = np.stack([costs.source, costs.target], axis=1)
    devices = len(problem.cluster.devices)
    even = float(costs.mean.sum()) / devices
    unit = even if even > 0.0 else 1.0
    weight = np.zeros(grouping.count)
    np.add.at(weight, grouping.group_of, costs.mean / unit)
    graph = graph_of_grouping(grouping, weight, ends, costs.amount)
    shape = (grouping.count, devices)
    cost = np.zeros(shape)
    np.add.at(cost, grouping.group_of, costs.seconds)
    allowed = np.ones(shape, np.bool_)
    np.logical_and.at(allowed, grouping.group_of, feasibility.allowed[feasibility.unit_of])
    # a message without bytes counts as none, as in all results of the study hsdag
    messages = np.where(costs.amount > 0.0, costs.mean_messages, 0.0)
    return HsdagProblem(
        problem=problem,
        grouping=grouping,
        graph=graph,
        features=features_of(problem, grouping, graph, costs, sizes),
        allowed=allowed,
        cost=cost / unit,
        message=float(messages.mean()) / unit if len(messages) else 0.0,
        least=sizes.min_groups or 4 * devices,
    )


@dataclass(frozen=True, eq=False)
class Offer:
    """G groups of the vertices of a problem.

    Attributes
    ----------
    group_of
        (n,) the group of each vertex.
    """

    one: HsdagProblem
    group_of: Ints

    @cached_property
    def count(self) -> int:
        """The number of groups, G."""
        return int(self.group_of.max()) + 1

    @cached_property
    def allowed(self) -> Bools:
        """(G, D) the devices that are offered: those of all members or, without one, of any."""
        shape = (self.count, self.one.allowed.shape[1])
        of_all, of_any = np.ones(shape, np.bool_), np.zeros(shape, np.bool_)
        np.logical_and.at(of_all, self.group_of, self.one.allowed)
        np.logical_or.at(of_any, self.group_of, self.one.allowed)
        offered: Bools = np.where(of_all.any(axis=1, keepdims=True), of_all, of_any)
        return offered

    @cached_property
    def cost(self) -> Floats:
        """(G, D) cost of each group on each device, see `HsdagProblem.cost`."""
        cost = np.zeros((self.count, self.one.cost.shape[1]))
        np.add.at(cost, self.group_of, self.one.cost)
        return cost

    @property
    def groups(self) -> Groups:
        """The groups as the kernel that places them one by one takes them."""
        quotient = self.one.graph.quotient(self.group_of)
        both = np.concatenate([quotient.ends, quotient.ends[:, ::-1]])
        first, order = by_operator(both[:, 0], self.count)
        with np.errstate(over="ignore", invalid="ignore"):  # where messages are all the cost
            message = np.concatenate([quotient.traffic, quotient.traffic]) * self.one.message
        message = np.nan_to_num(message)  # groups without traffic send no message
        heaviest = np.argsort(-self.cost.mean(axis=1), kind="stable")
        return Groups(
            heaviest.astype(np.int32),
            self.cost,
            self.allowed,
            first,
            np.ascontiguousarray(both[order, 1], np.int32),
            message[order],
        )

    @cached_property
    def first_operators(self) -> Ints:
        """(G,) the first operator of each group."""
        group_of = self.group_of[self.one.grouping.group_of]
        return np.unique(group_of, return_index=True)[1].astype(np.int32)

    def expanded(self, of_groups: Ints) -> Ints:
        """Return the device of each operator, (V,), from those of the groups, (G,)."""
        return of_groups[self.group_of[self.one.grouping.group_of]].astype(np.int32)


def random_numbers(offers: Sequence[Offer], samples: int, sampler: Sampler) -> list[Draws]:
    """Return the random numbers of a step, for the offers of S samples of each problem."""
    greedy = sampler.greedy or sampler.generator is None
    made = []
    for first in range(0, len(offers), samples):
        part = offers[first : first + samples]
        groups, devices = max(offer.count for offer in part), part[0].allowed.shape[1]
        noise, explores = (each.numpy() for each in sampler.ahead(samples, groups, devices))
        made += [
            Draws(noise[s, : o.count], explores[s, : o.count], float(sampler.temperature), greedy)
            for s, o in enumerate(part)
        ]
    return made


def pad_devices(values: np.ndarray, devices: int) -> np.ndarray:
    """Return values of groups and devices, (G, D, …), with zeros for further devices."""
    if values.shape[1] in (0, devices):
        return values
    widths = [(0, 0), (0, devices - values.shape[1]), *[(0, 0)] * (values.ndim - 2)]
    return np.pad(values, widths)
