"""METIS as a placer: balanced load, little traffic across the cut (Karypis and Kumar 1998)."""

from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import UsageError
from streamplace.placers.partition.base import PartsOption, devices_of_parts, parts_for
from streamplace.placers.partition.pymetis_guard import LARGEST_SUM, partition
from streamplace.placers.repair import feasible
from streamplace.problem.grouping import Grouping, Quotient
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow, rate_of_flow
from streamplace.util.arrays import Floats, Ints
from streamplace.util.suggest import did_you_mean

Weights = Literal["instructions", "utilisation"]

TRAFFIC_UNIT_BITS = 1000.0  # edge weight: Mbit per source tuple, times 1000
UTILISATION_UNIT = 1000.0  # vertex weight: utilisation of a mean device, times 1000
MIN_MEAN = 100.0  # minimum mean vertex weight, so that rounding keeps the proportions
TINY = 1e-200  # dividing by less than this may overflow


@dataclass(frozen=True)
class Metis(PartsOption):
    """K-way partitioning by METIS with its default options.

    Parameters
    ----------
    weights
        Weights of operators: ``instructions`` per source tuple, as published; or ``utilisation`` of
        a mean device, times 1000, which gives better placements on the benchmark.
    """

    weights: Weights = "instructions"
    recursive: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights not in get_args(Weights):
            message = f"metis: weights must be {' or '.join(get_args(Weights))}"
            raise UsageError(message + did_you_mean(str(self.weights), get_args(Weights)))

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement of the parts, repaired where constraints require it."""
        arrays = flow(problem)
        units = Grouping(problem.graph, problem.feasibility.unit_of)
        rate = rate_of_flow(problem)
        quotient = units.quotient(arrays.work / rate, arrays.stream_bits / rate)
        if self.weights == "utilisation":
            unit = rate * UTILISATION_UNIT / arrays.capacity.mean()
            quotient = replace(quotient, load=quotient.load * unit)
        parts = parts_for(problem, self.parts)
        part_of_unit = cut(problem, quotient, parts, recursive=self.recursive)
        part_of = units.expand(part_of_unit).astype(np.int32)
        return feasible(problem, devices_of_parts(problem, part_of, arrays.work))


@dataclass(frozen=True)
class MetisRecursive(Metis):
    """Partitioning by METIS with recursive bisection."""

    recursive: bool = field(default=True, init=False)


def cut(problem: Problem, quotient: Quotient, parts: int, *, recursive: bool) -> Ints:
    """Return the part of each group, (G,), sized by the capacities of the fastest devices."""
    fastest = problem.cluster.fastest_first[:parts]
    shares = problem.cluster.capacity[fastest] / problem.cluster.capacity[fastest].sum()
    part_of = partition(
        quotient.source,
        quotient.target,
        vertex_weights(quotient.load),
        edge_weights(quotient.traffic),
        None if np.ptp(shares) == 0 else shares,
        parts,
        recursive=recursive,
    )
    return part_of.astype(np.int32)


def vertex_weights(load: Floats) -> NDArray[np.int64]:
    """Return integer vertex weights in proportion to `load`, (G,); all 1 if there is no load."""
    if not load.any():
        return np.ones(len(load), dtype=np.int64)
    load = _large_enough(load)
    return _bounded(np.rint(load * max(1.0, MIN_MEAN / load.mean())))


def edge_weights(traffic: Floats) -> NDArray[np.int64]:
    """Return traffic in kbit per source tuple, at least 1; scaled up if all would round to 1."""
    weights = _large_enough(traffic) / TRAFFIC_UNIT_BITS
    largest = weights.max(initial=0.0)
    if 0.0 < largest < 1.0:
        weights = weights * (TRAFFIC_UNIT_BITS / largest)
    return _bounded(np.maximum(1.0, np.rint(weights)))


def _large_enough(weights: Floats) -> Floats:
    """Return the weights, scaled up in proportion if they are too small to divide by."""
    largest = weights.max(initial=0.0)
    if not 0.0 < largest < TINY:
        return weights
    # by a power of two, because old versions of NumPy overflow when dividing by subnormal numbers
    scaled: Floats = np.ldexp(weights, -np.frexp(largest)[1])
    return scaled


def _bounded(weights: Floats) -> NDArray[np.int64]:
    """Return integer weights whose sum METIS can hold; weights of at least 1 stay at least 1."""
    total = weights.sum()
    if total > LARGEST_SUM:
        shrunk = np.floor(weights * (LARGEST_SUM / 2 / total))
        weights = np.maximum(np.minimum(weights, 1.0), shrunk)
    return weights.astype(np.int64)
