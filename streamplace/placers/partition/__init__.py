"""Partitioners as placers: parts of the graph, and the devices that they go to.

`fuse` follows the published source of OSStreams, ``com/ibm/streams/sch/composer/IEUComposer`` with
its fusing rules: one deterministic pass that balances the *number* of operators over processing
elements (PEs) and counts *connections*, not bytes.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import UsageError
from streamplace.placers.base import BasePlacer, run_placers
from streamplace.placers.partition.metis import WeightedGraph, cut, weighted
from streamplace.placers.repair import feasible
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.grouping import Grouping
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow, rate_of_flow
from streamplace.scoring.registry import qualities
from streamplace.util.arrays import Floats, Ints
from streamplace.util.suggest import did_you_mean

FUSER_SLOW_FROM = 5_000  # operators from which the fuser takes minutes
UTILISATION_UNIT = 1000.0  # vertex weight: utilisation of a mean device, times 1000
LEAST_IMBALANCE, MOST_IMBALANCE = 0.001, 1000.0  # METIS counts thousandths, from one on
IMBALANCES = (0.01, 0.03, 0.1, 0.3, 1.0)  # of the sweep; METIS's defaults are .03 and .001
ALL_PARTS = 8  # numbers of parts up to here are all tried by the sweep, larger ones by a factor
Weights = Literal["instructions", "utilisation"]


def fuse(graph: StreamGraph, constraints: Constraints, parts: int) -> NDArray[np.int32]:
    """Return the PE, 0..parts-1, of each operator, (V,).

    PEs grow one at a time along *chains*: a chain starts with the most prominent operator left,
    in the smallest PE, and continues with operators connected to that PE until it is full.
    """
    pes = _Pes(graph, constraints, parts)
    left = list(range(len(graph.names)))
    current, chaining = 0, False
    while left:
        if len(left) <= parts and not all(pes.size):
            chaining = False
        if chaining:
            left.sort(key=pes.connections[current].__getitem__)
            taken = pes.first_allowed(left, current, connected=True)
            if taken is None:
                chaining = False
                continue
        else:
            current = pes.smallest()
            left.sort(key=pes.prominence[current].__getitem__)
            taken = pes.first_allowed(left, current)
            if taken is None:
                pes.closed.add(current)
                if len(pes.closed) == parts:  # no PE accepts the rest: the repair places it
                    break
                continue
        full = pes.take(taken, current)
        left.remove(taken)
        chaining = not full
    return pes.part_of


class _Pes:
    """PEs being filled: sizes, members, and the orders in which operators may join each.

    An order is a list of integers, one per operator, that stand for tuples: a sort by them takes a
    third of the time.

    Attributes
    ----------
    connections
        For each PE, the order that continues a chain: most streams from the PE, then to it.
    prominence
        For each PE, the order that opens a chain: sources, sinks, the largest colocated group, most
        streams to and from the PE, most streams.
    """

    def __init__(self, graph: StreamGraph, constraints: Constraints, parts: int) -> None:
        count = len(graph.names)
        self.part_of = np.zeros(count, dtype=np.int32)
        self.size = [0] * parts
        self.full: set[int] = set()
        self._members = count  # of the PEs that are not full, with all operators left
        self.closed: set[int] = set()
        self._after: list[list[int]] = [[] for _ in range(count)]
        self._before: list[list[int]] = [[] for _ in range(count)]
        for a, b in zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True):
            self._after[a].append(b)
            self._before[b].append(a)
        self._rules = _Rules(graph, constraints)
        self._more = len(graph.stream_source) + 1  # than an operator has streams
        prominence = [self._own_prominence(v) for v in range(count)]
        self.prominence = [prominence.copy() for _ in range(parts)]
        self.connections = [[0] * count for _ in range(parts)]

    def _own_prominence(self, v: int) -> int:
        """Return the number of an operator that no stream joins to a PE."""
        before, after = self._before[v], self._after[v]
        kind = 2 * bool(before) + bool(after)
        rank = kind * (len(self._before) + 1) - self._rules.group_size[v]
        return rank * self._more**2 - len(before) - len(after)

    def smallest(self) -> int:
        """Return the open PE with the fewest operators, the first one on a tie."""
        return min(
            (c for c in range(len(self.size)) if c not in self.closed), key=self.size.__getitem__
        )

    def first_allowed(self, left: list[int], pe: int, *, connected: bool = False) -> int | None:
        """Return the first operator that may join a PE, or None."""
        connections = self.connections[pe]
        for v in left:
            if connected and not connections[v]:
                continue
            if self._rules.allow(v, pe):
                return v
        return None

    def take(self, v: int, pe: int) -> bool:
        """Put an operator into a PE and return whether the PE is now full."""
        self.part_of[v] = pe
        self.size[pe] += 1
        self._rules.note(v, pe)
        connections, prominence = self.connections[pe], self.prominence[pe]
        for b in self._after[v]:
            connections[b] -= self._more
            prominence[b] -= self._more
        for a in self._before[v]:
            connections[a] -= 1
            prominence[a] -= self._more
        if pe in self.full:
            self._members -= 1
        elif self.size[pe] >= -(-self._members // (len(self.size) - len(self.full))):
            self.full.add(pe)
            self._members -= self.size[pe]
        return pe in self.full


class _Rules:
    """Colocation and exlocation constraints while PEs fill."""

    def __init__(self, graph: StreamGraph, constraints: Constraints) -> None:
        self.group_size = [1] * len(graph.names)
        self._together = [[graph.index[o] for o in group] for group in constraints.colocate]
        apart = (*constraints.exlocate, *constraints.apart_groups)
        self._apart = [[graph.index[o] for o in group] for group in apart]
        self._bound: dict[int, int] = {}
        self._barred: set[tuple[int, int]] = set()
        for group in self._together:
            for v in group:
                self.group_size[v] = max(self.group_size[v], len(group))

    def allow(self, v: int, pe: int) -> bool:
        """Return whether an operator may join a PE."""
        return self._bound.get(v, pe) == pe and (v, pe) not in self._barred

    def note(self, v: int, pe: int) -> None:
        """Record that an operator joined a PE, which other operators must now join or avoid."""
        for group in self._together:
            if v in group:
                self._bound.update(dict.fromkeys(group, pe))
        for group in self._apart:
            if v in group:
                self._barred.update((other, pe) for other in group)


@dataclass(frozen=True)
class Partitioner(BasePlacer):
    """A placer that cuts the graph into parts, each of which goes to a device.

    Parameters
    ----------
    parts
        Number of parts; default: the number of devices.
    """

    parts: int | None = None

    def __post_init__(self) -> None:
        if self.parts is not None and self.parts < 1:
            raise UsageError(f"parts must be at least 1 (got {self.parts})")

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement of the parts, repaired where constraints require it."""
        part_of = self.part_of(problem, parts_for(problem, self.parts))
        return feasible(problem, devices_of_parts(problem, part_of, flow(problem).work))

    @abstractmethod
    def part_of(self, problem: Problem, parts: int) -> Ints:
        """Return the part, 0..parts-1, of each operator, (V,)."""

    def with_parts(self, parts: int) -> Self:
        """Return the same placer with another number of parts."""
        return replace(self, parts=parts)


