"""The throughput of placements, as functions of a problem."""

from math import inf

import numpy as np
from numpy.typing import NDArray

from sim.closed_form.bottleneck import utilisations
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.loads import Bottleneck
from streamplace.scoring.quality import where_scored
from streamplace.scoring.registry import throughput_evaluator
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput_evaluator import bottleneck_at
from streamplace.util.arrays import Floats, Ints


def throughput(problem: Problem, placements: NDArray[np.integer]) -> Floats:
    """Return the throughput of K placements, (K,) tuples/s, under the problem's model.

    Where the problem has several source rates: the lowest relative throughput that a placement has
    at any of them, times the highest.

    Parameters
    ----------
    placements
        (K, V) device indices; (V,) counts as K = 1.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    SimulationError
        If the equations of the model could not be solved, or the engine did not finish.
    """
    return throughput_evaluator(problem).throughput(placements)


def throughput_where_scored(problem: Problem, placements: Ints) -> Floats:
    """Return the throughput of K placements, (K,) tuples/s; -1 for one that has no score."""
    return where_scored(throughput_evaluator(problem).throughput, placements)


def simulate(placement: Placement) -> ThroughputScore:
    """Return what a placement achieves under its problem's objective.

    Where the problem has several source rates: what it achieves at the worst, of equally bad ones
    the highest.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    SimulationError
        If the equations of the model could not be solved, or the engine did not finish.
    """
    return throughput_evaluator(placement.problem).score(placement.devices)


def at_worst_rate(placement: Placement) -> Placement:
    """Return a placement with its problem at the source rate where it does worst, alone.

    Of equally bad ones that is the highest. Errors are those of `throughput`.
    """
    worst = throughput_evaluator(placement.problem).worst_case(placement.devices)
    return placement if worst is placement.problem else Placement(worst, placement.devices)


def busiest(placement: Placement) -> Bottleneck:
    """Return the bottleneck of a placement at the worst rate, by loads at the offered rate."""
    placed = at_worst_rate(placement)
    loads = utilisations(compiled(placed.problem).flow, placed.devices)
    return bottleneck_at(placed.problem, *loads)


def bound(problem: Problem) -> float:
    """Return tuples/s that no placement exceeds, under either closed form: of `throughput`.

    Total CPU, the largest units, crowds of them, and under ``bottleneck`` streams too heavy for any
    link; see `sim.closed_form.bounds`. Of each device and link there is as much as may be used.
    """
    return throughput_evaluator(problem).bound


def ceiling(problem: Problem) -> float:
    """Return tuples/s that no placement exceeds however many are offered: `bound` without its rate.

    Infinite where nothing is ever used. At any source rate the bound is the lower of the two.
    """
    least = throughput_evaluator(problem).least_utilisation
    return problem.source_rate / least if least else inf
