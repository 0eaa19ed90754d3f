"""The placers that partition units by METIS."""

from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from streamplace.errors import UsageError
from streamplace.placers.partition.cut import WeightedGraph, cut, published_weights
from streamplace.placers.partition.partitioner import Partitioner
from streamplace.problem.grouping import Grouping
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow, rate_of_flow
from streamplace.util.arrays import Ints
from streamplace.util.suggest import did_you_mean

UTILISATION_UNIT = 1000.0  # vertex weight: METIS takes integers, so thousandths of a mean device
LEAST_IMBALANCE, MOST_IMBALANCE = 0.001, 1000.0  # METIS counts thousandths, from one on
Weights = Literal["instructions", "utilisation"]


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
        units, graph = problem.once(_UNITS[self.weights])
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
    return units, published_weights(replace(quotient, load=quotient.load * unit))


_UNITS = {"instructions": units_by_instructions, "utilisation": units_by_utilisation}


@dataclass(frozen=True)
class MetisRecursive(Metis):
    """Partitioning by METIS with recursive bisection."""

    name: ClassVar[str] = "metis-recursive"
    recursive: bool = field(default=True, init=False)