def parts_for(problem: Problem, parts: int | None) -> int:
    """Return the number of parts to make: at most one per device and one per unit."""
    requested = len(problem.cluster.devices) if parts is None else parts
    return min(requested, len(problem.cluster.devices), problem.feasibility.unit_count)


def devices_of_parts(problem: Problem, part_of: Ints, load: Floats) -> Ints:
    """Return the device of each operator, (V,): heavier parts go to faster devices.

    Parameters
    ----------
    part_of
        (V,) part of each operator.
    load
        (V,) weight of each operator, in any unit.
    """
    devices = problem.cluster.fastest_first
    weight = np.bincount(part_of, weights=load, minlength=len(devices))
    device_of_part = np.empty(len(devices), dtype=np.int32)
    device_of_part[np.argsort(-weight, kind="stable")] = devices
    return device_of_part[part_of]


@dataclass(frozen=True)
class Metis(Partitioner):
    """K-way partitioning by METIS.

    Parameters
    ----------
    weights
        Weights of operators: ``instructions`` per source tuple, as published; or ``utilisation`` of
        a mean device, times 1000, which gives better placements on the benchmark.
    imbalance
        How far the weight of a part may exceed its share, as a part of it, 0.001 to 1000. Default:
        METIS's own, 0.03 for k-way partitions and 0.001 for recursive bisection.
    """

    name: ClassVar[str] = "metis"
    weights: Weights = "instructions"
    imbalance: float | None = None
    recursive: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights not in get_args(Weights):
            message = f"weights must be {' or '.join(get_args(Weights))}"
            raise UsageError(message + did_you_mean(str(self.weights), get_args(Weights)))
        if self.imbalance is not None and not LEAST_IMBALANCE <= self.imbalance <= MOST_IMBALANCE:
            limits = f"{LEAST_IMBALANCE:g} to {MOST_IMBALANCE:g}"
            raise UsageError(f"imbalance must be {limits} (got {self.imbalance:g})")

    def part_of(self, problem: Problem, parts: int) -> Ints:
        """Return the part of each operator, (V,), which is that of its unit."""
        units, graph = problem.compiled(_UNITS[self.weights])
        part_of_unit = cut(
            problem, graph, parts, recursive=self.recursive, imbalance=self.imbalance
        )
        return units.expand(part_of_unit).astype(np.int32, copy=False)


