"""METIS as a placer: balance the load of the parts, cut little traffic (Karypis and Kumar 1998)."""

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
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats, Ints
from streamplace.util.suggest import did_you_mean

Weights = Literal["instructions", "utilisation"]

TRAFFIC_UNIT_BITS = 1000.0  # edge weight: Mbit per source tuple, times 1000
UTILISATION_UNIT = 1000.0
LEAST_MEAN = 100.0  # finer vertex weights than this would be lost in rounding
TINY = 1e-200  # what is divided by less may overflow


@dataclass(frozen=True)
class Metis(PartsOption):
    """K-way partitioning by METIS with its default options.

    Parameters
    ----------
    weights
        Of operators: ``instructions`` per source tuple, as published; or ``utilisation`` of a mean
        device, times 1000, which on the benchmark gives better placements.
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
        """Return the placement of the parts, repaired where constraints ask for it."""
        arrays = flow(problem)
        units = Grouping(problem.graph, problem.feasibility.unit_of)
        quotient = units.quotient(
            arrays.work / problem.source_rate, arrays.stream_bits / problem.source_rate
        )
        if self.weights == "utilisation":
            unit = problem.source_rate * UTILISATION_UNIT / arrays.capacity.mean()
            quotient = replace(quotient, load=quotient.load * unit)
        parts = parts_for(problem, self.parts)
        part_of_unit = cut(problem, quotient, parts, recursive=self.recursive)
        part_of = units.expand(part_of_unit).astype(np.int32)
        return feasible(problem, devices_of_parts(problem, part_of, arrays.work))


@dataclass(frozen=True)
class MetisRecursive(Metis):
    """The same by recursive bisection."""

    recursive: bool = field(default=True, init=False)


def cut(problem: Problem, quotient: Quotient, parts: int, *, recursive: bool) -> Ints:
    """Return the part of each group, (G,); parts get what the fastest devices hold, in order."""
    fastest = problem.cluster.fastest_first[:parts]
    shares = problem.cluster.capacity[fastest] / problem.cluster.capacity[fastest].sum()
    found = partition(
        quotient.source,
        quotient.target,
        vertex_weights(quotient.load),
        edge_weights(quotient.traffic),
        None if np.ptp(shares) == 0 else shares,
        parts,
        recursive=recursive,
    )
    return found.astype(np.int32)


def vertex_weights(load: Floats) -> NDArray[np.int64]:
    if not load.any():
        return np.ones(len(load), dtype=np.int64)
    load = _of_some_size(load)
    return _bounded(np.rint(load * max(1.0, LEAST_MEAN / load.mean())))


def edge_weights(traffic: Floats) -> NDArray[np.int64]:
    """Return kbit per source tuple, at least 1; scaled up where all would round to that."""
    weights = _of_some_size(traffic) / TRAFFIC_UNIT_BITS
    largest = weights.max(initial=0.0)
    if 0.0 < largest < 1.0:
        weights = weights * (TRAFFIC_UNIT_BITS / largest)
    return _bounded(np.maximum(1.0, np.rint(weights)))


def _of_some_size(weights: Floats) -> Floats:
    """Return weights as they are, or in proportion where they are too small to divide by."""
    largest = weights.max(initial=0.0)
    if not 0.0 < largest < TINY:
        return weights
    # by a power of two: vectors of old versions of numpy overflow in dividing by next to nothing
    scaled: Floats = np.ldexp(weights, -np.frexp(largest)[1])
    return scaled


def _bounded(weights: Floats) -> NDArray[np.int64]:
    """Return integer weights whose sum METIS can hold; those of 1 and more stay so."""
    total = weights.sum()
    if total > LARGEST_SUM:
        shrunk = np.floor(weights * (LARGEST_SUM / 2 / total))
        weights = np.maximum(np.minimum(weights, 1.0), shrunk)
    return weights.astype(np.int64)