def units_by_instructions(problem: Problem) -> tuple[Grouping, WeightedGraph]:
    """Return the units, and their graph with instructions and traffic per source tuple."""
    return _units(problem, 1.0)


def units_by_utilisation(problem: Problem) -> tuple[Grouping, WeightedGraph]:
    """Return the units, and their graph with utilisations of a mean device, times 1000."""
    unit = rate_of_flow(problem) * UTILISATION_UNIT / flow(problem).capacity.mean()
    return _units(problem, unit)


def _units(problem: Problem, unit: float) -> tuple[Grouping, WeightedGraph]:
    """Return the units, and their graph with instructions per source tuple times `unit`."""
    arrays, rate = flow(problem), rate_of_flow(problem)
    units = Grouping(problem.graph, problem.feasibility.unit_of)
    quotient = units.quotient(arrays.work / rate, arrays.stream_bits / rate)
    return units, weighted(replace(quotient, load=quotient.load * unit))


_UNITS = {"instructions": units_by_instructions, "utilisation": units_by_utilisation}


@dataclass(frozen=True)
class MetisRecursive(Metis):
    """Partitioning by METIS with recursive bisection."""

    name: ClassVar[str] = "metis-recursive"
    recursive: bool = field(default=True, init=False)


@dataclass(frozen=True)
class Fuser(Partitioner):
    """Fuse operators into PEs as IBM Streams does for a target number of PEs."""

    name: ClassVar[str] = "fuser"

    @property
    def slow_from(self) -> int:
        """The number of operators from which it takes minutes."""
        return FUSER_SLOW_FROM

    def part_of(self, problem: Problem, parts: int) -> Ints:
        """Return the PE of each operator, (V,)."""
        return fuse(problem.graph, problem.constraints, parts)


@dataclass(frozen=True)
class Oracle(BasePlacer):
    """Run a partitioner for 2 … D parts (D devices) and keep the best; ties go to fewer parts."""

    name: ClassVar[str] = "oracle"
    partitioner: Partitioner

    @property
    def slow_from(self) -> int | None:
        """The number of operators from which the partitioner takes minutes."""
        return self.partitioner.slow_from

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement, or raise the partitioner's last error if it found none."""
        max_parts = parts_for(problem, None)
        numbers = range(min(2, max_parts), max_parts + 1)
        tries = [self.partitioner.with_parts(parts) for parts in numbers]
        return _best_of(tries, problem, rng, start)


@dataclass(frozen=True)
class MetisSweep(BasePlacer):
    """Run METIS with many settings and keep the best; ties go to fewer parts.

    The settings are every imbalance of `IMBALANCES`, k-way partitioning and recursive bisection,
    and 2 … D parts (D devices). Where there are many devices, numbers of parts grow by a factor, so
    that their number grows with the logarithm of D only.

    Parameters
    ----------
    weights
        Weights of operators, see `Metis`.
    """

    name: ClassVar[str] = "metis-sweep"
    weights: Weights = "instructions"

    def __post_init__(self) -> None:
        Metis(weights=self.weights)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement, or raise METIS's last error if it found none."""
        tries = [
            variant(parts, self.weights, imbalance)
            for parts in _ladder(parts_for(problem, None))
            for variant in (Metis, MetisRecursive)
            for imbalance in IMBALANCES
        ]
        return _best_of(tries, problem, rng, start)


def _ladder(most: int) -> list[int]:
    """Return 2, 3, … up to `ALL_PARTS`, then numbers that grow by half, and `most` itself."""
    numbers = list(range(min(2, most), min(most, ALL_PARTS) + 1))
    while numbers[-1] < most:
        numbers.append(min(most, numbers[-1] * 3 // 2))
    return numbers


def _best_of(
    tries: Sequence[Partitioner],
    problem: Problem,
    rng: np.random.Generator,
    start: Placement | None,
) -> Placement:
    """Return the best of the placements by some partitioners, the first one on a tie."""
    placements = run_placers(tries, problem, rng, start)
    return placements[int(qualities(problem, placements).argmax())]
